"""What every operation of the API may answer besides its own, said once for all of them."""

from typing import Any

ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string", "description": "A sentence for people."},
                "fields": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        }
    },
}
AGAIN = {"Retry-After": {"schema": {"type": "integer"}, "description": "In seconds."}}
REFUSED = {
    "4XX": "The request is refused, and says why; nothing was done.",
    "429": "Too many requests; come again.",
    "503": "It cannot be done now; come again.",
}


def add_refusals(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """A hook of drf-spectacular: each operation also answers as `config.rest.errors` has it."""
    result.setdefault("components", {}).setdefault("schemas", {})["Error"] = ERROR
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    for path in result["paths"].values():
        for operation in path.values():
            for status, sentence in REFUSED.items():
                answer: dict[str, Any] = {"description": sentence, "content": content}
                if status != "4XX":
                    answer["headers"] = AGAIN
                operation["responses"].setdefault(status, answer)
    return result
