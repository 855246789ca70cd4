"""The admin's first page."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from agents.activity import figures, rows, selection
from agents.activity.offers import BUTTONS
from agents.activity.outcomes import Outcome
from agents.activity.selection import KINDS, Wanted
from guardrails.comply import incidents
from integrations.accounts.names import find_names, label
from integrations.models import Organisation
from integrations.web.admin_pages import choose_organisation
from integrations.web.cursors import Place

RIGHTS = ("integrations.view_delivery", "agents.view_turn")
PAGE_SIZE = 30
MANY = 200  # organisations and people to choose from
CONTROL = (
    "border border-base-200 bg-white rounded-default px-3 py-2 min-w-0 dark:bg-base-900 "
    "dark:border-base-700"
)


class Filters(forms.Form):
    """What is chosen on the page. What cannot be read chooses nothing out."""

    words = forms.CharField(
        label="Words", required=False, max_length=200, empty_value="", strip=True
    )
    person = forms.CharField(required=False, empty_value="", widget=forms.Select)
    kind = forms.ChoiceField(
        label="What came", required=False, choices=[("", "Everything"), *KINDS.items()]
    )
    outcome = forms.ChoiceField(
        label="What became of it", required=False, choices=[("", "Everything"), *Outcome.choices]
    )
    since = forms.DateField(label="From", required=False)
    until = forms.DateField(label="To", required=False)
    id = forms.UUIDField(required=False, widget=forms.HiddenInput)
    reason = forms.CharField(
        required=False, max_length=64, empty_value="", widget=forms.HiddenInput
    )

    def __init__(self, given: Any) -> None:
        super().__init__(given, label_suffix="")
        for name in ("since", "until"):
            self.fields[name].widget = forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})
        self.fields["words"].widget.attrs |= {"type": "search", "placeholder": "Subject, sender…"}
        for field in self.fields.values():
            field.widget.attrs["class"] = CONTROL

    def offer(self, names: Mapping[str, str]) -> None:
        """These users to choose from."""
        offered = ((one, label(one, name)) for one, name in sorted(names.items()))
        self.fields["person"].widget.choices = [("", "Everybody"), *offered]


def context(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The activity of one organisation, for those who may see deliveries and turns. A fixed
    number of queries."""
    may_see = bool(getattr(request.user, "has_perms", lambda _: False)(RIGHTS))
    context |= {
        "title": "Activity",
        "model_is_offline": settings.MODEL_IS_OFFLINE,
        "may_see": may_see,
        "may_take_up": bool(getattr(request.user, "has_perms", lambda _: False)(BUTTONS)),
    }
    if may_see:
        organisations, chosen = choose_organisation(request)
        context |= {"organisations": organisations, "organisation": chosen}
        if chosen:
            context |= _activity(request, chosen)
    return context


def _activity(request: HttpRequest, organisation: Organisation) -> dict[str, Any]:
    filters = Filters(request.GET)
    filters.is_valid()
    chosen = {name: value for name, value in filters.cleaned_data.items() if value}
    before = Place.parse(request.GET.get("before", ""))
    wanted = Wanted(organisation_id=organisation.id, before=before, **chosen)
    found = selection.select(wanted, limit=PAGE_SIZE + 1)
    page = rows.render(found[:PAGE_SIZE], organisation_id=organisation.id)
    people = {row.person for row in page} | {chosen.get("person", "")} - {""}
    names = find_names(organisation.id, people, and_first=MANY)
    filters.offer(names)
    page = rows.named(page, names)
    query = {"organisation": organisation.slug} | {name: str(one) for name, one in chosen.items()}
    return {
        "incidents": _incidents(request, organisation),
        "filters": filters,
        "chosen": chosen,
        "reset": _address(organisation=organisation.slug),
        "days": _by_day(page),
        "older": _address(**query, before=str(page[-1].place)) if found[PAGE_SIZE:] else "",
        "newer": _address(**query) if before else "",
        "live": "off" if before else "on",
        "figures": None if before else _figures(organisation),
    }


def _incidents(request: HttpRequest, organisation: Organisation) -> int:
    """Those that nobody has looked into, for who may see the ledger."""
    if not request.user.has_perm("audit.view_executedagentaction"):
        return 0
    return incidents.open_count(organisation.id, now=timezone.now())


def _figures(organisation: Organisation) -> dict[str, Any]:
    found = figures.load(organisation.id, today=timezone.now().date())
    period = {
        "organisation": organisation.slug,
        "since": found.first.isoformat(),
        "until": found.last.isoformat(),
    }
    return {
        "value": found,
        "width": figures.STEP * figures.DAYS - (figures.STEP - figures.BAR),
        "height": figures.HEIGHT,
        "bar_width": figures.BAR,
        "bars": [
            (bar, _address(organisation=organisation.slug, **bar.query)) for bar in found.bars
        ],
        "totals": [
            (value, label, number, _address(**period, outcome=value))
            for value, label, number in found.totals
        ],
        "refused": [
            (sentence, number, _address(**period, reason=reason))
            for reason, sentence, number in found.refused
        ],
        "facts": _facts(found),
        "approvals": reverse("admin:guardrails_approval_changelist") + "?state__exact=pending",
    }


def _facts(found: figures.Figures) -> list[tuple[str, str]]:
    facts = [("Cost of models", f"{found.cost:,.2f} US$")]
    if found.without_model is not None:
        facts.append(("Mail without a model", f"{found.without_model:.0%}"))
    if found.decided_within is not None:
        facts.append(("People decided within", _took(found.decided_within.total_seconds())))
    return facts


def _took(seconds: float) -> str:
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} s"


def _by_day(found: list[rows.Row]) -> list[tuple[str, list[rows.Row]]]:
    days: dict[str, list[rows.Row]] = {}
    for row in found:
        days.setdefault(row.day, []).append(row)
    return list(days.items())


def link(organisation: Organisation, row_id: UUID) -> str:
    """Where the row of this delivery or turn stands."""
    return _address(organisation=organisation.slug, id=str(row_id))


def _address(**query: str) -> str:
    return f"{reverse('admin:index')}?{urlencode(query)}"
