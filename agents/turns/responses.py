"""What the API says of a chat turn, read from its rows."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from agents.answer import claims, links, records, rich_text
from agents.journal.steps import ASK_USER
from agents.models import Escalation, Message, Turn
from agents.plans import rendering, store
from agents.turns.turns import parse_question
from guardrails.approve import approvals, card_text, questions, second_yes
from guardrails.approve.cards import list_cards
from guardrails.approve.change_request_rows import find_by_refusal
from guardrails.contracts.cards import ApprovalCard, HeldSendCard
from guardrails.execute import held_sends
from integrations.web.languages import speaking

MOST_CONTEXT = 5
MOST_HANDLED = 50
DONE = frozenset({"succeeded", "noop"})
GOES_ON = DONE | {"pending", "held"}
DECIDED = {"executed": "succeeded", "failed": "failed"}
COMPLETED = (
    *("id", "action_id", "type", "description", "params"),
    *("status", "sentence", "result", "artifacts"),
)


def build_response(turn_id: UUID, *, by: str = "") -> dict[str, Any]:
    """The chat response of one turn (seed I 7.1 and what Remit adds), in the turn's language, as
    this principal sees it who acts for the user; empty: the user. What waits counts as shown to the
    person from now on. Nine queries whatever the amount, one more when it held actions or was
    refused what can be asked for, two more where it was handed to a person, and a few where
    something waits for a second yes."""
    turn = Turn.objects.select_related("conversation").get(id=turn_id)
    with speaking(turn.language):
        return _describe(turn, by)


def _describe(turn: Turn, by: str) -> dict[str, Any]:
    said = {m.role: m for m in Message.objects.filter(turn=turn)}
    reply = said.get(Message.Role.ASSISTANT)
    question = _open_question(turn)
    actions = _as_they_stand(turn)
    session: dict[str, Any] = {
        "organisation_id": turn.organisation_id,
        "external_user_id": turn.external_user_id,
        "turn_ids": _turn_ids(turn),
    }
    pending = list_cards(**session, state="pending")[::-1]
    pending += _waiting_elsewhere(actions, pending, session)
    pending = second_yes.seen_by(pending, by, turn.external_user_id)
    decided = list_cards(**session, decided=True, limit=MOST_HANDLED)
    approvals.note_shown(pending)
    plan = store.load_plan(turn.conversation_id)
    said_by_agent = reply.content if reply else ""
    cited = reply.metadata.get("citations", []) if reply else []
    return {
        "session_id": str(turn.conversation.session_id) if turn.conversation else "",
        "turn_id": str(turn.id),
        "message_id": str(reply.id if reply else ""),
        "status": turn.state,
        "ending": turn.ending,
        "problem": _problem(turn),
        "response": said_by_agent,
        "response_html": rich_text.render_answer(said_by_agent, cited, turn_id=turn.id),
        "context_used": [
            {key: entry.get(key) for key in ("n", "id", "source", "title", "relevance")}
            | {"title": links.deaden(str(entry.get("title") or ""))}
            for entry in turn.context[:MOST_CONTEXT]
        ],
        "pending_actions": [describe_pending(card) for card in pending],
        "questions": [
            {
                "id": str(one.id),
                "heading": one.heading,
                "digest": one.digest,
                "actions": [str(card.id) for card in one.cards],
            }
            for one in questions.group(pending)
        ],
        "held_actions": [
            _completed(action) | {key: action[key] for key in ("held_send_id", "held_until")}
            for action in actions
            if action["status"] == "held"
        ],
        "handled_actions": [
            {
                "id": str(card.id),
                "description": links.deaden(card.description),
                "handled": card.handled,
            }
            for card in decided
        ],
        "completed_actions": [_completed(action) for action in actions if action["status"] in DONE],
        "refused_actions": _refused(
            turn, [action for action in actions if action["status"] not in GOES_ON]
        ),
        "escalation": describe_escalation(turn),
        "needs_clarification": question is not None,
        "clarification": question,
        "plan": links.deaden_all(rendering.describe_plan(plan)) if plan else None,
        "citations": cited,
        "review": reply.metadata.get("review") if reply else None,
        "record": records.render_record(_decided_since(actions, decided)),
    }


def _problem(turn: Turn) -> dict[str, str] | None:
    """Why the turn has no proper answer; None where it has, or is not over."""
    broke = turn.state == Turn.State.FAILED or turn.ending in (Turn.Ending.ERROR, Turn.Ending.LIMIT)
    if not broke:
        return None
    return {"code": turn.error_code or turn.ending, "detail": f"{turn.get_ending_display()}."}


def build_task(turn_id: UUID) -> dict[str, Any]:
    """What came of a task that is a turn of its own. It needs input while a question is open, or
    an action waits for a person's word. It failed where the turn ended without an answer, and where
    something of it was refused or failed and was not made up for: what was done stands beside."""
    answer = build_response(turn_id)
    waits = answer["needs_clarification"] or answer["pending_actions"]
    if answer["ending"] == Turn.Ending.ESCALATED:
        status = "escalated"
    elif waits:
        status = "needs_input"
    else:
        actions = Turn.objects.values_list("actions", flat=True).get(id=turn_id)
        is_done = answer["ending"] == Turn.Ending.REPLY and not claims.list_not_done(actions)
        status = "success" if is_done else "failed"
    return {"task_id": str(turn_id), "status": status, "answer": answer}


def describe_event(type: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """One event of a turn as those who follow it get it. Pieces of the answer are clean
    where they were written."""
    if type in ("plan", "decision"):
        return dict(links.deaden_all(data))
    if type == "action":
        return {**data, "description": links.deaden(str(data.get("description", "")))}
    return dict(data)


def describe_escalation(turn: Turn) -> dict[str, Any] | None:
    """How far the person is to whom the turn was handed."""
    if turn.ending != Turn.Ending.ESCALATED:
        return None
    rows = Escalation.objects.filter(conversation=turn.conversation_id)
    row = rows.filter(created_at__lte=turn.finished_at).order_by("-created_at").first()
    if row is None:
        return None
    answered = Message.objects.filter(turn=row.turn_id, role=Message.Role.PERSON).first()
    return {
        "id": str(row.id),
        "state": row.state,
        "reason": row.reason,
        "answer": answered.content if answered else "",
    }


def _waiting_elsewhere(
    actions: Sequence[dict[str, Any]], pending: Sequence[ApprovalCard], session: dict[str, Any]
) -> tuple[ApprovalCard, ...]:
    """What another conversation had asked for before this turn did."""
    asked = {UUID(action["id"]) for action in actions if action["status"] == "pending"}
    missing = asked - {card.id for card in pending}
    return (
        list_cards(**{**session, "turn_ids": None}, ids=missing, state="pending")[::-1]
        if missing
        else ()
    )


def _as_they_stand(turn: Turn) -> list[dict[str, Any]]:
    """The turn's actions; those that were held, with what became of them since."""
    held = [UUID(action["action_id"]) for action in turn.actions if action["status"] == "held"]
    found = held_sends.cards(organisation_id=turn.organisation_id, action_ids=held) if held else ()
    by_action = {str(card.action_id): card for card in found}
    return [
        action | _since(by_action[action["action_id"]])
        if action["action_id"] in by_action
        else action
        for action in turn.actions
    ]


def _decided_since(
    actions: list[dict[str, Any]], decided: Sequence[ApprovalCard]
) -> list[dict[str, Any]]:
    """The actions, those that waited with what a person's decision came to."""
    states = {str(card.id): DECIDED.get(card.state, "refused") for card in decided}
    return [
        action | {"status": states[action["id"]]}
        if action["status"] == "pending" and action["id"] in states
        else action
        for action in actions
    ]


def _since(card: HeldSendCard) -> dict[str, Any]:
    if card.state == "held":
        return {}
    status = {"released": "succeeded", "failed": "failed"}.get(card.state, "refused")
    return {"status": status, "sentence": card.outcome}


def _turn_ids(turn: Turn) -> list[str]:
    rows = Turn.objects.filter(conversation=turn.conversation_id).order_by("-created_at")
    return [str(id) for id in rows.values_list("id", flat=True)[:100]]


def _open_question(turn: Turn) -> dict[str, Any] | None:
    if turn.ending != Turn.Ending.QUESTION:
        return None
    call = turn.calls.filter(name=ASK_USER, result__isnull=True).first()
    if call is None:
        return None
    asked = parse_question(call.arguments)
    return asked | {"question": links.deaden(asked["question"])}


def describe_pending(card: ApprovalCard) -> dict[str, Any]:
    return {
        "id": str(card.id),
        "type": card.action_type,
        "heading": card.heading,
        "about": links.deaden(card.about),
        "description": links.deaden(card.description),
        "params": dict(card.arguments),
        "digest": card.digest,
        "values": [vars(value) for value in card.values],
        "exposures": [vars(one) for one in card.exposures],
        "user_said": card.user_said,
        "question": str(card.question),
        "text": card_text.render(card),
        "differences": [list(one) for one in card.differences],
        "agent_said": card.agent_said,
        "yeses": card.yeses,
        "not_yours": card.not_yours,
        "delegated": card.delegated,
        "revises": str(card.revises) if card.revises else None,
        "proposed": dict(card.proposed),
        "provenance": dict(card.provenance),
        "side_effects": list(card.side_effects),
        "reason": card.reason,
        "expires_at": card.expires_at.isoformat() if card.expires_at else None,
    }


def _refused(turn: Turn, actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was not done, and how far it is with what the user has asked operators to permit.
    `times` says how many actions one line stands for."""
    ids = [UUID(one["action_id"]) for one in actions if one.get("can_be_asked_for")]
    asked = find_by_refusal(organisation_id=turn.organisation_id, action_ids=ids)
    found = []
    for action, times in records.fold(actions):
        card = asked.get(UUID(action["action_id"]))
        request = card and {"id": str(card.id), "state": card.state, "sentence": card.sentence}
        can_be_asked_for = card is None and action.get("can_be_asked_for", False)
        found.append(
            _completed(action)
            | {
                "times": times,
                "can_be_asked_for": can_be_asked_for,
                "change_request": request,
            }
        )
    return found


def _completed(action: Mapping[str, Any]) -> dict[str, Any]:
    return {key: action.get(key) for key in COMPLETED} | {
        "description": links.deaden(str(action.get("description") or "")),
        "sentence": records.sentence_of(action),
        "handled": action.get("handled", ""),
    }
