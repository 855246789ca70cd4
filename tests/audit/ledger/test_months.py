"""The ledger lies in months, and a month has every guard that the whole has."""

from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import product
from uuid import UUID, uuid4

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.db import connections
from django.utils import timezone

from audit.database import guards
from audit.ledger import ids, ledger, months, selectors
from audit.ledger.months import Month
from audit.models import Leaf
from tests.audit import sealed
from tests.audit.entries import DRAFT, append_action, entry
from tests.audit.tampering import find_permitted, undoing

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
PARTS = ("audit_action", "audit_payload", "audit_artifact")


def at(month: Month) -> UUID:
    first = month.first
    return ids.assemble(ids.floor(datetime(first.year, first.month, 1, tzinfo=UTC)).int >> 80, 7)


def test_a_month_follows_the_one_before_also_over_the_turn_of_the_year() -> None:
    assert Month.of(datetime(2026, 12, 31, 23, 59, tzinfo=UTC)).following == Month(date(2027, 1, 1))
    assert Month(date(2027, 1, 1)).preceding == Month(date(2026, 12, 1))
    assert str(Month(date(2027, 1, 1))) == "2027-01"


def test_a_month_reaches_from_its_first_moment_to_that_of_the_next() -> None:
    assert Month.parse("2026-12").bounds == (
        datetime(2026, 12, 1, tzinfo=UTC),
        datetime(2027, 1, 1, tzinfo=UTC),
    )


def test_this_month_and_the_next_three_are_there_from_the_start() -> None:
    this = Month.of(timezone.now())
    ahead = this.following.following.following
    assert {this, this.following, this.following.following, ahead} <= set(months.list_months())
    assert months.make_ahead() == []


def test_all_phases_and_parts_of_an_action_lie_in_the_month_of_its_id() -> None:
    next_month = Month.of(timezone.now()).following
    attempt = entry(action_id=at(next_month), tenant_id=uuid4())
    ledger.append(attempt)
    ledger.append(replace(attempt, phase="outcome", status="succeeded", artifacts=(DRAFT,)))
    for part, rows in (("action", 2), ("payload", 2), ("artifact", 1)):
        with connections["ledger"].cursor() as cursor:
            cursor.execute(
                f"SELECT count(*) FROM audit_{part}_{next_month.suffix} WHERE tenant_id = %s",
                [attempt.tenant_id],
            )
            assert cursor.fetchone() == (rows,)
    with pytest.raises(ledger.AlreadyRecorded):
        ledger.append(attempt)


def test_the_first_and_the_last_millisecond_of_a_month_are_in_it() -> None:
    month = Month.of(timezone.now()).following
    first, following = at(month).int >> 80, at(month.following).int >> 80
    for milliseconds, part in ((first, month), (following - 1, month)):
        row = entry(
            phase="control", status="recorded", action_id=ids.assemble(milliseconds, 2**74 - 1)
        )
        ledger.append(row)
        with connections["ledger"].cursor() as cursor:
            cursor.execute(
                f"SELECT count(*) FROM audit_action_{part.suffix} WHERE action_id = %s",
                [row.action_id],
            )
            assert cursor.fetchone() == (1,)


@pytest.mark.parametrize("year", [2001, 2099])
def test_an_action_of_a_month_that_was_not_made_is_refused(year: int) -> None:
    wanted = entry(action_id=at(Month(date(year, 1, 1))))
    with pytest.raises(ledger.NoMonth, match=f"January {year}.*make_ledger_months"):
        ledger.append(wanted)
    assert selectors.recorded(wanted.action_id) == ()


def test_a_month_refuses_changes_by_sql() -> None:
    append_action(tenant_id=uuid4())
    present = [f"{part}_{Month.of(timezone.now()).suffix}" for part in PARTS]
    statements = (
        "UPDATE {} SET tenant_id = gen_random_uuid()",
        "DELETE FROM {}",
        "TRUNCATE {}",
        "SET session_replication_role = replica; DELETE FROM {}",
        "SET session_replication_role = replica; TRUNCATE {}",
    )
    assert find_permitted(one.format(month) for one in statements for month in present) == []


def test_a_weakened_guard_of_one_month_is_found() -> None:
    for part, name in product(PARTS, guards.KINDS):
        month = f"{part}_{Month.of(timezone.now()).following.suffix}"
        with undoing() as cursor:
            cursor.execute(f"ALTER TABLE {month} DISABLE TRIGGER {part}_{name}")
            found = guards.find_problems()
        assert found == [
            f"The trigger {part}_{name} on {month} is not ENABLE ALWAYS: it can be switched off."
        ]


def test_a_missing_month_is_made_with_all_its_guards_and_the_check_says_so_until_then() -> None:
    this = Month.of(timezone.now())
    last = months.list_months()[-1]
    with undoing() as cursor:
        for part in PARTS:
            cursor.execute(f"DROP TABLE {part}_{this.following.suffix}")
        warnings = [one for one in run_checks(databases=["default"]) if one.id == "audit.W002"]
        created = months.make_ahead()
        problems = guards.find_problems()
        missing = months.find_missing(months.list_months(), now=timezone.now())
    assert [one.msg for one in warnings] == [
        f"The ledger has no month {this.following}: what is asked for then is refused."
    ]
    assert created == [this.following]
    assert (problems, missing) == ([], [])
    assert months.list_months()[-1] == last


def test_the_command_says_what_there_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call_command("make_ledger_months")
    assert capsys.readouterr().out.startswith("Made none. The ledger's last month is 20")


def test_a_leaf_knows_the_month_of_its_row() -> None:
    tenant_id = uuid4()
    action_id = append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    assert set(Leaf.objects.filter(tenant_id=tenant_id).values_list("action_id", flat=True)) == {
        action_id
    }
