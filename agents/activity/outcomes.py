"""What became of something that came, by the rows of its delivery and its turn."""

from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import (
    Case,
    CharField,
    FilteredRelation,
    Q,
    QuerySet,
    TextChoices,
    Value,
    When,
)

from agents.models import Turn
from integrations.models import Delivery

CLOCKS_APART = timedelta(days=1)  # of the processes that store deliveries and turns, at most
BROKEN = (Turn.Ending.LIMIT, Turn.Ending.ERROR)
OPEN_DELIVERIES = (Delivery.State.QUEUED, Delivery.State.RUNNING)
OPEN_TURNS = (Turn.State.QUEUED, Turn.State.RUNNING)


class Outcome(TextChoices):
    """Where several are true of one row, the first of them is its outcome."""

    WORKING = "working", "In work"
    FAILED = "failed", "Failed"
    ASKED = "asked", "Asked a person"
    REFUSED = "refused", "Refused"
    DONE = "done", "Done"
    SUGGESTED = "suggested", "Suggested"
    ANSWERED = "answered", "Answered"
    READ = "read", "Only read"
    LEFT = "left", "Left alone"


COLOURS = {
    Outcome.WORKING: "info",
    Outcome.FAILED: "danger",
    Outcome.ASKED: "info",
    Outcome.REFUSED: "warning",
    Outcome.DONE: "success",
    Outcome.SUGGESTED: "info",
    Outcome.ANSWERED: "success",
    Outcome.READ: "",
    Outcome.LEFT: "",
}


def of_turns(rows: "QuerySet[Turn]", *, only: str = "") -> Any:
    """Turns of conversations with their `outcome`; `only` those of one."""
    return _with(rows, _of_turn(""), otherwise=Outcome.ANSWERED, only=only)


def of_deliveries(
    rows: "QuerySet[Delivery]", *, only: str = "", since: datetime | None = None
) -> Any:
    """Deliveries with their `outcome`, which is that of their turn where they have one; `only`
    those of one. Where all of them came `since` then, turns of before are not looked at."""
    name = "turn"
    if since:
        name = "their_turn"
        # A delivery comes before its turn. That no other turn has one is said for PostgreSQL.
        recent = Q(turn__created_at__gte=since - CLOCKS_APART, turn__delivery_id__isnull=False)
        rows = rows.annotate(their_turn=FilteredRelation("turn", condition=recent))
    turn = _of_turn(f"{name}__")
    conditions = turn | {
        Outcome.WORKING: turn[Outcome.WORKING] | Q(state__in=OPEN_DELIVERIES),
        Outcome.FAILED: turn[Outcome.FAILED] | Q(state=Delivery.State.DEAD),
        Outcome.READ: Q(**{f"{name}__isnull": True}, state=Delivery.State.PROCESSED),
    }
    return _with(rows, conditions, otherwise=Outcome.LEFT, only=only)


def _of_turn(turn: str) -> dict[Outcome, Q]:
    def has(*statuses: str) -> Q:
        """What the user read of its actions when the turn ended."""
        return reduce(
            or_, (Q(**{f"{turn}actions__contains": [{"status": one}]}) for one in statuses)
        )

    def is_one_of(field: str, *values: str) -> Q:
        return Q(**{f"{turn}{field}__in": values})

    return {
        Outcome.WORKING: is_one_of("state", *OPEN_TURNS),
        Outcome.FAILED: is_one_of("state", Turn.State.FAILED)
        | is_one_of("ending", *BROKEN)
        | has("failed", "unknown"),
        Outcome.ASKED: is_one_of("ending", Turn.Ending.ESCALATED) | has("pending"),
        Outcome.REFUSED: has("refused"),
        Outcome.DONE: has("succeeded", "noop", "held"),
        Outcome.SUGGESTED: is_one_of("ending", Turn.Ending.SUGGESTED),
    }


def _with(rows: Any, conditions: dict[Outcome, Q], *, otherwise: Outcome, only: str) -> Any:
    whens = [When(conditions[one], then=Value(one.value)) for one in Outcome if one in conditions]
    first = Case(*whens, default=Value(otherwise.value), output_field=CharField())
    found = rows.annotate(outcome=first)
    return found.filter(outcome=only) if only else found
