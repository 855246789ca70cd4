"""A turn as its admin page shows it: steps, tool calls, actions, what still waits.

What strangers wrote is plain text here, with its invisible characters shown.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse

from agents.activity.offers import offers
from agents.answer import review
from agents.journal.suggestions import ANSWER, TRIAGE, load_rows, load_suggested
from agents.models import Conversation, Message, Step, ToolCall, Turn, TurnEvent
from agents.plans import plans, rendering, store
from audit.ledger import timeline
from audit.ledger.selectors import actions_of_run
from audit.ledger.sentences import name_action
from guardrails.approve.cards import list_cards
from integrations.llm.completions import dollars

WOULD = {"succeeded": "would do", "noop": "so already", "pending": "would ask"}
"""What a trial found of an action, by the status that it would have had."""

Calls = Mapping[int, Sequence[ToolCall]]
Steps = Mapping[UUID | None, Sequence[Step]]


def context(turn: Turn) -> dict[str, Any]:
    """The page's values. Ten queries at most, however long the turn was."""
    calls: dict[int, list[ToolCall]] = {}
    for call in ToolCall.objects.filter(turn=turn).order_by("step_id", "position"):
        calls.setdefault(call.step_id, []).append(call)
    steps: dict[UUID | None, list[Step]] = {}
    for row in Step.objects.filter(turn=turn).order_by("number"):
        steps.setdefault(row.parent_call_id, []).append(row)
    only_tried = turn.kind == Turn.Kind.TRIAL
    names = {call.name for each in calls.values() for call in each}
    suggesting = [turn.id] if names & {ANSWER, TRIAGE} else []
    waiting = list_cards(
        organisation_id=turn.organisation_id, turn_ids=[str(turn.id)], state="pending"
    )
    return {
        "messages_said": [
            {
                "role": message.get_role_display(),
                "text": timeline.reveal(message.content),
                "cited": cited(message),
                "contradicted": bool(message.metadata.get("contradicted")),
            }
            for message in turn.messages.order_by("created_at")
        ],
        "steps": [step(row, steps, calls) for row in steps.get(None, ())],
        "offers": offers(load_rows(suggesting).get(turn.id, ())) if suggesting else (),
        "suggested": list(map(timeline.reveal, load_suggested(suggesting).get(turn.id, ())))
        if suggesting
        else [],
        "only_tried": only_tried,
        "actions_done": tried(turn) if only_tried else actions(turn),
        "waiting": [
            {
                "description": timeline.reveal(card.description),
                "link": reverse("admin:guardrails_approval_change", args=[card.id]),
            }
            for card in waiting
        ],
        "plan": plan(turn),
        "decisions": [decision(event) for event in decided(turn)],
        "shown": [
            {
                "n": item.get("n"),
                "title": timeline.reveal(str(item.get("title", ""))),
                "source": item.get("source", ""),
            }
            for item in turn.context
        ],
    }


STATUS_COLOURS = {
    "completed": "success",
    "in_progress": "info",
    "failed": "danger",
    "blocked": "danger",
}


def plan(turn: Turn) -> dict[str, Any] | None:
    """The plan of the turn's conversation as it stands now."""
    found = store.load_plan(turn.conversation_id)
    if found is None:
        return None
    return {
        "request": timeline.reveal(found.request),
        "progress": rendering.render_progress(found),
        "goals": [
            {
                "what": timeline.reveal(goal.description),
                "facts": f"{goal.priority} priority, {goal.estimated_complexity}",
                "after": ", ".join(goal.depends_on),
                **_describe_state(goal),
                "steps": [
                    {
                        "what": timeline.reveal(one.description),
                        "result": timeline.reveal(one.result),
                        "after": ", ".join(one.depends_on),
                        **_describe_state(one),
                    }
                    for one in goal.steps
                ],
            }
            for goal in found.goals
        ],
    }


def _describe_state(one: plans.Goal | plans.Step) -> dict[str, str]:
    return {
        "id": one.id,
        "status": one.status.replace("_", " "),
        "colour": STATUS_COLOURS.get(one.status, ""),
    }


def decided(turn: Turn) -> QuerySet[TurnEvent]:
    """The decision log of the turn, oldest first."""
    return TurnEvent.objects.filter(turn=turn, type__in=("decision", "plan")).order_by("sequence")


def decision(event: TurnEvent) -> dict[str, Any]:
    """One line of the decision log in words; a review with its scores and gaps."""
    data = event.data
    at = timeline.moment(event.created_at)
    if event.type == "plan":
        progress = data["plan"]["progress"] if data.get("plan") else "removed"
        return {"at": at, "what": f"Plan changed: {progress}", "lines": []}
    if data.get("decision") != "review":
        rest = ", ".join(str(data[key]) for key in sorted(data) if key != "decision")
        return {
            "at": at,
            "what": timeline.reveal(f"{str(data.get('decision')).replace('_', ' ')}: {rest}"),
            "lines": [],
        }
    scores = ", ".join(
        f"{name.removesuffix('_score')} {data[name]:.2f}"
        for name in review.SCORES
        if data[name] is not None
    )
    by = "by the reviewer's model" if data.get("by") == "model" else "by the records alone"
    lines = [*(f"Gap: {gap}" for gap in data["gaps"]), *data["suggested_actions"]]
    return {
        "at": at,
        "what": f"Review of the {data['of']} {by}: {data['recommendation'].replace('_', ' ')}"
        + (f" ({scores})" if scores else ""),
        "lines": [timeline.reveal(line) for line in lines],
    }


def said(conversation: Conversation, *, newest: int) -> list[dict[str, Any]]:
    """The newest so many messages of a conversation, oldest first."""
    rows = conversation.messages.order_by("-created_at")[:newest]
    return [
        {
            "role": message.get_role_display(),
            "text": timeline.reveal(message.content),
            "cited": cited(message),
            "at": timeline.moment(message.created_at),
            "turn": turn_link(message.turn_id),
        }
        for message in reversed(rows)
    ]


def cited(message: Message) -> list[str]:
    """What each [n] of a message stands for."""
    return [
        timeline.reveal(f"[{item['n']}] {item['title']} · {item['source']}")
        for item in message.metadata.get("citations", ())
    ]


def step(row: Step, steps: Steps, calls: Calls) -> dict[str, Any]:
    return {
        "agent": row.agent.replace("_", " "),
        "number": row.number,
        "text": timeline.reveal(row.text),
        "facts": " · ".join(
            fact
            for fact in (
                row.model,
                f"{row.prompt_tokens} + {row.completion_tokens} tokens",
                dollars(row.cost) if row.cost else "",
                f"{row.latency_ms} ms",
                row.finish_reason.replace("_", " "),
            )
            if fact
        ),
        "calls": [tool_call(call, steps, calls) for call in calls.get(row.id, ())],
    }


def tool_call(call: ToolCall, steps: Steps, calls: Calls) -> dict[str, Any]:
    state, colour = "open", "info"
    if call.result is not None:
        success = bool(call.result.get("success"))
        code = call.result.get("error", {}).get("code") or "failed"
        state, colour = ("done", "success") if success else (str(code).replace("_", " "), "danger")
    return {
        "name": timeline.reveal(call.name.replace("_", " ")),
        "state": state,
        "colour": colour,
        "facts": " · ".join(
            [f"{call.latency_ms} ms", *([dollars(call.cost)] if call.cost else [])]
        ),
        "arguments": pretty_text(call.arguments),
        "result": timeline.pretty(call.result) if call.result is not None else "",
        "untrusted": bool(call.result and call.result.get("untrusted")),
        "steps": [step(row, steps, calls) for row in steps.get(call.id, ())],
    }


def pretty_text(text: str) -> str:
    """JSON with line breaks; text that is no JSON as it stands."""
    try:
        return timeline.pretty(json.loads(text))
    except ValueError:
        return timeline.reveal(text)


def actions(turn: Turn) -> list[dict[str, Any]]:
    """What the ledger says of this turn's actions, with the words the user read; then those
    of earlier turns that were decided about in this one."""
    decided = {action.get("action_id"): action for action in turn.actions}
    found = []
    rows = actions_of_run(tenant_id=turn.organisation_id, run_id=str(turn.id))
    for row in rows:
        words = decided.get(str(row.action_id), {})
        found.append(
            {
                "description": timeline.reveal(
                    words.get("description") or name_action(row.action_type)
                ),
                "sentence": timeline.reveal(words.get("sentence") or ""),
                "status": row.status,
                "colour": timeline.COLOURS.get(row.status, ""),
                "verdict": timeline.verdict(row.decision, row.decision_reason),
                "link": ledger_link(row.action_id),
                "undo": reverse("admin:guardrails_undo_of", args=[row.action_id])
                if row.status == "succeeded"
                else "",
            }
        )
    known = {str(row.action_id) for row in rows}
    return [*found, *(_decided_here(decided[id]) for id in decided if id not in known)]


def tried(turn: Turn) -> list[dict[str, Any]]:
    """What a trial would have done: no row of the ledger has it, and nothing is to be undone."""
    return [
        {
            "description": timeline.reveal(action["description"]),
            "sentence": timeline.reveal(action.get("sentence") or ""),
            "status": WOULD.get(action["status"], "would be refused"),
            "verdict": "Nothing was done: it was only tried.",
        }
        for action in turn.actions
    ]


def _decided_here(action: Mapping[str, Any]) -> dict[str, Any]:
    done = action["status"] == "succeeded"
    return {
        "description": timeline.reveal(action["description"]),
        "sentence": timeline.reveal(action.get("sentence") or ""),
        "status": action["status"],
        "colour": timeline.COLOURS.get(action["status"], ""),
        "verdict": timeline.reveal(action.get("handled") or "Decided about in this turn."),
        "link": ledger_link(action["action_id"]),
        "undo": reverse("admin:guardrails_undo_of", args=[action["action_id"]]) if done else "",
    }


def ledger_link(action_id: UUID | str) -> str:
    """The ledger's page of one action."""
    query = urlencode({"q": str(action_id)})
    return f"{reverse('admin:audit_executedagentaction_changelist')}?{query}"


def turn_link(turn_id: UUID | str) -> str:
    return reverse("admin:agents_turn_change", args=[turn_id])
