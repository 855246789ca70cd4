"""What every operation of the API may answer besides its own, said once for all of them."""

from typing import Any

SETTINGS = {
    # Fields of the same name with other choices need names of their own.
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.rest.schema.add_refusals",
    ],
    "ENUM_NAME_OVERRIDES": {"WordEnum": ["confirm", "reject"]},
    "TITLE": "Remit",
    "DESCRIPTION": "Chat, sync, approvals and the audit ledger of Remit.",
    "VERSION": "1.0",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}
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
