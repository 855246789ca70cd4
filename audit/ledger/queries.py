"""Rows of the ledger as querysets, for the rooms of this app: other apps read values
(audit.ledger.selectors)."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db import connections
from django.db.models import (
    BooleanField,
    Exists,
    F,
    FilteredRelation,
    Func,
    OuterRef,
    Q,
    QuerySet,
    Value,
)

from audit.contracts import CLOCKS_APART, Filters, Status
from audit.ledger import ids
from audit.ledger.routing import LEDGER
from audit.models import ExecutedAgentAction

Rows = QuerySet[ExecutedAgentAction]
MOST_APART = 5_000
# CLOCKS_APART in words of the statement, as in the index of such rows: see `keep_about_ledger`.
APART = (
    "(recorded_at - occurred_at > '2 seconds'::interval"
    " OR recorded_at - occurred_at < '-2 seconds'::interval)"
)


def select_matching(filters: Filters, *, snapshot: str | None = None) -> Rows:
    """The latest phase of each action that matches. With `snapshot` (the text of a
    pg_snapshot) the ledger is looked at as it was then."""
    rows = select_latest(select_phases(snapshot)).filter(tenant_id=filters.tenant_id)
    if filters.account_id:
        rows = rows.filter(account_id=filters.account_id)
    if filters.action_type:
        rows = rows.filter(action_type=filters.action_type)
    if filters.status:
        rows = keep_status(rows, filters.status)
    if filters.run_id:
        rows = rows.filter(run_id=filters.run_id)
    if filters.on_behalf_of:
        rows = rows.filter(on_behalf_of__in=sorted(filters.on_behalf_of))
    if filters.clocks_apart:
        rows = rows.filter(has_clocks_apart())
    return select_between(rows, since=filters.since, until=filters.until)


def select_every_phase(filters: Filters, *, snapshot: str) -> Rows:
    """Every phase, with its payload, of each action that matched when `snapshot` was taken."""
    rows = select_with_payload(snapshot).filter(tenant_id=filters.tenant_id)
    if not filters.is_period:
        chosen = select_matching(filters, snapshot=snapshot)
        rows = rows.filter(Exists(chosen.filter(action_id=OuterRef("action_id"))))
    return select_between(rows, since=filters.since, until=filters.until)


def keep_about_ledger(rows: Rows) -> Rows:
    """Those about the ledger itself (`ledger.…`). The bounds stand in the statement and are no
    parameters: PostgreSQL plans a statement that it meets often for any parameters, and knows then
    of the index that holds such rows alone only what the words of the statement say."""
    return rows.filter(
        Func(
            F("action_type"),
            template="(%(expressions)s >= 'ledger.' AND %(expressions)s < 'ledger/')",
            output_field=BooleanField(),
        )
    )


def keep_status(rows: Rows, status: str) -> Rows:
    """Those of this status; none where there is no such status. It stands in the statement, as the
    bounds of `keep_about_ledger` do, for the index of rows that are neither pending nor succeeded.
    """
    if status not in get_args(Status):
        return rows.none()
    return rows.filter(
        Func(
            F("status"),
            template=f"(%(expressions)s = '{status}')",
            output_field=BooleanField(),
        )
    )


def select_between(rows: Rows, *, since: datetime | None, until: datetime | None) -> Rows:
    """Rows of actions asked for in this period."""
    if since:
        rows = rows.filter(action_id__gte=ids.floor(since))
    if until:
        rows = rows.filter(action_id__lt=ids.floor(until))
    return rows


def select_phases(snapshot: str | None = None) -> Rows:
    """Every row; with `snapshot` those that were committed when it was taken."""
    rows: Rows = ExecutedAgentAction.objects.all()
    if snapshot is None:
        return rows
    return rows.filter(
        Func(
            F("xact"),
            Value(snapshot),
            template="pg_visible_in_snapshot(%(expressions)s::pg_snapshot)",
            output_field=BooleanField(),
        )
    )


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """What is committed at one moment: the text of a pg_snapshot, the database's time, a place in
    its log behind all of it, and how many rows of an organisation are sealed."""

    text: str
    at: datetime
    written_until: str
    sealed: int


def take_snapshot(tenant_id: UUID | None = None) -> Snapshot:
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(
            "SELECT pg_current_snapshot()::text, clock_timestamp(),"
            " CASE WHEN pg_is_in_recovery() THEN '' ELSE pg_current_wal_insert_lsn()::text END,"
            " coalesce(max(size), 0)"
            " FROM audit_checkpoint WHERE tenant_id = %s",
            [tenant_id],
        )
        text, at, written_until, sealed = cursor.fetchone()
    return Snapshot(text=text, at=at, written_until=written_until, sealed=sealed)


def iterate_pages(rows: Rows, *, size: int = 1000) -> Iterator[list[ExecutedAgentAction]]:
    """`rows` action by action, oldest first, in pages: memory stays flat and no transaction
    is held open however long the reader takes."""
    rows = rows.order_by("action_id", "id")
    page = list(rows[:size])
    while page:
        yield page
        last = page[-1]
        behind = rows.filter(action_id__gte=last.action_id)
        page = list(behind.exclude(action_id=last.action_id, id__lte=last.id)[:size])


def select_latest(rows: Rows) -> Rows:
    """Of each action the row that says how it stands: the last one, where rows that only
    remark on it (status `recorded`) don't count if there is another."""
    others = rows.filter(tenant_id=OuterRef("tenant_id"), action_id=OuterRef("action_id"))
    says_more = ~Q(status="recorded")
    # Both by inequality: PostgreSQL would otherwise hash the whole ledger for one page.
    earlier, later = others.filter(id__lt=OuterRef("id")), others.filter(id__gt=OuterRef("id"))
    return rows.filter(
        (says_more & ~Exists(later.filter(says_more)))
        | (Q(status="recorded") & ~Exists(later) & ~Exists(earlier.filter(says_more)))
    )


def select_with_payload(snapshot: str | None = None) -> Rows:
    return join_payload(select_phases(snapshot))


def join_payload(rows: Rows) -> Rows:
    """`rows` with their payload as `content`, looked for in their own month only."""
    in_its_month = FilteredRelation("stored", condition=Q(stored__action_id=F("action_id")))
    annotate: Any = rows.annotate  # the types of filtered relations are not known
    found: Rows = annotate(content=in_its_month).select_related("content")
    return found


def keep_newest_apart(
    rows: Rows, *, tenants: Collection[UUID] | None, before: UUID | None = None
) -> Rows:
    """Those that have a row whose clocks are apart, as `has_clocks_apart` says, by the index of
    such rows: of the newest MOST_APART of them in these organisations (None: in all), of actions
    asked for before another. The ids are read first, into an array: PostgreSQL takes such rows for
    more than half, and would go through all actions for a page."""
    apart = select_phases().filter(Func(template=APART, output_field=BooleanField()))
    apart = apart if tenants is None else apart.filter(tenant_id__in=tenants)
    apart = apart.filter(action_id__lt=before) if before else apart
    newest = apart.order_by("-action_id").values("action_id")[:MOST_APART]
    is_one = Func(
        F("action_id"),
        ArraySubquery(newest),
        template="(%(expressions)s))",
        arg_joiner=" = ANY(",
        output_field=BooleanField(),
    )
    return rows.filter(is_one)


def has_clocks_apart() -> Exists:
    """Whether an action has a row whose worker's clock and the database's were more than
    CLOCKS_APART from each other: nobody can tell which of the two was right."""
    late, early = F("recorded_at") - CLOCKS_APART, F("recorded_at") + CLOCKS_APART
    # By inequality: PostgreSQL would otherwise hash the whole ledger, of all organisations.
    of_action = {"action_id__gte": OuterRef("action_id"), "action_id__lte": OuterRef("action_id")}
    rows = ExecutedAgentAction.objects.filter(tenant_id=OuterRef("tenant_id"), **of_action)
    return Exists(rows.filter(Q(occurred_at__lt=late) | Q(occurred_at__gt=early)))
