"""The page of kill switches: what is stopped, by whom and why, with one button each."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, ValidationError
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from audit.ledger import people
from audit.ledger.people_admin import PeopleAdmin
from audit.ledger.timeline import moment
from guardrails.actions import registry
from guardrails.admin.policies.trial import LASTS, chosen, describe
from guardrails.decide.snapshot import Switch
from guardrails.execute import switches
from guardrails.execute.switches import Scope
from guardrails.facts.text import visible
from guardrails.models import KillSwitch
from guardrails.policies import drafts, simulation, stopped
from guardrails.policies.recorded_admin import author
from integrations.models import Account, Organisation
from integrations.ports.registry import source_choices
from integrations.web.admin_pages import ReadOnlyAdmin, choose_organisation
from integrations.web.staff import is_bound, may_meet

ACCOUNTS_SHOWN = 50
UNSAID = "no reason was given"
EFFECTS = {
    "egress": "Whatever reaches other people",
    "destructive": "Whatever cannot be undone",
    "concealing": "Whatever hides something from its owner",
}


@dataclass(frozen=True, kw_only=True)
class Line:
    """One switch of the page, thrown or not."""

    title: str
    scope: dict[str, str]
    thrown: KillSwitch | None
    since: str = ""
    by: str = ""
    why: str = ""
    flippable: bool = True  # by those who may flip switches at all


@dataclass(frozen=True, kw_only=True)
class Group:
    """Switches of one sort. Those that people rarely look for are folded away while they run."""

    title: str
    lines: list[Line]
    is_open: bool = True


@admin.register(KillSwitch)
class SwitchAdmin(PeopleAdmin, ReadOnlyAdmin):
    """The list is one page with every switch; a row is the history of one throw."""

    empty = (
        "A switch stops agents: for one account, an organisation or everybody. Nothing was "
        "ever stopped."
    )

    list_display = ("thrown_at", "why", "thrown_by", "lifted_at", "lifted_by")
    list_select_related = ("organisation", "account")
    people = {"thrown_by": "Thrown by", "lifted_by": "Lifted by"}

    def get_urls(self) -> list[URLPattern]:
        flip = self.admin_site.admin_view(self.flip_view)
        return [path("flip/", flip, name="guardrails_killswitch_flip"), *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        organisations, chosen = choose_organisation(request)
        query = request.GET.get("q", "").replace("\0", "").strip()
        everything = _line(
            "Everything", Scope(), _thrown(None), flippable=not is_bound(request.user)
        )
        groups = _groups(chosen, query) if chosen else []
        context = {
            **self.admin_site.each_context(request),
            "title": "Stop",
            "organisations": organisations,
            "organisation": chosen,
            "query": query,
            "may_flip": may_flip(request),
            "everything": everything,
            "groups": groups,
            "all_is_stopped": everything.thrown or (groups and groups[0].lines[0].thrown),
        }
        return TemplateResponse(request, "guardrails/switches.html", context)

    def flip_view(self, request: HttpRequest) -> HttpResponse:
        """Throws or lifts one switch, posted by a button of the page."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not may_flip(request):
            raise PermissionDenied
        why = request.POST.get("why", "").strip()[:300]
        try:
            scope = _scope(request)
            if scope.organisation_id is None and is_bound(request.user):
                raise PermissionDenied  # it would stop organisations that they do not meet
            if "_try" in request.POST and scope.organisation_id:
                return self.try_first(request, scope)
            if request.POST.get("flip") != "on":
                _throw(request, scope, why or UNSAID)  # who stops in a hurry need not write
            elif why:
                _lift(request, scope, why)
            else:
                messages.error(request, "Say why, in a few words: it is kept in the ledger.")
        except (ValueError, ValidationError, ObjectDoesNotExist):
            messages.error(request, "There is no such switch.")
            scope = Scope()
        address = reverse("admin:guardrails_killswitch_changelist")
        if scope.organisation_id:
            slug = get_object_or_404(Organisation, id=scope.organisation_id).slug
            address += f"?organisation={slug}"
        return redirect(address)

    def try_first(self, request: HttpRequest, scope: Scope) -> HttpResponse:
        """The page of what would have been stopped. Raises ValidationError."""
        organisation = get_object_or_404(Organisation, id=scope.organisation_id)
        row = KillSwitch(**vars(scope), why="a draft", thrown_by="nobody")
        row.full_clean(exclude=["why", "thrown_by"])
        switch = Switch(
            id="",
            action_type=scope.action_type,
            source=scope.source,
            effect=row.effect,  # type: ignore[arg-type]  # one of its choices, as `clean` found
            why="draft",
        )
        replay = simulation.replay(
            lambda policy: drafts.with_switch(policy, switch),
            organisation_id=organisation.id,
            account_id=scope.account_id,
            **chosen(request),
        )
        context = self.admin_site.each_context(request) | describe(replay)
        what = f"A switch for {visible(str(row))}, on the last {LASTS[0]} decisions."
        return TemplateResponse(
            request, "guardrails/replay.html", context | {"what": what, "kept": None}
        )


def may_flip(request: HttpRequest) -> bool:
    return request.user.has_perm("guardrails.change_killswitch")


def _throw(request: HttpRequest, scope: Scope, why: str) -> None:
    thrown = switches.throw(scope, why=why, author=author(request))
    if thrown.recalled:
        messages.success(request, f"Held actions that were recalled: {thrown.recalled}.")
    if thrown.under_way:
        messages.warning(
            request,
            "Stopped: nothing new begins. Calls that began earlier and have no outcome yet: "
            f"{thrown.under_way}; the ledger will show it.",
        )
    else:
        messages.success(request, "Stopped. Nothing is under way any more.")


def _lift(request: HttpRequest, scope: Scope, why: str) -> None:
    row = KillSwitch.objects.filter(**vars(scope), lifted_at=None).first()
    handle = "_handle" in request.POST
    if row and switches.lift(switch_id=row.pk, why=why, author=author(request), handle=handle):
        meanwhile = " What arrived meanwhile is handled now." if handle else ""
        messages.success(request, f"{visible(str(row))} runs again.{meanwhile}")
    else:
        messages.info(request, "It was running already.")


def _scope(request: HttpRequest) -> Scope:
    """What the pressed button is about. Raises ValueError."""
    organisation, account = (request.POST.get(name, "") for name in ("organisation", "account"))
    organisation_id = UUID(organisation) if organisation else None
    if organisation_id and not may_meet(request.user, organisation_id):
        raise ValueError("There is no such organisation.")
    return Scope(
        organisation_id=organisation_id,
        account_id=UUID(account) if account else None,
        action_type=request.POST.get("action_type", ""),
        source=request.POST.get("source", ""),
        effect=request.POST.get("effect", ""),
    )


def _thrown(organisation: Organisation | None) -> list[tuple[KillSwitch, str]]:
    """Each switch of the organisation itself that is thrown, and who did it, in words."""
    rows = stopped.list_thrown(None if organisation is None else [organisation.id])
    found = list(rows.filter(organisation=organisation))
    words = people.name_each((row.organisation_id, row.thrown_by) for row in found)
    return [(row, words[row.organisation_id, row.thrown_by]) for row in found]


def _groups(organisation: Organisation, query: str) -> list[Group]:
    """Every switch of one organisation, by what it stops: the whole first. Three queries."""
    thrown = _thrown(organisation)
    key = organisation.id
    accounts = Account.objects.filter(organisation=organisation)
    if query:
        accounts = accounts.filter(
            Q(external_user_id=query) | Q(display_name__icontains=query) | Q(address=query)
        )
    rows = sorted(
        accounts.order_by("-paused", "external_user_id", "source")[:ACCOUNTS_SHOWN],
        key=lambda row: (not row.paused, row.external_user_id, row.source),
    )
    folded = {
        "Actions": [
            _line(title, Scope(organisation_id=key, action_type=name), thrown)
            for name, title in registry.action_choices()
        ],
        "Connectors": [
            _line(title, Scope(organisation_id=key, source=name), thrown)
            for name, title in source_choices()
        ],
        "Accounts": [
            _line(str(row), Scope(organisation_id=key, account_id=row.id), thrown) for row in rows
        ],
    }
    return [
        Group(
            title="Organisation",
            lines=[_line(f"All of {organisation.name}", Scope(organisation_id=key), thrown)],
        ),
        Group(
            title="What it does to others",
            lines=[
                _line(EFFECTS[name], Scope(organisation_id=key, effect=name), thrown)
                for name in EFFECTS
            ],
        ),
        *(
            Group(
                title=title,
                lines=lines,
                is_open=any(line.thrown for line in lines) or (title == "Accounts" and query != ""),
            )
            for title, lines in folded.items()
        ),
    ]


def _line(
    title: str, scope: Scope, thrown: list[tuple[KillSwitch, str]], *, flippable: bool = True
) -> Line:
    fields = vars(scope)
    row, by = next(
        (one for one in thrown if all(getattr(one[0], name) == fields[name] for name in fields)),
        (None, ""),
    )
    return Line(
        title=visible(title),
        scope={
            "organisation": str(scope.organisation_id or ""),
            "account": str(scope.account_id or ""),
            "action_type": scope.action_type,
            "source": scope.source,
            "effect": scope.effect,
        },
        thrown=row,
        since=moment(row.thrown_at) if row else "",
        by=visible(by),
        why=visible(row.why) if row else "",
        flippable=flippable,
    )
