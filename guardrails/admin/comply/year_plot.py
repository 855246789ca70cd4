"""The plot of a year on the page for auditors: what was done, refused and failed in each month."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.cache import caches
from django.urls import reverse
from django.utils import timezone

from audit.ledger.months import Month
from audit.ledger.tally import MonthTally, count_months
from integrations.models import Organisation

HEIGHT, BAR, STEP = 100, 20, 28
PRESENT_SECONDS, OVER_SECONDS = 60, 24 * 3600  # a month that is over changes no more
PARTS = ("done", "refused", "failed")


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One part of one month's bar, in units of the drawing."""

    part: str
    x: int
    y: str
    height: str


def draw(organisation: Organisation, months: Sequence[Month]) -> dict[str, Any]:
    """The plot's values, the oldest month first. One query at most."""
    counted = _count(organisation, sorted(months))
    heights = [sum(getattr(one, part) for part in PARTS) for one in counted.values()]
    highest = max(heights)
    return {
        "width": STEP * len(counted) - (STEP - BAR),
        "height": HEIGHT,
        "bar_width": BAR,
        "highest": highest,
        "months": [
            {
                "bars": list(_stack(one, x=number * STEP, highest=highest)),
                "title": (
                    f"{month.first:%B %Y}: {one.done:,} done, {one.refused:,} refused, "
                    f"{one.failed:,} failed; people asked: {one.asked:,}"
                ),
                "link": _link(organisation, month),
            }
            for number, (month, one) in enumerate(counted.items())
        ],
        "first": min(counted).first,
        "last": max(counted).first,
        "totals": [(part, sum(getattr(one, part) for one in counted.values())) for part in PARTS],
    }


def _count(organisation: Organisation, months: Sequence[Month]) -> dict[Month, MonthTally]:
    cache, present = caches["quick"], Month.of(timezone.now())
    keys = {month: f"ledger-month:{organisation.id}:{month}" for month in months}
    known = cache.get_many(keys.values())
    missing = [month for month in months if keys[month] not in known]
    counted = count_months(tenant_id=organisation.id, months=missing) if missing else {}
    for month, one in counted.items():
        seconds = PRESENT_SECONDS if month == present else OVER_SECONDS
        cache.set(keys[month], one, seconds)
    return {month: known.get(keys[month]) or counted[month] for month in months}


def _stack(one: MonthTally, *, x: int, highest: int) -> Any:
    top = float(HEIGHT)
    for part in PARTS:
        if number := getattr(one, part):
            height = HEIGHT * number / highest
            top -= height
            yield Bar(part=part, x=x, y=f"{top:.2f}", height=f"{height:.2f}")


def _link(organisation: Organisation, month: Month) -> str:
    query = urlencode({"organisation": organisation.slug, "month": str(month)})
    return f"{reverse('admin:guardrails_ledger_auditor')}?{query}"
