"""What the API's schema says of webhooks: those that come from data services, and those that Remit
sends. Both are signed as Standard Webhooks have it."""

from collections.abc import Mapping
from typing import Any

from config.rest.operations import ID
from integrations.contracts.events import WebhookEvent

SIGNED = [
    {"name": name, "in": "header", "required": True, "schema": {"type": "string"}}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
]
_ITEM = {
    "id": "msg_1",
    "thread_id": "thread_1",
    "from": "ada@example.org",
    "from_name": "Ada",
    "to": ["maya@example.com"],
    "subject": "Lunch on Friday",
    "body_text": "At noon?",
    "labels": ["INBOX"],
    "received_at": "2026-11-26T09:00:00Z",
}
_ABOUT = {"user_id": "maya", "source": "gmail", "source_id": "msg_1"}
_WHEN = {"timestamp": "2026-11-26T09:00:00Z"}
# By what happened to an item: the fields of the body, and an example of each.
RECEIVED: dict[str, dict[str, Any]] = {
    "created": {**_ABOUT, "content_type": "email", "data": _ITEM, **_WHEN},
    "updated": {
        **_ABOUT,
        "content_type": "email",
        "changes": {"labels": []},
        "full_data": _ITEM | {"labels": []},
        **_WHEN,
    },
    "deleted": {**_ABOUT, **_WHEN},
}
TAKEN = {
    "type": "object",
    "properties": {
        "status": {"enum": ["accepted", "duplicate"], "type": "string"},
        "source_id": {"type": "string"},
        "delivery_id": {"type": "string", "format": "uuid"},
    },
    "required": ["status", "source_id", "delivery_id"],
}
_COUNTS = ("received", "processed", "skipped", "failed")
# By type: how it is called, when it is sent, and an example of its data.
SENT: dict[str, tuple[str, str, dict[str, Any]]] = {
    "sync.finished": (
        "A sync ended",
        "Sent to the address in SYNC_CALLBACKS when a whole sync has ended in any way, again for "
        "a day until the answer is a 2xx. docs/knowledge.md says more.",
        {
            "id": ID,
            "user_id": "maya",
            "state": "done",
            "sources": [{"source": "gmail", "state": "done", **dict.fromkeys(_COUNTS, 0)}],
        },
    ),
    "ledger.checkpoint": (
        "The ledger was sealed",
        "Sent to who receives checkpoints, to be kept: it shows a ledger that was rewritten or set "
        "back. docs/ledger.md says more.",
        {
            "organisation": ID,
            "size": 2,
            "note": "remit.example/ledger\n2\n…",
            "verifier_key": "remit.example/ledger+17e8ca4c+…",
            "rotations": ["remit.example/ledger\n…"],
        },
    ),
}


def received(refused: Mapping[str, Any]) -> dict[str, Any]:
    """What a data service reports, by path; `refused` are the answers to what is not taken."""
    return {
        f"/webhooks/item-{kind}": {
            "post": {
                "operationId": f"webhook_{kind}",
                "summary": f"An item was {kind}",
                "description": "Signed as Standard Webhooks have it. 202 once it is stored; the "
                "same webhook-id again changes nothing. docs/data-service.md has the contract.",
                "tags": ["Webhooks"],
                "security": [],
                "parameters": SIGNED,
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {"schema": _event_of(kind), "example": example}
                    },
                },
                "responses": {
                    "202": {
                        "description": "It is stored.",
                        "content": {
                            "application/json": {
                                "schema": TAKEN,
                                "example": {
                                    "status": "accepted",
                                    "source_id": example["source_id"],
                                    "delivery_id": ID,
                                },
                            }
                        },
                    },
                    **refused,
                },
            }
        }
        for kind, example in RECEIVED.items()
    }


def _event_of(kind: str) -> dict[str, Any]:
    """The body of one kind: the path says which, and a deletion has no item."""
    whole = WebhookEvent.model_json_schema()
    fields = {
        name: whole["properties"][name] for name in RECEIVED[kind] if name in whole["properties"]
    }
    item = next((name for name in ("data", "full_data") if name in RECEIVED[kind]), None)
    if item:
        fields[item] = {"type": "object", "description": "The whole item."}
    needed = {*whole["required"], *([item] if item else ())}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": fields,
        "required": [name for name in RECEIVED[kind] if name in needed],
    }


def sent() -> dict[str, Any]:
    """What Remit sends, by type."""
    return {
        kind: {
            "post": {
                "operationId": f"sent_{kind.replace('.', '_')}",
                "summary": summary,
                "description": f"{description} The same webhook-id again is the same message.",
                "tags": ["Webhooks"],
                "security": [],
                "parameters": SIGNED,
                "requestBody": {
                    "required": True,
                    "content": {"application/json": _message(kind, example)},
                },
                "responses": {"2XX": {"description": "It was taken."}},
            }
        }
        for kind, (summary, description, example) in SENT.items()
    }


def _message(kind: str, example: Mapping[str, Any]) -> dict[str, Any]:
    said = {"type": kind, **_WHEN, "data": example}
    schema = _like(said)
    schema["properties"]["type"] = {"const": kind}
    schema["properties"]["timestamp"] = {"type": "string", "format": "date-time"}
    return {"schema": schema, "example": said}


def _like(value: object) -> dict[str, Any]:
    """The shape of an example: all of its fields, and no others."""
    match value:
        case dict():
            return {
                "type": "object",
                "additionalProperties": False,
                "properties": {name: _like(one) for name, one in value.items()},
                "required": [*value],
            }
        case list():
            return {"type": "array", "items": _like(value[0]) if value else {}}
        case int():
            return {"type": "integer"}
        case _:
            return {"type": "string"}
