"""Custom agents: which an organisation has, what they see, what their runs took."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import Avg, Count, Q, QuerySet, Sum

from agents.contracts import Person
from agents.models import CustomAgent, CustomAgentRun, Step

PREFIX = "custom:"
MEASURED = timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """What the runs of an agent took lately, on average. None: it has not run."""

    runs: int
    succeeded: int
    latency_ms: int | None
    tokens: int | None
    cost: Decimal | None  # US dollars


def offered(person: Person) -> QuerySet[CustomAgent]:
    """Enabled agents of the person's organisation that would see something of the person's."""
    sources = [account.source for account in person.accounts]
    rows = CustomAgent.objects.filter(organisation_id=person.organisation_id, enabled=True)
    return rows.filter(id__in=[row.id for row in rows if set(row.sources) & set(sources)])


def named(person: Person, name: str) -> CustomAgent | None:
    """The agent that `name_of` calls so, if it is offered to this person."""
    try:
        id = UUID(name.removeprefix(PREFIX))
    except ValueError:
        return None
    return offered(person).filter(id=id).first() if name.startswith(PREFIX) else None


def name_of(agent_id: UUID) -> str:
    """How steps and the ledger call a custom agent."""
    return f"{PREFIX}{agent_id}"


def narrowed(person: Person, agent: CustomAgent) -> Person:
    """The person with the accounts of the agent's sources alone."""
    chosen = frozenset(agent.sources)
    return replace(person, accounts=tuple(a for a in person.accounts if a.source in chosen))


def note_run(
    agent: CustomAgent, *, turn_id: UUID, call_id: UUID, succeeded: bool, latency_ms: int
) -> None:
    """Keep what a run took. A second time for one call changes nothing."""
    used = Step.objects.filter(turn_id=turn_id, parent_call_id=call_id).aggregate(
        steps=Count("id"),
        prompt=Sum("prompt_tokens"),
        completion=Sum("completion_tokens"),
        cost=Sum("cost"),
    )
    CustomAgentRun.objects.get_or_create(
        call_id=call_id,
        defaults={
            "agent": agent,
            "turn_id": turn_id,
            "succeeded": succeeded,
            "steps": used["steps"],
            "latency_ms": latency_ms,
            "prompt_tokens": used["prompt"] or 0,
            "completion_tokens": used["completion"] or 0,
            "cost": used["cost"] or Decimal(0),
        },
    )


def metrics(agents: Sequence[UUID], *, now: datetime) -> dict[UUID, Metrics]:
    """What the runs of the last 30 days took, by agent. One query."""
    rows = (
        CustomAgentRun.objects.filter(agent_id__in=agents, created_at__gte=now - MEASURED)
        .order_by()
        .values("agent_id")
        .annotate(
            runs=Count("id"),
            good=Count("id", filter=Q(succeeded=True)),
            latency=Avg("latency_ms"),
            prompt=Sum("prompt_tokens"),
            completion=Sum("completion_tokens"),
            cost=Avg("cost"),
        )
    )
    found = {
        row["agent_id"]: Metrics(
            runs=row["runs"],
            succeeded=row["good"],
            latency_ms=round(row["latency"]),
            tokens=round((row["prompt"] + row["completion"]) / row["runs"]),
            cost=row["cost"],
        )
        for row in rows
    }
    never = Metrics(runs=0, succeeded=0, latency_ms=None, tokens=None, cost=None)
    return {id: found.get(id, never) for id in agents}
