"""Figures above the activity: what became of what came on each of the last days, why things were
refused, how quickly people decided, and what models cost. Each opens the rows behind it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connections, router
from django.db.models import Count
from django.db.models.functions import TruncDate

from agents.activity import selection
from agents.activity.outcomes import Outcome
from agents.activity.selection import Wanted
from guardrails.facts.reasons import SENTENCES
from integrations.models import Delivery
from integrations.web.counts import say_up_to

DAYS = 14
REASONS = 5
HEIGHT, BAR, STEP = 100, 20, 28
PLOTTED = tuple(one for one in Outcome if one != Outcome.WORKING)
MANY_WAITING = 1_000  # beyond, “1,000+” is enough
_FIGURES = """
    WITH inbound AS (
        SELECT count(*) AS every, count(*) FILTER (WHERE ending = 'pattern') AS matched
        FROM agents_turn
        WHERE organisation_id = %(of)s AND created_at >= %(since)s AND kind = 'inbound'
    ), refused AS (
        SELECT action->>'reason' AS reason, count(*) AS number
        FROM agents_turn, jsonb_array_elements(actions) action
        WHERE organisation_id = %(of)s AND created_at >= %(since)s AND actions <> '[]'::jsonb
            AND action->>'status' = 'refused' AND kind <> 'trial'
        GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %(reasons)s
    )
    SELECT
        (SELECT json_agg(json_build_array(reason, number)) FROM refused) AS refused,
        (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY decided_at - created_at)
            FROM guardrails_approval
            WHERE organisation_id = %(of)s AND decided_at >= %(since)s AND decided_by <> ''
        ) AS decided_within,
        (SELECT coalesce(sum(cost), 0) FROM integrations_modelcall
            WHERE organisation_id = %(of)s AND at >= %(since)s) AS cost,
        (SELECT matched::float / nullif(every, 0) FROM inbound) AS without_model,
        (SELECT count(*) FROM (
            SELECT DISTINCT question FROM guardrails_approval
            WHERE organisation_id = %(of)s AND state = 'pending' LIMIT %(many)s
        ) AS pending) AS waiting
"""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One piece of one day's bar, in units of the drawing."""

    outcome: str
    x: int
    y: str
    height: str
    query: Mapping[str, str]
    title: str


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Of the last DAYS days, today included. `without_model` is a share of the mails that got a
    turn, None without any; `decided_within` is the median; `waiting` are questions, as in the list
    of approvals."""

    bars: tuple[Bar, ...]
    totals: tuple[tuple[str, str, int], ...]
    highest: int
    first: date
    last: date
    refused: tuple[tuple[str, str, int], ...]
    decided_within: timedelta | None
    cost: Decimal
    without_model: float | None
    waiting: str


def load(organisation_id: UUID, *, today: date) -> Figures:
    """Two queries."""
    first = today - timedelta(days=DAYS - 1)
    counts = count(Wanted(organisation_id=organisation_id, since=first))
    days = [first + timedelta(days=number) for number in range(DAYS)]
    highest = max(sum(counts[day, one.value] for one in PLOTTED) for day in days)
    refused, decided_within, cost, without_model, waiting = _ask(
        of=organisation_id,
        since=datetime.combine(first, time.min, tzinfo=UTC),
        reasons=REASONS,
        many=MANY_WAITING + 1,
    )
    return Figures(
        bars=tuple(_bars(counts, days, highest=highest)),
        totals=tuple(
            (one.value, one.label, sum(counts[day, one.value] for day in days)) for one in PLOTTED
        ),
        highest=highest,
        first=first,
        last=today,
        refused=tuple(
            (reason, SENTENCES.get(reason, reason.replace("_", " ")), number)
            for reason, number in refused or ()
        ),
        decided_within=decided_within,
        cost=cost,
        without_model=without_model,
        waiting=say_up_to(MANY_WAITING, waiting),
    )


def count(wanted: Wanted) -> Counter[tuple[date, str]]:
    """How many rows came to what on which day."""
    inbound, asked = (
        selection.within(rows, wanted, by=by)
        .annotate(day=TruncDate(by, tzinfo=wanted.zone))
        .order_by()
        .values_list("day", "outcome")
        .annotate(number=Count("id"))
        for rows, by in (
            (selection.deliveries(wanted), "received_at"),
            (selection.requests(wanted), "created_at"),
        )
    )
    counts: Counter[tuple[date, str]] = Counter()
    for day, outcome, number in inbound.union(asked, all=True):
        counts[day, outcome] += number
    return counts


def _bars(counts: Counter[tuple[date, str]], days: list[date], *, highest: int) -> list[Bar]:
    bars = []
    for number, day in enumerate(days):
        top = float(HEIGHT)
        for one in reversed(PLOTTED):
            count = counts[day, one.value]
            if not count:
                continue
            height = HEIGHT * count / highest
            top -= height
            bars.append(
                Bar(
                    outcome=one.value,
                    x=number * STEP,
                    y=f"{top:.2f}",
                    height=f"{height:.2f}",
                    query={
                        "since": day.isoformat(),
                        "until": day.isoformat(),
                        "outcome": one.value,
                    },
                    title=f"{day:%A %-d %B}: {count} {one.label.lower()}",
                )
            )
    return bars


def _ask(**values: Any) -> tuple[Any, ...]:
    with connections[router.db_for_read(Delivery)].cursor() as cursor:
        cursor.execute(_FIGURES, values)
        [found] = cursor.fetchall()
    return tuple(found)
