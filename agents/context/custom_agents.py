"""Custom agents: which an organisation has, what they see, what their runs took."""

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import Avg, Count, F, Q, QuerySet, Sum

from agents.contracts import Person
from agents.models import CustomAgent, CustomAgentRun, Step

PREFIX = "custom:"
MEASURED = timedelta(days=30)


def list_offered(person: Person) -> QuerySet[CustomAgent]:
    """Enabled agents of the person's organisation that would see something of the person's."""
    sources = [account.source for account in person.accounts]
    rows = CustomAgent.objects.filter(organisation_id=person.organisation_id, enabled=True)
    return rows.filter(id__in=[row.id for row in rows if set(row.sources) & set(sources)])


def find_by_name(person: Person, name: str) -> CustomAgent | None:
    """The agent that `name_of` calls so, if it is offered to this person."""
    try:
        id = UUID(name.removeprefix(PREFIX))
    except ValueError:
        return None
    return list_offered(person).filter(id=id).first() if name.startswith(PREFIX) else None


def name_of(agent_id: UUID) -> str:
    """How steps and the ledger call a custom agent."""
    return f"{PREFIX}{agent_id}"


def narrow_person(person: Person, agent: CustomAgent) -> Person:
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


def measure_runs(agents: QuerySet[CustomAgent], *, now: datetime) -> QuerySet[CustomAgent]:
    """The agents with what their runs of the last 30 days took: `run_count`, `good_count`,
    and, None before the first run, `average_latency` (ms), `average_tokens`, `total_cost`
    (US dollars)."""
    lately = Q(runs__created_at__gte=now - MEASURED)
    return agents.annotate(
        run_count=Count("runs", filter=lately),
        good_count=Count("runs", filter=lately & Q(runs__succeeded=True)),
        average_latency=Avg("runs__latency_ms", filter=lately),
        average_tokens=Avg(F("runs__prompt_tokens") + F("runs__completion_tokens"), filter=lately),
        total_cost=Sum("runs__cost", filter=lately),
    )
