"""How long people take over their decisions: who confirms in a second has not read."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Aggregate, Count, DurationField, F, Q, QuerySet
from django.db.models.functions import Coalesce

from audit.ledger import people
from guardrails.approve.cards import named
from guardrails.models import Approval

State = Approval.State
DECIDED = ("approved", "executed", "failed", "refused", "rejected", "superseded")
QUICK_SECONDS = 3.0


class Median(Aggregate):
    template = "percentile_cont(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = DurationField()


@dataclass(frozen=True, kw_only=True)
class Decider:
    """One person's decisions. `seconds` is the median from the first look to the word."""

    name: str
    decisions: int
    confirmed: int
    seconds: float
    quick: int  # decided in less than QUICK_SECONDS

    @property
    def is_rubber_stamping(self) -> bool:
        """Most of at least ten decisions were quicker than anybody reads."""
        return self.decisions >= 10 and self.quick * 2 > self.decisions


def list_deciders(*, since: datetime, organisation_id: UUID | None = None) -> tuple[Decider, ...]:
    """Who decided since then, the quickest first. Three queries at most."""
    rows: QuerySet[Approval] = Approval.objects.filter(state__in=DECIDED, decided_at__gte=since)
    if organisation_id is not None:
        rows = rows.filter(organisation_id=organisation_id)
    taken = F("decided_at") - Coalesce("shown_at", "created_at")
    found = (
        rows.annotate(taken=taken)
        .values("organisation_id", "decided_by", "decided_as")
        .annotate(
            decisions=Count("id"),
            confirmed=Count("id", filter=~Q(state__in=["rejected", "superseded"])),
            median=Median("taken"),
            quick=Count("id", filter=Q(taken__lt=_seconds(QUICK_SECONDS))),
        )
        .order_by("median", "decided_by", "decided_as")
    )
    names = people.find(
        (row["organisation_id"], one)
        for row in found
        for one in (row["decided_by"], f"{people.USER}{row['decided_as']}")
    )
    return tuple(
        Decider(
            name=named(
                row["decided_by"], row["decided_as"], of=row["organisation_id"], names=names
            ),
            decisions=row["decisions"],
            confirmed=row["confirmed"],
            seconds=row["median"].total_seconds(),
            quick=row["quick"],
        )
        for row in found
    )


def _seconds(number: float) -> timedelta:
    return timedelta(seconds=number)
