"""A page about oneself: language, time zone, quiet hours, how one hears of what waits, how one logs
in, and what is connected. It is about nobody else, and everybody of the staff has one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zoneinfo import available_timezones

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import get_language_info, gettext, gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from agents.office import log_ins
from agents.office.console_access import Chosen, for_staff, may_use, speaking_to
from agents.office.own_settings import OwnSettings, read_own, store_own
from audit.contracts import LedgerError
from guardrails.approve.news import devices
from guardrails.approve.news.quiet import person_of
from guardrails.approve.speaking import fill, moment
from guardrails.models import ApprovalRecipient
from integrations.contracts.preferences import DAYS
from integrations.models import Account, Organisation, SignInIdentity
from integrations.web import sessions, staff
from integrations.web.admin_pages import choose_organisation, operator
from integrations.web.languages import LANGUAGES

Kind = ApprovalRecipient.Kind
CHANNELS = (Kind.SLACK, Kind.TEAMS)
IN_WORDS = {
    Kind.MAIL: gettext_noop("Mail to %(address)s"),
    Kind.SLACK: gettext_noop("Slack, channel “%(name)s”"),
    Kind.TEAMS: gettext_noop("Teams, channel “%(name)s”"),
    Kind.PUSH: gettext_noop("A browser, since %(day)s"),
}
WEEK = {
    "monday": gettext_noop("Monday"),
    "tuesday": gettext_noop("Tuesday"),
    "wednesday": gettext_noop("Wednesday"),
    "thursday": gettext_noop("Thursday"),
    "friday": gettext_noop("Friday"),
    "saturday": gettext_noop("Saturday"),
    "sunday": gettext_noop("Sunday"),
}
UNRECORDED = gettext_noop(
    "This could not be written into the ledger, so nothing was changed. Try again."
)


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way in which somebody hears of what waits. `problem` is why the last message did not
    arrive."""

    what: str
    when: tuple[str, ...]
    problem: str


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@for_staff
def page(request: HttpRequest) -> HttpResponse:
    """`?organisation=`, else the first of theirs. POST stores what they say of themselves."""
    chosen = _choose(request)
    with speaking_to(request, chosen.organisation, chosen.user_id, zone=chosen.zone) as zone:
        return _answer(request, chosen, zone)


@require_POST
@for_staff
def log_out(request: HttpRequest) -> HttpResponse:
    """In the browser that `session` names, or else everywhere but here."""
    log_ins.log_out(request, request.POST.get("session", ""))
    return redirect(f"{reverse('console-you')}?ended=1#logged-in")


def _choose(request: HttpRequest) -> Chosen:
    """Themselves, whatever else they may act as."""
    organisations, organisation = choose_organisation(request)
    own = staff.own_user_id(request.user, organisation.id) if organisation else ""
    rows = Account.objects.filter(organisation=organisation, external_user_id=own)
    accounts = list(rows.order_by("created_at", "id")) if own else []
    return Chosen(
        organisations=tuple(organisations),
        organisation=organisation,
        users=(),
        has_more_users=False,
        user_id=own,
        is_own=bool(own),
        account_ids=tuple(one.id for one in accounts),
        zone=next((one.time_zone for one in accounts), "UTC"),
    )


def _answer(request: HttpRequest, chosen: Chosen, zone: str) -> HttpResponse:
    user: Any = request.user
    organisation = chosen.organisation
    said = read_own(user, organisation, chosen.user_id)
    form, problem = OwnSettings(initial=said), ""
    if request.method == "POST":
        form = OwnSettings(request.POST, initial=said)
        if form.is_valid():
            try:
                store_own(
                    user, organisation, chosen.user_id, form.cleaned_data, by=operator(request)
                )
            except LedgerError:
                problem = gettext(UNRECORDED)
            else:
                named = f"organisation={organisation.slug}&" if organisation else ""
                return redirect(f"{reverse('console-you')}?{named}saved=1")
    context = chosen.context | devices.offer(user)
    context |= {
        "here": "console-you",
        "is_closed": not may_use(user),
        "form": form,
        "languages": list(_list_languages(said["language"])),
        "zones": sorted(available_timezones()),
        "zone": zone,
        "days": [(day, gettext(WEEK[day]), day in _ticked(form)) for day in DAYS],
        "is_saved": "saved" in request.GET and request.method != "POST",
        "problem": problem,
        "ways": list(_list_ways(user, organisation)),
        "has_password": user.has_usable_password(),
        "log_ins": list(_list_log_ins(request, zone)),
        "is_ended": "ended" in request.GET and request.method != "POST",
        "identities": _list_identities(user),
        "accounts": list(_list_accounts(chosen)),
    }
    return render(request, "console/you.html", context)


def _ticked(form: OwnSettings) -> list[str]:
    return list(form["quiet_days"].value() or ())


def _list_languages(chosen: str) -> Iterator[tuple[str, str]]:
    for tag in LANGUAGES:
        yield tag, str(get_language_info(tag)["name_local"]).capitalize()
    if chosen and chosen not in LANGUAGES:
        yield chosen, chosen


def _list_ways(user: Any, organisation: Organisation | None) -> Iterator[Way]:
    """By which somebody who decides hears: what reaches them alone, and the channels that all who
    decide read."""
    if organisation is None or devices.decides_for(user, organisation.id) is None:
        return
    rows = ApprovalRecipient.objects.filter(organisation=organisation)
    for row in rows.order_by("kind", "name", "added_at"):
        if row.kind in CHANNELS or person_of(row) == user.pk:
            yield _describe(row)


def _describe(row: ApprovalRecipient) -> Way:
    day = date_format(row.added_at, "SHORT_DATE_FORMAT")
    when = [
        fill("What nobody has decided after %(number)s minutes", number=row.after_minutes)
        if row.after_minutes
        else gettext("At once")
    ]
    if row.quiet_from and row.quiet_until:
        when.append(
            fill(
                "Never from %(begins)s to %(ends)s (%(zone)s)",
                begins=f"{row.quiet_from:%H:%M}",
                ends=f"{row.quiet_until:%H:%M}",
                zone=row.time_zone,
            )
        )
    if row.kind in CHANNELS:
        when.append(gettext("Your quiet hours do not hold it: others read it too"))
    problem = gettext("The last message did not arrive.") if row.problem else ""
    what = fill(IN_WORDS[Kind(row.kind)], address=row.address, name=row.name, day=day)
    return Way(what=what, when=tuple(when), problem=problem)


def _list_log_ins(request: HttpRequest, zone: str) -> Iterator[tuple[sessions.LoggedIn, str, str]]:
    """Each with when it began and in which hour it was last used, where that is known."""
    for one in sessions.list_open(request.user, request.session):
        if one.began_at and one.used_at:
            yield one, moment(one.began_at, zone), moment(one.used_at, zone)
        else:
            yield one, "", ""


def _list_identities(user: Any) -> list[str]:
    rows = SignInIdentity.objects.filter(user=user).order_by("issuer")
    return list(rows.values_list("issuer", flat=True))


def _list_accounts(chosen: Chosen) -> Iterator[dict[str, Any]]:
    rows = Account.objects.filter(id__in=chosen.account_ids).order_by("source", "address")
    for row in rows:
        yield {
            "id": row.id,
            "what": gettext(row.get_source_display()),
            "address": row.address,
            "is_paused": row.paused,
        }
