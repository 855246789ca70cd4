from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from audit import months, tasks
from audit.contracts import LEDGER_TENANT
from audit.models import ExecutedAgentAction
from audit.months import Month

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def alarms() -> "Alarms":
    return Alarms()


class Alarms:
    """Alarms recorded since the test began: other tests' rows stay in the ledger."""

    def __init__(self) -> None:
        self.rows = ExecutedAgentAction.objects.filter(
            tenant_id=LEDGER_TENANT, action_type=tasks.ALARM
        )
        self.before = self.rows.count()

    def count(self) -> int:
        return self.rows.count() - self.before


def test_the_task_is_quiet_while_months_are_made(alarms: Alarms) -> None:
    tasks.keep_months_ahead()
    assert months.problems(months.made(), now=timezone.now()) == []
    assert alarms.count() == 0


def test_the_alarm_is_recorded_ten_days_before_the_last_month_ends_once_a_day(
    alarms: Alarms,
) -> None:
    last = Month.of(timezone.now())
    end = datetime.combine(last.following.first, datetime.min.time(), tzinfo=UTC)
    tasks.warn(last, now=end - timedelta(days=10, seconds=1))
    assert alarms.count() == 0
    tasks.warn(last, now=end - timedelta(days=10))
    tasks.warn(last, now=end - timedelta(days=10))
    assert alarms.count() == 1
    row = alarms.rows.latest("id")
    assert (row.phase, row.status) == ("control", "recorded")


def test_a_month_that_cannot_be_made_does_not_stop_the_task(
    alarms: Alarms, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> list[Month]:
        raise OperationalError("permission denied")

    monkeypatch.setattr(months, "make_ahead", refused)
    monkeypatch.setattr(months, "made", lambda: [Month(date(2026, 1, 1))])
    monkeypatch.setattr(tasks, "AGAIN", timedelta(0))
    tasks.keep_months_ahead()
    assert alarms.count() == 1
