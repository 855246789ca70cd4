"""What the schema of the API says of every operation besides its shape: a summary, a group, an
example, all errors, and the idempotency key."""

from typing import Any

from config.rest import webhooks
from config.rest.operations import BODIES, ID, SUMMARIES
from integrations.web.problems import MEDIA_TYPE, PROBLEMS, problem

SETTINGS = {
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.rest.schema.complete",
    ],
    # Fields of the same name with other choices need names of their own.
    "ENUM_NAME_OVERRIDES": {"WordEnum": ["confirm", "reject"]},
    "TITLE": "Remit",
    "DESCRIPTION": "Chat, sync, approvals and the audit ledger of Remit.",
    "VERSION": "1.0",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    # A link within the button that opens an operation is one thing too many to reach by keyboard.
    "SWAGGER_UI_SETTINGS": {"deepLinking": False},
}
# By the first part of the path behind the version.
GROUPS = {
    "chat": "Chat",
    "tasks": "Chat",
    "turns": "Chat",
    "conversations": "Chat",
    "status": "Chat",
    "days": "Chat",
    "drafts": "Chat",
    "past-runs": "Past mail",
    "patterns": "Learning",
    "skills": "Learning",
    "deliveries": "Webhooks",
    "approvals": "Decisions",
    "suggestions": "Decisions",
    "questions": "Decisions",
    "change-requests": "Decisions",
    "held-sends": "Decisions",
    "actions": "Decisions",
    "policy": "Policy",
    "accounts": "Accounts",
    "preferences": "Accounts",
    "search": "Knowledge",
    "sync": "Knowledge",
    "usage": "Usage",
    "ledger": "Ledger",
}
TAGS = [
    {"name": "Chat", "description": "Say something, follow the turn, read what was said."},
    {"name": "Decisions", "description": "What waits for a person, and what a person takes back."},
    {"name": "Policy", "description": "What may be done, and what would be decided."},
    {
        "name": "Learning",
        "description": "Patterns that act without a model, and skills that agents load.",
    },
    {"name": "Accounts", "description": "Users' accounts and what they say of themselves."},
    {
        "name": "Past mail",
        "description": "What would be done with it, and doing it.",
    },
    {"name": "Knowledge", "description": "What was read, and reading it in."},
    {"name": "Usage", "description": "What models cost."},
    {"name": "Ledger", "description": "What was done and refused, with proofs."},
    {
        "name": "Webhooks",
        "description": "What data services report, what became of it, and what Remit reports.",
    },
]
PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string", "description": "What the code means."},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "A sentence for people."},
        "code": {"type": "string", "description": "Stays the same from release to release."},
        "fields": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "What is wrong with single values, by their path.",
        },
        "error": {"type": "object", "deprecated": True, "description": "As before RFC 9457."},
    },
}
AGAIN = {"Retry-After": {"schema": {"type": "integer"}, "description": "In seconds."}}
EVERY = (400, 401, 403, 404, 405, 406, 408, 429, 500, 503)
WITH_BODY = (409, 413, 415, 422)
SENTENCES = {
    400: "The request is not valid.",
    401: "Nobody known asks.",
    403: "The caller may not.",
    404: "There is no such thing for this caller.",
    405: "The address does not know that method.",
    406: "The answer has no form that is asked for.",
    408: "The request did not come whole in time.",
    409: "It does not fit what happened before.",
    413: "The body is too large.",
    415: "The body is not application/json.",
    422: "It was understood and cannot be done.",
    429: "Too many requests; come again.",
    500: "Something broke in Remit.",
    503: "It cannot be done now; come again.",
}
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
    "description": "The same key again gives the first answer again, for a day: nothing is done "
    "twice. A key is bound to its caller, its address and its body.",
}


def complete(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """A hook of drf-spectacular."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    result["tags"] = TAGS
    for path, methods in result["paths"].items():
        for method, operation in methods.items():
            _complete(path, method, operation)
    refused = _refusals(*EVERY, 413)
    result["paths"] |= {"/api/v1/turns/{turn_id}/events": _events(), **webhooks.received(refused)}
    result["webhooks"] = webhooks.sent()
    return result


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    operation.setdefault("summary", SUMMARIES.get(operation["operationId"], ""))
    operation["tags"] = [GROUPS[path.split("/")[3]]]
    if method == "post":
        operation.setdefault("parameters", []).append(KEY)
    body = operation.get("requestBody")
    if body:
        body["content"]["application/json"]["example"] = BODIES[operation["operationId"]]
    is_change = method != "get" or "ledger" in path
    for status in (*EVERY, *(WITH_BODY if is_change else ())):
        operation["responses"].setdefault(str(status), _refusal(status))


def _refusal(status: int) -> dict[str, Any]:
    codes = sorted(code for code, (one, _) in PROBLEMS.items() if one == status)
    example = problem(status, codes[0], SENTENCES[status]) if codes else None
    answer: dict[str, Any] = {
        "description": f"{SENTENCES[status]} Codes: {', '.join(f'`{code}`' for code in codes)}.",
        "content": {
            MEDIA_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                **({"example": example} if example else {}),
            }
        },
    }
    return answer | ({"headers": AGAIN} if status in (429, 503) else {})


def _refusals(*statuses: int) -> dict[str, Any]:
    return {str(status): _refusal(status) for status in statuses}


def _events() -> dict[str, Any]:
    """The stream stands in front of Django, where nothing describes it by itself."""
    return {
        "get": {
            "operationId": "turn_events",
            "summary": "Follow a turn as server-sent events",
            "description": "The address comes from `stream_url` of chat/stream; its token holds "
            "for an hour. Each event has an id, a type and JSON: go on after the last one with "
            "`Last-Event-ID`. `turn.finished` is the last and carries the whole answer.",
            "tags": ["Chat"],
            "security": [],
            "parameters": [
                {
                    "name": "turn_id",
                    "in": "path",
                    "required": True,
                    "schema": {"type": "string", "format": "uuid"},
                    "example": ID,
                },
                {"name": "token", "in": "query", "required": True, "schema": {"type": "string"}},
                {"name": "Last-Event-ID", "in": "header", "schema": {"type": "integer"}},
            ],
            "responses": {
                "200": {
                    "description": "Events until the turn ends.",
                    "content": {"text/event-stream": {"schema": {"type": "string"}}},
                },
                **_refusals(*EVERY),
            },
        }
    }
