"""What is in the ledger of one organisation and period, counted by the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connections
from django.db.models import Count, F, Value

from audit.contracts import CLOCKS_APART, Filters
from audit.ledger import ids, queries
from audit.ledger.months import Month
from audit.ledger.routing import LEDGER

SAMPLE = 1000
# Of every question its first row and its answer; handing it on answers nothing.
APPROVALS = """
WITH asked AS (
    SELECT approval_id,
           min(recorded_at) FILTER (WHERE status = 'waiting' AND decision_reason <> 'held') AS at,
           min(recorded_at) FILTER (WHERE decision_reason IN ('approved', 'rejected')) AS answered,
           bool_or(decision_reason = 'approved') AS approved,
           bool_or(decision_reason = 'rejected') AS rejected,
           bool_or(decision_reason = 'approval_expired') AS expired
    FROM audit_action
    WHERE tenant_id = %(tenant)s AND action_id >= %(lo)s AND action_id < %(hi)s
      AND phase = 'control' AND approval_id <> ''
    GROUP BY approval_id
)
SELECT count(at), count(*) FILTER (WHERE approved), count(*) FILTER (WHERE rejected),
       count(*) FILTER (WHERE expired),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM answered - at))
           FILTER (WHERE answered IS NOT NULL AND at IS NOT NULL)
FROM asked
"""
MARKS = """
SELECT count(*) FILTER (WHERE decision_reason = 'recalled' AND phase = 'control'),
       count(*) FILTER (WHERE decision_reason = 'rate_exceeded' AND phase = 'blocked'),
       count(*) FILTER (WHERE phase = 'outcome' AND status = 'succeeded'
                        AND trigger = 'operator' AND parent_action_id IS NOT NULL),
       count(*) FILTER (WHERE phase = 'redaction'),
       count(*) FILTER (WHERE action_type = 'ledger.export' AND status = 'pending'),
       count(*) FILTER (WHERE action_type = 'policy.change'),
       count(*) FILTER (WHERE action_type = 'ledger.incident' AND status = 'failed'),
       count(*) FILTER (WHERE occurred_at NOT BETWEEN recorded_at - %(apart)s
                                               AND recorded_at + %(apart)s),
       count(*)
FROM audit_action
WHERE tenant_id = %(tenant)s AND action_id >= %(lo)s AND action_id < %(hi)s
"""
OPEN = """
SELECT count(*) FROM audit_action a
WHERE tenant_id = %(tenant)s AND action_id >= %(lo)s AND action_id < %(hi)s
  AND phase = 'attempt' AND NOT EXISTS (
    SELECT FROM audit_action o WHERE o.action_id = a.action_id AND o.attempt_no = a.attempt_no
      AND o.phase = 'outcome')
"""
# From a row's commit to the first checkpoint over it, for some thousand rows evenly spread.
LAG = """
WITH sealed AS (
    SELECT l.leaf_index, a.recorded_at, row_number() OVER (ORDER BY l.leaf_index) AS number,
           count(*) OVER () AS total
    FROM audit_action a JOIN audit_leaf l ON l.row_id = a.id
    WHERE a.tenant_id = %(tenant)s AND a.action_id >= %(lo)s AND a.action_id < %(hi)s
)
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY lag),
       percentile_cont(0.99) WITHIN GROUP (ORDER BY lag), count(*)
FROM (
    SELECT extract(epoch FROM (
        SELECT signed_at FROM audit_checkpoint c
        WHERE c.tenant_id = %(tenant)s AND c.size > s.leaf_index ORDER BY c.size LIMIT 1
    ) - s.recorded_at) AS lag
    FROM sealed s WHERE number %% greatest(1, total / %(sample)s) = 0
) AS lags WHERE lag IS NOT NULL
"""
MONTHS = """
SELECT month.number - 1,
       count(*) FILTER (WHERE phase = 'outcome' AND status IN ('succeeded', 'noop')),
       count(*) FILTER (WHERE phase = 'blocked'),
       count(*) FILTER (WHERE phase = 'outcome' AND status = 'failed'),
       count(DISTINCT approval_id) FILTER (
           WHERE phase = 'control' AND status = 'waiting' AND decision_reason <> 'held')
FROM unnest(%(lo)s::uuid[], %(hi)s::uuid[]) WITH ORDINALITY AS month (lo, hi, number)
JOIN audit_action a ON a.tenant_id = %(tenant)s
    AND a.action_id >= month.lo AND a.action_id < month.hi
WHERE action_type NOT LIKE 'ledger.%%' AND status <> 'recorded'
GROUP BY 1
"""
# One statement for all of them, each of which has one row.
FIGURES = "SELECT * FROM " + ", ".join(  # noqa: S608  # constants
    f"({statement}) AS part{number}"
    for number, statement in enumerate((APPROVALS, MARKS, OPEN, LAG))
)


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Numbers of one organisation's actions that were asked for in a period. Times are seconds;
    None where there was nothing to measure."""

    rows: int
    actions: tuple[tuple[str, str, int], ...]  # action type, status, number
    refusals: tuple[tuple[str, int], ...]  # reason, number
    asked: int
    approved: int
    rejected: int
    expired: int
    seconds_to_decide: float | None
    open_attempts: int
    recalled: int
    rates_hit: int
    undone: int
    erasures: int
    exports: int
    policy_changes: int
    incidents: int
    clocks_apart: int
    lag_median: float | None
    lag_p99: float | None
    lag_measured: int

    def of_status(self, status: str) -> int:
        return sum(number for _, one, number in self.actions if one == status)


def count_period(*, tenant_id: UUID, since: datetime, until: datetime) -> Tally:
    """Count what was asked for from `since` until before `until`."""
    given = {
        "tenant": tenant_id,
        "lo": ids.floor(since),
        "hi": ids.floor(until),
        "sample": SAMPLE,
        "apart": CLOCKS_APART,
    }
    period = Filters(tenant_id=tenant_id, since=since, until=until)
    actions = queries.select_matching(period).exclude(status="recorded").order_by()
    actions = actions.exclude(action_type__startswith="ledger.")
    blocked = queries.select_between(
        queries.select_phases().filter(tenant_id=tenant_id, phase="blocked"),
        since=since,
        until=until,
    )
    by_status, by_reason = (
        rows.annotate(of=Value(of), second=second)
        .values_list("of", first, "second")
        .annotate(number=Count("id"))
        for rows, of, first, second in (
            (actions, "actions", "action_type", F("status")),
            (blocked.order_by(), "refusals", "decision_reason", Value("")),
        )
    )
    counted = list(by_status.union(by_reason, all=True))
    found = _fetch(FIGURES, given)
    asked, approved, rejected, expired, seconds = found[:5]
    recalled, rates, undone, erasures, exports, changes, incidents, apart, rows = found[5:14]
    open_attempts, lag_median, lag_p99, measured = found[14:]
    return Tally(
        rows=rows,
        actions=tuple(sorted(tuple(one) for of, *one in counted if of == "actions")),
        refusals=tuple(
            sorted(
                ((reason, number) for of, reason, _, number in counted if of == "refusals"),
                key=lambda one: (-one[1], one[0]),
            )
        ),
        asked=asked,
        approved=approved,
        rejected=rejected,
        expired=expired,
        seconds_to_decide=_round(seconds),
        open_attempts=open_attempts,
        recalled=recalled,
        rates_hit=rates,
        undone=undone,
        erasures=erasures,
        exports=exports,
        policy_changes=changes,
        incidents=incidents,
        clocks_apart=apart,
        lag_median=_round(lag_median),
        lag_p99=_round(lag_p99),
        lag_measured=measured,
    )


@dataclass(frozen=True, kw_only=True)
class MonthTally:
    """How many attempts of a month were done (or already so), refused and failed, and how many
    questions people were asked."""

    done: int = 0
    refused: int = 0
    failed: int = 0
    asked: int = 0


def count_months(*, tenant_id: UUID, months: Sequence[Month]) -> dict[Month, MonthTally]:
    """What was asked for in each of these months. One statement."""
    bounds = [month.bounds for month in months]
    given: dict[str, Any] = {
        "tenant": tenant_id,
        "lo": [ids.floor(since) for since, _ in bounds],
        "hi": [ids.floor(until) for _, until in bounds],
    }
    found = dict.fromkeys(months, MonthTally())
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(MONTHS, given)
        for number, done, refused, failed, asked in cursor.fetchall():
            found[months[number]] = MonthTally(
                done=done, refused=refused, failed=failed, asked=asked
            )
    return found


def _fetch(statement: str, given: dict[str, Any]) -> tuple[Any, ...]:
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(statement, given)
        found: tuple[Any, ...] = cursor.fetchone()
    return found


def _round(value: Any) -> float | None:
    return None if value is None else max(0.0, round(float(value), 2))
