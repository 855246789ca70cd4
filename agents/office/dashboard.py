"""Figures of the last day, and what is open."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.apps import apps
from django.contrib import admin
from django.db.models import Count
from django.db.models.functions import TruncHour
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django_q.models import OrmQ

from agents.answer import escalations
from agents.journal import leases
from agents.models import Turn
from audit.ledger import timeline
from audit.ledger.selectors import count_by_status
from audit.seals.progress import load_progress
from audit.verification import verify
from guardrails.approve import change_request_rows
from guardrails.approve.cards import list_cards
from guardrails.comply import incidents, recipients, time_stamps
from guardrails.models import Approval
from integrations.models import Delivery, Organisation
from integrations.web.admin_pages import choose_organisation
from integrations.web.counts import count_up_to
from knowledge.models import SyncSource

HOURS = 24
MANY = 100  # how far open things are counted: beyond, “more than” is enough
CARDS = 5
NEWEST = 5_000  # actions of the ledger that are counted
PLOT_HEIGHT, BAR_WIDTH, BAR_STEP = 100, 20, 24
STATES = tuple(Delivery.State)
Rights = Callable[[str], bool]  # by the name of a list in addresses


def page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """The dashboard of one of somebody's organisations: what they have the right to see. A fixed
    number of queries. Raises Http404 where the address names an organisation that is not theirs."""
    organisations, chosen = choose_organisation(request)
    context |= {"title": "Dashboard", "organisations": organisations, "organisation": chosen}
    if chosen:
        context |= figures(chosen, _rights_of(request), now=timezone.now())
    return TemplateResponse(request, "agents/dashboard.html", context)


def _rights_of(request: HttpRequest) -> Rights:
    """Whether somebody meets the rows of a model in the admin."""

    def may_view(name: str) -> bool:
        app, _, model = name.rpartition("_")
        registered = admin.site._registry[apps.get_model(app, model)]
        return bool(registered.has_view_permission(request))

    return may_view


def figures(organisation: Organisation, may_view: Rights, *, now: datetime) -> dict[str, Any]:
    since = now - timedelta(hours=HOURS)
    found: dict[str, Any] = {"since": timeline.moment(since)}
    if may_view("integrations_delivery"):
        found |= _deliveries(organisation, since, now=now)
    if may_view("audit_executedagentaction"):
        actions = count_by_status(tenant_id=organisation.id, since=since, newest=NEWEST)
        found |= {
            "actions": action_rows(actions, organisation),
            "newest": NEWEST if actions.total() == NEWEST else 0,
            "sealing": load_progress(organisation.id),
            "verified": verify.find_last(organisation.id, now=now),
            "undelivered": recipients.problems(organisation.id, now=now),
            "unstamped": time_stamps.problems(now=now),
            "incidents": incidents.open_count(organisation.id, now=now),
        }
    waiting = 0
    if may_view("guardrails_approval"):
        cards = list_cards(organisation_id=organisation.id, state="pending", limit=CARDS)
        rows = Approval.objects.filter(organisation=organisation, state=Approval.State.PENDING)
        waiting = rows.order_by().values("question").distinct()[: MANY + 1].count()
        found["waiting"] = [
            {
                "description": timeline.reveal(card.description),
                "user": card.external_user_id,
                "link": reverse("admin:guardrails_approval_change", args=[card.id]),
            }
            for card in cards
        ]
    tiles = open_things(organisation, since, waiting=waiting)
    found["open_things"] = [tile for name, tile in tiles if may_view(name)]
    return found


def _deliveries(organisation: Organisation, since: datetime, *, now: datetime) -> dict[str, Any]:
    hourly = Counter(
        {
            (row["hour"], row["state"]): row["number"]
            for row in Delivery.objects.filter(organisation=organisation, received_at__gte=since)
            .annotate(hour=TruncHour("received_at"))
            .values("hour", "state")
            .annotate(number=Count("id"))
            .order_by()
        }
    )
    return {
        "deliveries": delivery_rows(hourly, organisation),
        "received": sum(hourly.values()),
        "plot": plot(hourly, now=now),
    }


def delivery_rows(
    hourly: Counter[tuple[datetime, str]], organisation: Organisation
) -> list[dict[str, Any]]:
    totals: Counter[str] = Counter()
    for (_, state), number in hourly.items():
        totals[state] += number
    address = reverse("admin:integrations_delivery_changelist")
    return [
        {
            "state": state.value,
            "label": state.label,
            "number": totals[state.value],
            "link": f"{address}?"
            + urlencode({"state__exact": state.value, "organisation__id__exact": organisation.id}),
        }
        for state in STATES
    ]


def action_rows(actions: Counter[str], organisation: Organisation) -> list[dict[str, Any]]:
    address = reverse("admin:audit_executedagentaction_changelist")
    return [
        {
            "status": status,
            "number": number,
            "colour": timeline.COLOURS.get(status, ""),
            "link": f"{address}?"
            + urlencode({"status": status, "tenant_id": organisation.id, "hours": HOURS}),
        }
        for status, number in sorted(actions.items())
    ]


def open_things(
    organisation: Organisation, since: datetime, *, waiting: int
) -> list[tuple[str, dict[str, Any]]]:
    """Tiles, each with the name of the list that it leads to."""
    of = {"organisation__id__exact": organisation.id}
    waiting_turns = leases.list_waiting(now=timezone.now())
    found = count_up_to(
        MANY + 1,
        requests=change_request_rows.list_open(organisation.id),
        handed=escalations.list_open(organisation.id),
        failed=Turn.objects.filter(
            organisation=organisation, created_at__gte=since, state=Turn.State.FAILED
        ),
        turns=waiting_turns.filter(organisation=organisation),
        syncing=SyncSource.objects.filter(
            run__organisation=organisation, state__in=["queued", "running"]
        ),
        tasks=OrmQ.objects.all(),
    )
    return [
        _tile("Questions that wait", waiting, "guardrails_approval", state__exact="pending"),
        _tile(
            "Open change requests",
            found["requests"],
            "guardrails_changerequest",
            state__exact="open",
            **of,
        ),
        _tile("Handed to a person", found["handed"], "agents_escalation", **of),
        _tile("Failed turns", found["failed"], "agents_turn", state__exact="failed", **of),
        _tile(
            "Turns that wait for a process",
            found["turns"],
            "agents_turn",
            state__exact="queued",
            **of,
        ),
        _tile("Syncs in progress", found["syncing"], "knowledge_syncsource"),
        _tile("Tasks in the queue", found["tasks"], "django_q_ormq"),
    ]


def _tile(label: str, number: int, name: str, **filters: Any) -> tuple[str, dict[str, Any]]:
    address = reverse(f"admin:{name}_changelist")
    return name, {
        "label": label,
        "number": str(number) if number <= MANY else f"more than {MANY}",
        "link": f"{address}?{urlencode(filters)}" if filters else address,
    }


def plot(hourly: Counter[tuple[datetime, str]], *, now: datetime) -> dict[str, Any]:
    """Stacked bars, one an hour, as rectangles of an SVG."""
    last = now.replace(minute=0, second=0, microsecond=0)
    hours = [last - timedelta(hours=HOURS - index) for index in range(HOURS + 1)]
    sums = [sum(hourly[hour, state.value] for state in STATES) for hour in hours]
    highest = max(sums)
    bars = []
    for index, hour in enumerate(hours):
        top = float(PLOT_HEIGHT)
        for state in STATES:
            height = PLOT_HEIGHT * hourly[hour, state.value] / highest if highest else 0.0
            top -= height
            if height:
                bars.append(
                    {
                        "x": index * BAR_STEP,
                        "y": f"{top:.2f}",
                        "height": f"{height:.2f}",
                        "state": state.value,
                    }
                )
    busiest = hours[sums.index(highest)]
    return {
        "bars": bars,
        "width": BAR_STEP * len(hours),
        "height": PLOT_HEIGHT,
        "bar_width": BAR_WIDTH,
        "highest": highest,
        "first": f"{hours[0]:%a %H:%M} UTC",
        "last": f"{hours[-1]:%a %H:%M} UTC",
        "summary": f"{sum(sums)} deliveries, at most {highest} in the hour from "
        f"{busiest:%H:%M} UTC."
        if highest
        else "No deliveries.",
    }
