import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, get_args
from uuid import UUID, uuid4

import pytest
from django.db import connections, transaction
from django.test.utils import CaptureQueriesContext

from audit.contracts import Entry, Filters, Status
from audit.ledger import ids, ledger, months, queries, selectors
from tests.audit.entries import append_action, entry

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def append_all(first: Entry, *changes: dict[str, str]) -> UUID:
    for change in changes:
        ledger.append(replace(first, **change))  # type: ignore[arg-type]
    return first.action_id


def state(tenant_id: UUID) -> list[str]:
    page = selectors.actions(filters=Filters(tenant_id=tenant_id))
    return [f"{row.phase} {row.status}" for row in page.rows]


@pytest.mark.parametrize(
    ("phases", "stands"),
    [
        (["attempt pending"], "attempt pending"),
        (["attempt pending", "outcome succeeded"], "outcome succeeded"),
        (["control waiting", "control denied"], "control denied"),
        (["control waiting", "attempt pending", "outcome failed"], "outcome failed"),
        (["control waiting", "blocked blocked"], "blocked blocked"),
        (["attempt pending", "outcome succeeded", "control recorded"], "outcome succeeded"),
        (["attempt pending", "outcome unknown", "control succeeded"], "control succeeded"),
        (["outcome succeeded", "redaction recorded"], "outcome succeeded"),
        (["control recorded"], "control recorded"),
        (["control recorded", "control recorded"], "control recorded"),
        (["control recorded", "control waiting"], "control waiting"),
    ],
)
def test_an_action_stands_as_its_latest_telling_phase_says(phases: list[str], stands: str) -> None:
    first = entry()
    append_all(first, *(dict(zip(("phase", "status"), p.split(), strict=True)) for p in phases))
    assert state(first.tenant_id) == [stands]


def test_actions_are_paged_newest_first_and_stay_in_place_when_phases_follow() -> None:
    tenant_id = uuid4()
    made = [append_action(tenant_id=tenant_id, status="pending") for _ in range(5)]
    filters = Filters(tenant_id=tenant_id)
    first = selectors.actions(filters=filters, limit=2)
    assert [row.action_id for row in first.rows] == [made[4], made[3]]
    ledger.append(
        entry(tenant_id=tenant_id, action_id=made[0], phase="outcome", status="succeeded")
    )
    second = selectors.actions(filters=filters, limit=2, before=first.before)
    last = selectors.actions(filters=filters, limit=2, before=second.before)
    assert [row.action_id for row in second.rows + last.rows] == [made[2], made[1], made[0]]
    assert last.before is None


def test_filters_choose_actions_of_one_tenant_only() -> None:
    tenant_id, account_id = uuid4(), uuid4()
    wanted = append_action(
        tenant_id=tenant_id, account_id=account_id, run_id="turn-1", on_behalf_of="maya"
    )
    other = append_action(
        tenant_id=tenant_id, status="failed", action_type="draft", on_behalf_of="omar"
    )
    append_action(tenant_id=uuid4(), account_id=account_id, run_id="turn-1", on_behalf_of="maya")

    def found(**chosen: object) -> set[UUID]:
        filters = Filters(tenant_id=tenant_id, **chosen)  # type: ignore[arg-type]
        return {row.action_id for row in selectors.actions(filters=filters).rows}

    assert found() == {wanted, other}
    assert found(account_id=account_id) == {wanted}
    assert found(action_type="draft") == {other}
    assert found(status="failed") == {other}
    assert found(status="pending") == set()
    assert found(run_id="turn-1") == {wanted}
    assert found(on_behalf_of=frozenset({"omar"})) == {other}
    assert found(on_behalf_of=frozenset({"omar", "maya"})) == {wanted, other}
    runs = selectors.actions_of_run(tenant_id=tenant_id, run_id="turn-1")
    assert [row.action_id for row in runs] == [wanted]


def test_times_choose_by_when_the_action_was_asked_for() -> None:
    tenant_id = uuid4()
    with connections["ledger"].cursor() as cursor:
        cursor.execute("SELECT audit_make_month('2026-05-01')")
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    for at in (noon - timedelta(milliseconds=1), noon, noon + timedelta(hours=1)):
        ledger.append(
            entry(tenant_id=tenant_id, action_id=ids.assemble(ids.floor(at).int >> 80, 7))
        )
    filters = Filters(tenant_id=tenant_id, since=noon, until=noon + timedelta(hours=1))
    (row,) = selectors.actions(filters=filters).rows
    assert ids.moment(row.action_id) == noon
    assert selectors.count_by_status(tenant_id=tenant_id, since=noon, newest=9) == {"pending": 2}


def test_counts_are_of_actions_not_of_rows() -> None:
    tenant_id = uuid4()
    for status in ("succeeded", "succeeded", "failed", "pending"):
        append_action(tenant_id=tenant_id, status=status)
    since = datetime.now(UTC) - timedelta(hours=1)
    assert selectors.count_by_status(tenant_id=tenant_id, since=since, newest=9) == {
        "failed": 1,
        "pending": 1,
        "succeeded": 2,
    }
    few = selectors.count_by_status(tenant_id=tenant_id, since=since, newest=2)
    assert few == {"failed": 1, "pending": 1}


MONTHS = "SELECT relid FROM pg_partition_tree('audit_action')"


def plan_for_any_parameters(rows: queries.Rows) -> str:
    """As PostgreSQL plans a statement that it meets often, if it may not read a whole table and
    knows nothing of its rows. It looks at them whenever it likes, and other tests leave few."""
    statement, values = rows.query.sql_with_params()
    places = tuple(f"${number}" for number in range(1, len(values) + 1))
    given = ", ".join(f"'{value}'" for value in values)
    with connections["ledger"].cursor() as cursor, transaction.atomic(using="ledger"):
        cursor.execute(f"DELETE FROM pg_statistic WHERE starelid IN ({MONTHS})")
        cursor.execute(f"UPDATE pg_class SET relpages = 0, reltuples = -1 WHERE oid IN ({MONTHS})")
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"PREPARE often AS {statement % places}")
        cursor.execute(f"EXPLAIN EXECUTE often({given})")
        plan = "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute("DEALLOCATE often")
    return plan


def test_rows_about_the_ledger_are_found_by_their_index_by_a_plan_for_any_parameters() -> None:
    rows = queries.keep_about_ledger(queries.select_phases())
    plan = plan_for_any_parameters(rows.filter(tenant_id=uuid4(), action_type="ledger.end"))
    assert "tenant_id_action_type_action_id_id_idx" in plan


def test_rows_with_clocks_apart_are_found_by_their_index_in_every_month_by_such_a_plan() -> None:
    with connections["ledger"].cursor() as cursor:
        cursor.execute("SELECT audit_make_month('2026-04-01')")
    rows = queries.select_latest(queries.select_phases())
    found = queries.keep_newest_apart(rows, tenants=None)

    plan = plan_for_any_parameters(found.order_by("-action_id")[:51])

    for month in months.list_months():
        assert f"audit_action_{month.suffix}_action_id_tenant_id_idx" in plan
    # Until PostgreSQL 16 it is named by its parameter.
    assert re.search(r"action_id = ANY \((\(InitPlan|\$\d)", plan)


def test_the_index_of_clocks_apart_has_the_same_rows_as_the_mark_of_a_row() -> None:
    tenant_id, now = uuid4(), datetime.now(UTC)
    at = [timedelta(days=-400), timedelta(minutes=-5), timedelta(0), timedelta(hours=3)]
    made = [append_action(tenant_id=tenant_id, occurred_at=now + one) for one in at]
    rows = queries.select_latest(queries.select_phases()).filter(tenant_id=tenant_id)
    marked = rows.annotate(is_apart=queries.has_clocks_apart()).filter(is_apart=True)

    found = queries.keep_newest_apart(rows, tenants=[tenant_id])
    before = queries.keep_newest_apart(rows, tenants=[tenant_id], before=made[3])
    others = queries.keep_newest_apart(rows, tenants=[uuid4()])

    assert {row.action_id for row in found} == {made[0], made[1], made[3]}
    assert {row.action_id for row in marked} == {row.action_id for row in found}
    assert {row.action_id for row in before} == {made[0], made[1]}
    assert list(others) == []


RARE = sorted({*get_args(Status)} - {"pending", "succeeded"})


@pytest.mark.parametrize("status", RARE)
def test_rows_of_a_rare_status_are_found_by_its_index_in_every_month_by_a_plan_for_any_parameters(
    status: str,
) -> None:
    with connections["ledger"].cursor() as cursor:
        cursor.execute("SELECT audit_make_month('2026-04-01')")
    filters = Filters(tenant_id=uuid4(), status=status)
    rows = queries.select_matching(filters).order_by("-action_id", "-id")[:51]

    plan = plan_for_any_parameters(rows)

    for month in months.list_months():
        name = f"audit_action_{month.suffix}"
        assert f"using {name}_status_action_id_id_tenant_id_idx on {name} " in plan
    assert "Sort" not in plan


@pytest.mark.parametrize(
    ("chosen", "columns"),
    [
        ({"on_behalf_of": frozenset({"maya"})}, "tenant_id_on_behalf_of_action_id_id_idx"),
        ({"action_type": "archive"}, "tenant_id_action_type_action_id_id_idx1"),
    ],
)
def test_rows_of_a_person_or_type_are_found_by_their_index_by_a_plan_for_any_parameters(
    chosen: dict[str, Any], columns: str
) -> None:
    with connections["ledger"].cursor() as cursor:
        cursor.execute("SELECT audit_make_month('2026-04-01')")
    filters = Filters(tenant_id=uuid4(), **chosen)
    rows = queries.select_matching(filters).order_by("-action_id", "-id")[:51]

    plan = plan_for_any_parameters(rows)

    for month in months.list_months():
        name = f"audit_action_{month.suffix}"
        assert f"using {name}_{columns} on {name} " in plan
    assert "Sort" not in plan


def test_rows_of_no_status_that_there_is_are_none() -> None:
    filters = Filters(tenant_id=uuid4(), status="blocked' OR 'a' = 'a")
    append_action(tenant_id=filters.tenant_id)
    assert selectors.actions(filters=filters).rows == ()


def test_open_attempts_are_those_without_an_outcome_of_the_same_number() -> None:
    tenant_id = uuid4()
    began = datetime.now(UTC) - timedelta(seconds=1)
    closed = append_action(tenant_id=tenant_id)
    left_open = append_action(tenant_id=tenant_id, status="pending")
    ledger.append(entry(tenant_id=tenant_id, action_id=closed, attempt_no=2))
    soon = datetime.now(UTC) + timedelta(minutes=1)
    found = [
        (row.action_id, row.attempt_no)
        for row in selectors.open_attempts(older_than=soon, newer_than=began, limit=1000)
        if row.tenant_id == tenant_id
    ]
    assert found == [(closed, 2), (left_open, 1)]
    assert selectors.open_attempts(older_than=began, newer_than=began) == ()
    assert len(selectors.open_attempts(older_than=soon, newer_than=began, limit=1)) == 1


def test_a_page_of_actions_takes_one_query_whatever_its_size() -> None:
    tenant_id = uuid4()
    for _ in range(12):
        append_action(tenant_id=tenant_id)
    for limit in (2, 10):
        with CaptureQueriesContext(connections["ledger"]) as queries:
            page = selectors.actions(filters=Filters(tenant_id=tenant_id), limit=limit)
        assert len(page.rows) == limit
        assert len(queries) == 1
