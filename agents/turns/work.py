"""What went into answers, as the API shows it: calls of tools, and their results as messages."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from agents.answer import links
from agents.context import results
from agents.journal import whom
from agents.models import Message, Step, ToolCall, Turn


def load_work(turn_ids: Collection[UUID]) -> dict[UUID, dict[str, Any]]:
    """What went into the answers of these turns. Three queries, whatever the amount."""
    calls: dict[UUID, list[dict[str, Any]]] = {}
    for call in _calls(turn_ids):
        calls.setdefault(call.turn_id, []).append(_describe(call))
    own = Step.objects.filter(turn_id__in=turn_ids, parent_call=None).order_by("number")
    own = own.exclude(model=whom.ASKED_BY)
    models = dict(own.values_list("turn_id", "model"))  # the last one answered
    return {
        turn.id: {
            "tool_calls": calls.get(turn.id, []),
            "token_count": turn.prompt_tokens + turn.completion_tokens,
            "model": models.get(turn.id, ""),
        }
        for turn in Turn.objects.filter(id__in=turn_ids).only("prompt_tokens", "completion_tokens")
    }


def with_tool_messages(messages: Iterable[Message]) -> list[Message]:
    """The messages with a message of the role `tool` for each call between them, under the
    call's id; none of these is stored. One query."""
    said = [*messages]
    calls = _calls({message.turn_id for message in said}).filter(result__isnull=False)
    return sorted([*said, *map(_to_message, calls)], key=lambda one: one.created_at)


def _calls(turn_ids: Collection[UUID]) -> QuerySet[ToolCall]:
    return ToolCall.objects.filter(turn_id__in=turn_ids).order_by("step_id", "position")


def _describe(call: ToolCall) -> dict[str, Any]:
    done = call.result.get("success", False) if call.result is not None else None
    return {
        "id": str(call.id),
        "name": call.name,
        "arguments": links.deaden(call.arguments),
        "success": done,
    }


def _to_message(call: ToolCall) -> Message:
    result = links.deaden_all(call.result or {})
    return Message(
        id=call.id,
        turn_id=call.turn_id,
        role=Message.Role.TOOL,
        content=results.render_result(result),
        created_at=call.finished_at or call.created_at,
    )
