"""What the task cluster does for the ledger. Running a task twice changes nothing."""

import logging
from datetime import datetime, timedelta

from django.db import DatabaseError
from django.utils import timezone

from audit.contracts import LEDGER_TENANT
from audit.ledger import events, months
from audit.ledger.ids import floor
from audit.models import ExecutedAgentAction
from audit.verification import verify

ALARM = "ledger.months_end"
BEFORE = timedelta(days=10)
AGAIN = timedelta(days=1)
RECENT = timedelta(days=35)

log = logging.getLogger(__name__)


def keep_months_ahead() -> None:
    """Make the next months. Where that fails, the ledger itself says so before they end."""
    try:
        months.make_ahead()
    except DatabaseError as error:
        log.error("ledger.months_not_made: %s", error)
    warn(months.list_months()[-1], now=timezone.now())


def verify_recent() -> None:
    """Every night: what was asked for or sealed in the last 35 days. Each result is recorded."""
    _verify(timezone.now() - RECENT)


def verify_everything() -> None:
    """Every month: the whole ledger."""
    _verify(None)


def _verify(since: datetime | None) -> None:
    for one in verify.verify(since=since):
        if one.findings:
            log.error(
                "ledger.does_not_verify tenant=%s findings=%s", one.tenant_id, len(one.findings)
            )


def warn(last: months.Month, *, now: datetime) -> None:
    """Record, once a day, that the ledger's `last` month ends within ten days."""
    end = last.following.first
    if end - now.date() > BEFORE:
        return
    alarms = ExecutedAgentAction.objects.filter(
        tenant_id=LEDGER_TENANT, action_type=ALARM, action_id__gte=floor(now - AGAIN)
    )
    if alarms.exists():
        return
    sentence = f"The ledger's last month ends on {end}. There is no later one."
    events.record(ALARM, tenant_id=LEDGER_TENANT, payload={"sentence": sentence})
