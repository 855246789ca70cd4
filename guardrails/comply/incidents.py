"""Where provider and ledger disagreed, and what people found when they looked into it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from audit.contracts import Entry, Filters, Recorded
from audit.ledger import ledger
from audit.ledger.selectors import about_ledger, recorded_of_tenant
from guardrails.execute.settling import INCIDENT
from guardrails.facts.reasons import sentence
from guardrails.facts.text import visible

LOOKED_INTO = "looked_into"
OPEN_FOR = timedelta(days=90)
MAX_ROWS, MAX_NOTE = 2000, 500


class IncidentNotFound(Exception):
    """There is no such incident in this organisation."""


@dataclass(frozen=True, kw_only=True)
class Incident:
    """One disagreement. `looked_into` is the person's row, with their note; None while open."""

    row: Recorded
    looked_into: Recorded | None

    @property
    def note(self) -> str:
        return visible(str(self.looked_into.payload.get("note", ""))) if self.looked_into else ""


def incidents(organisation_id: UUID, *, now: datetime) -> tuple[Incident, ...]:
    """The organisation's incidents of the last 90 days, newest first."""
    rows = about_ledger(organisation_id, INCIDENT, since=now - OPEN_FOR, limit=MAX_ROWS)
    return tuple(_paired(rows))


def open_count(organisation_id: UUID, *, now: datetime) -> int:
    """How many of them nobody has looked into."""
    return sum(one.looked_into is None for one in incidents(organisation_id, now=now))


def look_into(*, organisation_id: UUID, action_id: UUID, by: str, note: str) -> None:
    """A person says what they found; the incident is open no longer. Again is fine: the last
    word is shown. Raises IncidentNotFound, ValueError without a note, audit.contracts.LedgerError.
    """
    if not note.strip():
        raise ValueError("Say what you found.")
    rows = recorded_of_tenant(action_id, filters=Filters(tenant_id=organisation_id))
    if not rows or rows[0].action_type != INCIDENT:
        raise IncidentNotFound
    ledger.append(
        Entry(
            tenant_id=organisation_id,
            action_id=action_id,
            phase="control",
            status="recorded",
            action_type=INCIDENT,
            occurred_at=timezone.now(),
            account_id=rows[0].account_id,
            actor_type="admin",
            actor_id=by,
            trigger="operator",
            decision_reason=LOOKED_INTO,
            target_row=rows[0].id,
            payload={"sentence": sentence(LOOKED_INTO), "note": note.strip()[:MAX_NOTE]},
        )
    )


def _paired(rows: tuple[Recorded, ...]) -> Iterator[Incident]:
    said: dict[UUID, Recorded] = {}
    for row in rows:  # newest first, so the last word of each action comes first
        if row.decision_reason == LOOKED_INTO:
            said.setdefault(row.action_id, row)
        else:
            yield Incident(row=row, looked_into=said.get(row.action_id))
