"""More about an action: who was asked, what was edited, what was erased, and the actions
it came from and led to. For people's pages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from audit.contracts import Recorded
from audit.keeping import erasure
from audit.ledger import people, queries, selectors
from audit.ledger.sentences import name_action
from audit.ledger.timeline import COLOURS, moment, pretty, reveal
from audit.models import LedgerPayload

ANSWERS = {
    "approved": "approved",
    "rejected": "rejected",
    "edited": "changed before it was decided",
    "approval_expired": "expired: nobody answered",
}
MAX_CHILDREN, MAX_REDACTIONS, MAX_VALUE = 20, 2000, 2000


@dataclass(frozen=True, kw_only=True)
class Erasure:
    """By whom, when and why the contents of rows of an action were erased."""

    at: str
    by: str
    reason: str
    rows: tuple[int, ...]
    row: int | None  # of the redaction

    @property
    def sentence(self) -> str:
        if self.row is None:
            return "Their contents are missing, and no row says that they were erased."
        return f"Contents were erased on {self.at} by {self.by}, because: “{self.reason}”."


def list_questions(phases: Sequence[Recorded], names: people.Names) -> list[dict[str, Any]]:
    """Each question to a person about this action: when, who answered what, after how long."""
    found = []
    for approval_id in dict.fromkeys(row.approval_id for row in phases if row.approval_id):
        about = [row for row in phases if row.approval_id == approval_id]
        asked = next((row for row in about if row.status == "waiting"), None)
        answer = next((row for row in about if row.decision_reason in ANSWERS), None)
        found.append(
            {
                "approval_id": approval_id,
                "asked": moment(asked.recorded_at) if asked else "",
                "answer": ANSWERS[answer.decision_reason] if answer else "",
                "by": _name(answer, answer.actor_id, answer.payload.get("as_user"), names)
                if answer
                else "",
                "at": moment(answer.recorded_at) if answer else "",
                "took": took(asked.recorded_at, answer.recorded_at) if asked and answer else "",
            }
        )
    return found


def _name(row: Recorded, who: object, as_user: object, names: people.Names) -> str:
    """Who answered; a token answers for a user."""
    by = people.call(row.tenant_id, str(who), names)
    user = people.call_user(row.tenant_id, str(as_user), names) if as_user else ""
    return reveal(f"{by} as {user}" if user else by)


def took(since: datetime, until: datetime) -> str:
    seconds = max(0, round((until - since).total_seconds()))
    if seconds < 120:
        return f"{seconds} second{'' if seconds == 1 else 's'}"
    return f"{seconds // 60} minutes" if seconds < 7200 else f"{seconds // 3600} hours"


def find_edits(phases: Sequence[Recorded], names: people.Names) -> dict[str, Any] | None:
    """What a person changed of what the agent proposed; None where nobody changed anything."""
    row = next((one for one in reversed(phases) if one.payload.get("edited_by")), None)
    if row is None:
        return None
    before, after = row.payload.get("proposed_by_agent"), row.payload.get("arguments")
    if not isinstance(before, dict) or not isinstance(after, dict):
        return None
    return {
        "by": _name(row, row.payload["edited_by"], row.payload.get("edited_as"), names),
        "fields": [
            {
                "name": reveal(name),
                "before": shorten(before.get(name)),
                "after": shorten(after.get(name)),
            }
            for name in sorted({*before, *after})
            if before.get(name) != after.get(name)
        ],
    }


def shorten(value: object) -> str:
    plain = reveal(value) if isinstance(value, str) else "" if value is None else pretty(value)
    return plain if len(plain) <= MAX_VALUE else f"{plain[:MAX_VALUE]}…"


def list_erasures(phases: Sequence[Recorded]) -> list[Erasure]:
    """Of the rows whose contents are gone: who erased them, when and why."""
    if not phases:
        return []
    payloads = LedgerPayload.objects.filter(action_id=phases[0].action_id)
    there = set(payloads.values_list("row_id", flat=True))
    gone = {row.id for row in phases} - there
    return list(_find_erasures(phases[0].tenant_id, gone)) if gone else []


def _find_erasures(tenant_id: UUID, gone: set[int]) -> Iterator[Erasure]:
    left = set(gone)
    rows = selectors.about_ledger(tenant_id, erasure.ACTION_TYPE, limit=MAX_REDACTIONS)
    names = people.find_names(rows)
    for row in rows:
        named = left & set(row.payload.get("rows", []))
        if named:
            left -= named
            yield Erasure(
                at=moment(row.recorded_at),
                by=reveal(people.call(row.tenant_id, row.actor_id or row.actor_type, names)),
                reason=reveal(str(row.payload.get("reason", ""))),
                rows=tuple(sorted(named)),
                row=row.id,
            )
        if not left:
            return
    yield Erasure(at="", by="", reason="", rows=tuple(sorted(left)), row=None)


def list_relatives(phases: Sequence[Recorded]) -> list[dict[str, Any]]:
    """The action that this one takes back, revises or follows from, and those that do so to it."""
    if not phases:
        return []
    first = phases[0]
    rows = queries.select_latest(queries.select_phases()).filter(tenant_id=first.tenant_id)
    parents = {row.parent_action_id for row in phases if row.parent_action_id}
    before = rows.filter(action_id__in=parents).order_by("action_id")
    after = rows.filter(parent_action_id=first.action_id).order_by("action_id")
    found = [("Comes from", row) for row in before[:MAX_CHILDREN]]
    found += [("Led to", row) for row in after[:MAX_CHILDREN]]
    return [
        {
            "relation": relation,
            "row": row.id,
            "action": reveal(name_action(row.action_type)),
            "status": row.status,
            "colour": COLOURS.get(row.status, ""),
        }
        for relation, row in found
    ]
