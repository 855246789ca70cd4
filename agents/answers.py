"""What the API says of a chat turn, read from its rows."""

from typing import Any
from uuid import UUID

from agents.models import Message, Turn
from agents.steps import ASK_USER
from agents.turns import clarification
from guardrails import selectors
from guardrails.contracts import ApprovalCard

CONTEXT_SHOWN = 5
DONE = frozenset({"succeeded", "noop"})
COMPLETED = (
    *("id", "action_id", "type", "description", "params"),
    *("status", "sentence", "result", "artifacts"),
)


def answer(turn_id: UUID) -> dict[str, Any]:
    """The chat response of one turn (seed I 7.1 and what Remit adds). Four queries."""
    turn = Turn.objects.get(id=turn_id)
    said = {m.role: m for m in Message.objects.filter(turn=turn)}
    reply = said.get(Message.Role.ASSISTANT)
    question = _open_question(turn)
    pending = selectors.approval_cards(
        organisation_id=turn.organisation_id,
        external_user_id=turn.external_user_id,
        turn_ids=_turn_ids(turn),
        state="pending",
    )
    return {
        "session_id": str(turn.conversation_id),
        "turn_id": str(turn.id),
        "message_id": str(reply.id if reply else ""),
        "status": turn.state,
        "response": reply.content if reply else "",
        "context_used": [
            {key: shown.get(key) for key in ("n", "id", "source", "title", "relevance")}
            for shown in turn.context[:CONTEXT_SHOWN]
        ],
        "pending_actions": [pending_action(card) for card in reversed(pending)],
        "completed_actions": [
            _completed(action) for action in turn.actions if action["status"] in DONE
        ],
        "refused_actions": [
            _completed(action)
            for action in turn.actions
            if action["status"] not in DONE | {"pending"}
        ],
        "needs_clarification": question is not None,
        "clarification": question,
    }


def _turn_ids(turn: Turn) -> list[str]:
    rows = Turn.objects.filter(conversation=turn.conversation_id).order_by("-created_at")
    return [str(id) for id in rows.values_list("id", flat=True)[:100]]


def _open_question(turn: Turn) -> dict[str, Any] | None:
    if turn.ending != Turn.Ending.QUESTION:
        return None
    call = turn.calls.filter(name=ASK_USER, result__isnull=True).first()
    return clarification(call.arguments) if call else None


def pending_action(card: ApprovalCard) -> dict[str, Any]:
    return {
        "id": str(card.id),
        "type": card.action_type,
        "description": card.description,
        "params": dict(card.arguments),
        "digest": card.digest,
        "provenance": dict(card.provenance),
        "side_effects": list(card.side_effects),
        "reason": card.reason,
        "expires_at": card.expires_at.isoformat() if card.expires_at else None,
    }


def _completed(action: dict[str, Any]) -> dict[str, Any]:
    return {key: action.get(key) for key in COMPLETED}
