"""One user's day: what was done, asked, refused and left alone, and what waits for them. The mail
about it (`agents.activity.digest_mail`) leads here."""

from datetime import date, timedelta
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from agents.activity import digests
from agents.activity.offers import BUTTONS
from agents.activity.page import MANY, RIGHTS
from integrations.accounts.names import label, list_names
from integrations.models import Organisation
from integrations.models.preferences import find_zones
from integrations.web.admin_pages import choose_organisation

EXAMPLES = 20


def view(request: HttpRequest) -> HttpResponse:
    """`?organisation=&person=&day=`; without a day it is the day before."""
    if not request.user.has_perms(RIGHTS):
        raise PermissionDenied
    organisations, chosen = choose_organisation(request)
    people = list_names(chosen.id, most=MANY) if chosen else {}
    person = request.GET.get("person", "")
    person = person if person in people else next(iter(people), "")
    context = admin.site.each_context(request) | {
        "title": "A user's day",
        "organisations": organisations,
        "organisation": chosen,
        "people": [(one, label(one, name)) for one, name in people.items()],
        "person": person,
        "called": people.get(person, person),
    }
    if chosen and person:
        context |= _show(request, chosen, person)
    return TemplateResponse(request, "agents/day.html", context)


def _show(request: HttpRequest, organisation: Organisation, person: str) -> dict[str, object]:
    zone = ZoneInfo(find_zones(organisation.id, [person]).get(person, "UTC"))
    today = timezone.now().astimezone(zone).date()
    day = min(_read_day(request.GET.get("day", "")) or today - timedelta(days=1), today)

    def address(other: date) -> str:
        query = {"organisation": organisation.slug, "person": person, "day": other.isoformat()}
        return f"{reverse('day')}?{urlencode(query)}"

    return {
        "day": digests.load_day(organisation.id, person, day, zone=zone, examples=EXAMPLES),
        "zone": zone.key,
        "before": address(day - timedelta(days=1)),
        "after": address(day + timedelta(days=1)) if day < today else "",
        "may_take_up": request.user.has_perms(BUTTONS),
        "may_decide": request.user.has_perm("guardrails.view_approval"),
    }


def _read_day(text: str) -> date | None:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    # The first and last days of the calendar have no neighbour, or no moment in every zone.
    return found if 1970 <= found.year <= 9000 else None
