"""Where auditors find all in one place: a month or days, a person by name, what that covers in
words, the bundle, the key and the verifier."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from audit.bundle.contents import Bundle
from audit.bundle.downloads import download
from audit.bundle.extent import NothingSealed
from audit.contracts import Filters
from audit.formats.export import Export
from audit.ledger.months import Month
from audit.models import Checkpoint
from audit.seals.progress import load_progress
from audit.verification import verify
from guardrails.admin.comply import year_plot
from guardrails.comply import evidence, health
from integrations.models import Account, Organisation
from integrations.web.admin_pages import choose_organisation, operator

PEOPLE = 500  # to choose from
FORMATS = ("bundle", "csv")


@dataclass(frozen=True, kw_only=True)
class Period:
    """Whole days in UTC, both ends included. `month`: the calendar month that they are, if any."""

    first: date
    last: date
    month: Month | None

    @property
    def bounds(self) -> tuple[datetime, datetime]:
        """Its first moment and the first one after it."""
        return _midnight(self.first), _midnight(self.last + timedelta(days=1))


class Chosen(forms.Form):
    """A month, or days instead of it, and a person."""

    month = forms.CharField(required=False, max_length=7)
    since = forms.DateField(required=False)
    until = forms.DateField(required=False)
    person = forms.CharField(required=False, max_length=200, empty_value="")

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        since, until = given.get("since"), given.get("until")
        if bool(since) != bool(until):
            raise forms.ValidationError("Give both days, the first and the last.")
        if since and until and until < since:
            raise forms.ValidationError("The last day is before the first one.")
        try:
            given["period"] = _period(given.get("month", ""), since, until)
        except ValueError as error:
            raise forms.ValidationError("There is no such month.") from error
        return given


def auditor_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponseBase:
    """Last month without a choice. `download=bundle` or `csv` gives the file, which is recorded."""
    if request.method != "GET":
        return HttpResponseNotAllowed(["GET"])
    organisations, organisation = choose_organisation(request)
    form = Chosen(request.GET)
    period = form.cleaned_data["period"] if form.is_valid() else _period("", None, None)
    context |= {
        "title": "For auditors",
        "organisations": organisations,
        "organisation": organisation,
        "form": form,
        "period": period,
    }
    if organisation:
        person = form.cleaned_data.get("person", "")
        people = _people(organisation, person)
        if person and person not in people:
            raise Http404("There is no such person.")
        context |= _about(organisation, period) | {"people": people.items(), "person": person}
        wanted = request.GET.get("download", "")
        if wanted in FORMATS and form.is_valid():
            try:
                return _download(request, organisation.id, period, person, wanted)
            except NothingSealed as error:
                messages.error(request, str(error))
                return redirect(reverse("admin:guardrails_ledger_auditor"))
    return TemplateResponse(request, "guardrails/auditor.html", context)


def _about(organisation: Organisation, period: Period) -> dict[str, Any]:
    found = health.health(organisation.id, month=period.month) if period.month else None
    months = _months()
    newest = Checkpoint.objects.filter(tenant_id=organisation.id).order_by("-size")
    return {
        "sentences": found.sentences if found else (),
        "sealing": load_progress(organisation.id),
        "verified": verify.find_last(organisation.id, now=timezone.now()),
        "key": newest.values_list("verifier_key", flat=True).first() or "",
        "months": months,
        "year": year_plot.draw(organisation, months[:12]),
        "evidence": evidence.load_map(
            since=period.first.isoformat(), until=(period.last + timedelta(days=1)).isoformat()
        ),
    }


def _people(organisation: Organisation, person: str) -> dict[str, str]:
    """The first users of the organisation and the person who is chosen, names by id."""
    rows = Account.objects.filter(organisation=organisation).order_by("external_user_id")
    pairs = [*rows.values_list("external_user_id", "display_name").distinct()[:PEOPLE]]
    if person and all(key != person for key, _ in pairs):
        chosen = rows.filter(external_user_id=person)
        pairs += chosen.values_list("external_user_id", "display_name")[:1]
    named = {key: name or key for key, name in pairs}
    return dict(sorted(named.items(), key=lambda one: one[1].casefold()))


def _download(
    request: HttpRequest, tenant_id: UUID, period: Period, person: str, format: str
) -> HttpResponseBase:
    since, until = period.bounds
    filters = Filters(
        tenant_id=tenant_id,
        since=since,
        until=until,
        on_behalf_of=frozenset({person} if person else ()),
    )
    actor = operator(request)
    if format == "csv":
        return download(
            Export(filters=filters, format="csv", actor_type="admin", actor_id=actor),
            request=request,
        )
    bundle = Bundle(filters=filters, actor_type="admin", actor_id=actor, with_derived=True)
    return download(bundle, request=request)


def _months() -> list[Month]:
    """The last twelve that are over, and the present one."""
    found = [Month.of(timezone.now())]
    while len(found) < 13:
        found.append(found[-1].preceding)
    return found


def _period(month: str, since: date | None, until: date | None) -> Period:
    """The days, where they are given, else the month, else the last one. Raises ValueError."""
    if since and until:
        return Period(first=since, last=until, month=None)
    found = Month.parse(month) if month else Month.of(timezone.now()).preceding
    last = found.following.first - timedelta(days=1)
    return Period(first=found.first, last=last, month=found)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
