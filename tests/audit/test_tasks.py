from datetime import UTC, date, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError
from django.utils import timezone

from audit import tasks
from audit.ledger import months
from audit.ledger.months import Month
from audit.models import ExecutedAgentAction

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def alarms(monkeypatch: pytest.MonkeyPatch) -> "Alarms":
    tenant_id = uuid4()  # other tests' alarms stay in the ledger
    monkeypatch.setattr(tasks, "LEDGER_TENANT", tenant_id)
    return Alarms(tenant_id)


class Alarms:
    def __init__(self, tenant_id: UUID) -> None:
        self.rows = ExecutedAgentAction.objects.filter(tenant_id=tenant_id)


def test_the_task_is_quiet_while_months_are_made(alarms: Alarms) -> None:
    tasks.keep_months_ahead()
    assert months.find_missing(months.list_months(), now=timezone.now()) == []
    assert alarms.rows.count() == 0


def test_the_alarm_is_recorded_ten_days_before_the_last_month_ends_once_a_day(
    alarms: Alarms,
) -> None:
    last = Month.of(timezone.now())
    end = datetime.combine(last.following.first, datetime.min.time(), tzinfo=UTC)
    tasks.warn(last, now=end - timedelta(days=10, seconds=1))
    assert alarms.rows.count() == 0
    tasks.warn(last, now=end - timedelta(days=10))
    tasks.warn(last, now=end - timedelta(days=10))
    assert alarms.rows.count() == 1
    row = alarms.rows.latest("id")
    assert (row.action_type, row.phase, row.status) == (tasks.ALARM, "control", "recorded")


def test_a_month_that_cannot_be_made_does_not_stop_the_task(
    alarms: Alarms, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> list[Month]:
        raise OperationalError("permission denied")

    monkeypatch.setattr(months, "make_ahead", refused)
    monkeypatch.setattr(months, "list_months", lambda: [Month(date(2026, 1, 1))])
    tasks.keep_months_ahead()
    assert alarms.rows.count() == 1
