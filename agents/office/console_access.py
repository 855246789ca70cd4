"""Who may open the console and its pages, and as whom they act there."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from agents.office import console_words
from guardrails.facts.text import visible
from integrations.contracts.preferences import Preferences
from integrations.models import Account, Organisation
from integrations.models.preferences import load_preferences
from integrations.web import staff
from integrations.web.admin_pages import choose_organisation
from integrations.web.authentication import OWN_CONSOLE, OWN_SCOPES, RIGHTS
from integrations.web.languages import language_for, speaking, spoken
from knowledge.models import Item

USERS_SHOWN = 500
USE = "agents.use_console"
NO_SUBJECT = gettext_noop("(no subject)")
View = Callable[..., HttpResponseBase]


def may_use(user: Any) -> bool:
    """As any user of the organisation, or as the one that they are themself."""
    return bool(user.is_staff and (user.has_perm(USE) or user.has_perm(OWN_CONSOLE)))


def own_user(user: Any, organisation: Organisation) -> str | None:
    """As whom alone somebody may act there. Empty: as all; None: as nobody."""
    own = staff.own_user_id(user, organisation.id)
    return own if own or user.has_perm(USE) else None


def has_scope(user: Any, scope: str, *, is_own: bool) -> bool:
    """Whether somebody's session has this scope of the API: what a page has buttons for."""
    own = is_own and scope in OWN_SCOPES and user.has_perm(OWN_CONSOLE)
    return bool(own or user.has_perm(RIGHTS[scope]))


def for_operators(view: View) -> View:
    """Only for staff who may use the console, in the language that they chose or that the request
    asks for; who is not logged in is asked to."""
    return _guarded(view, may_use)


def for_staff(view: View) -> View:
    """As for_operators, but for everybody of the staff: pages about oneself."""
    return _guarded(view, lambda user: bool(user.is_staff))


def _guarded(view: View, may_open: Callable[[Any], bool]) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, **named: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        with speaking(language_for(request)):
            if not may_open(request.user):
                return render(request, "console/refused.html", status=403)
            try:
                return view(request, **named)
            except PermissionDenied:
                return render(request, "console/refused.html", status=403)
            except UnknownUser as error:
                return _say_unknown(request, error.chosen)

    return guarded


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Whom a page is about: one of the users whom somebody may act as. `users` are the first of
    these and the chosen one, each id with its name; `user_id` is empty where there is none. `zone`
    is of the account that was connected first."""

    organisations: tuple[Organisation, ...]
    organisation: Organisation | None
    users: tuple[tuple[str, str], ...]
    has_more_users: bool
    user_id: str
    is_own: bool
    account_ids: tuple[UUID, ...]
    zone: str

    @property
    def context(self) -> dict[str, Any]:
        """What the templates of all console pages get, in the language that is spoken."""
        return {
            "organisations": self.organisations,
            "organisation": self.organisation,
            "users": self.users,
            "has_more_users": self.has_more_users,
            "user_id": self.user_id,
            "is_own": self.is_own,
            "query": self.query,
            "words": console_words.render(),
        }

    @property
    def query(self) -> str:
        """What the links between console pages carry, so that each is about the same person."""
        wanted = {}
        if self.organisation and len(self.organisations) > 1:
            wanted["organisation"] = self.organisation.slug
        if self.user_id and not self.is_own:
            wanted["user"] = self.user_id
        return f"?{urlencode(wanted)}" if wanted else ""


class UnknownUser(Exception):
    """The address names somebody as whom they may not act there, or whom there is not. `chosen`
    has those whom they may choose from, and as its user the one that they are themself, if any."""

    def __init__(self, chosen: Chosen) -> None:
        super().__init__("There is no such user.")
        self.chosen = chosen


def _say_unknown(request: HttpRequest, chosen: Chosen) -> HttpResponse:
    """What to do about it, the same for who is another's and who is not there."""
    typed = visible(request.GET.get("user", ""), limit=200)
    with speaking_to(request, chosen.organisation, chosen.user_id, zone=chosen.zone):
        context = chosen.context | {"user_id": typed}
        return render(request, "console/unknown_user.html", context, status=404)


def choose_user(request: HttpRequest) -> Chosen:
    """The user that `?organisation=&user=` names, else the first; of the organisations the first
    in which they may act. Two queries at most. Raises PermissionDenied where somebody may act as
    nobody there, UnknownUser where the address names another than they may, Http404 where it names
    such an organisation."""
    met, chosen = choose_organisation(request)
    organisations = [one for one in met if own_user(request.user, one) is not None]
    if organisations and chosen not in organisations and not request.GET.get("organisation"):
        chosen = organisations[0]
    own = own_user(request.user, chosen) if chosen else ""
    if own is None:
        raise PermissionDenied
    rows = Account.objects.filter(organisation=chosen)
    offered = {} if own else _list_users(rows)
    wanted = request.GET.get("user", "")
    user_id = wanted or own or min(offered, default="")
    is_permitted = own in ("", user_id) and "\0" not in user_id
    accounts = rows.filter(external_user_id=user_id) if is_permitted and user_id else rows.none()
    found = list(accounts.order_by("created_at", "id"))
    users = dict(list(offered.items())[:USERS_SHOWN])
    if found:
        users[user_id] = max(found, key=lambda one: one.source).display_name
    said = Chosen(
        organisations=tuple(organisations),
        organisation=chosen,
        users=tuple(sorted(users.items())),
        has_more_users=len(offered) > USERS_SHOWN,
        user_id=user_id if found else "",
        is_own=bool(own),
        account_ids=tuple(one.id for one in found),
        zone=next((one.time_zone for one in found), "UTC"),
    )
    if wanted and not found:
        raise UnknownUser(replace(said, user_id=own))
    return said


def _list_users(rows: "QuerySet[Account]") -> dict[str, str]:
    """The names of the first users by their ids: one more than is shown, where there are more."""
    each = rows.order_by("external_user_id", "-source").distinct("external_user_id")
    return dict(each.values_list("external_user_id", "display_name")[: USERS_SHOWN + 1])


@contextmanager
def speaking_to(
    request: HttpRequest, organisation: Organisation | None, user_id: str, *, zone: str
) -> Iterator[str]:
    """Inside, pages are in the language that the user chose, where the page is their own, else in
    that of who reads (`language_for`): who acts as a user reads in their own language, and in
    the user's only where neither they nor their browser named one. Gives the user's time zone: that
    of their account where they named none. One query, and one for who is bound to nothing."""
    said = load_preferences(organisation.id, user_id) if organisation else Preferences()
    chosen, asked = spoken(said.language), language_for(request)
    own = staff.own_user_id(request.user, organisation.id) if organisation else ""
    is_own = own != "" and own == user_id
    with speaking((is_own and chosen) or asked or chosen):
        yield said.time_zone or zone


def list_items(wanted: Iterable[tuple[UUID, str]]) -> dict[tuple[UUID, str], tuple[str, str]]:
    """Title and page of the items that accounts have under these ids of the provider's, by both.
    What was not read, or is gone, is absent. One query."""
    pairs = set(wanted)
    rows = Item.objects.filter(
        account_id__in={account for account, _ in pairs},
        source_id__in={id for _, id in pairs},
        deleted_at=None,
    ).only("account_id", "source_id", "title")
    return {
        (row.account_id, row.source_id): (
            visible(row.title) or gettext(NO_SUBJECT),
            reverse("console-item", args=[row.id]),
        )
        for row in rows
    }
