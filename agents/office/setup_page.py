"""Guided setup: from a connected account to one safe action that is switched on. How far it is
follows from the rows themselves, so it can be left and taken up again at any step.

Rules that are chosen wait in shadow (`guardrails.policies.shadow`), those of a mailbox while they
are tried on past mail: nothing is live before somebody switches it on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from agents import tasks
from agents.models import PastRun
from agents.office import setup_picks, setup_policy
from agents.past import runs
from guardrails.actions.registry import BY_NAME
from guardrails.models import AllowedAction, AllowedActionOption, ShadowPolicy
from guardrails.policies import changes, picking, presets, shadow
from guardrails.policies.recorded_admin import author
from guardrails.policies.text import PolicyFileError
from integrations.models import Account
from integrations.ports.registry import BY_SOURCE, writable
from integrations.web import staff
from integrations.web.admin_pages import operator

RIGHTS = ("integrations.view_account", "guardrails.view_allowedaction")
TRIED = 100  # mails
ACCOUNTS = 200  # to choose from
# Seen by nobody else, and undone with one click.
SAFE = {"mail": ("classify", "archive")}
PICK_RIGHTS = ("guardrails.add_allowedactionoption", "guardrails.delete_allowedactionoption")
SWITCH_RIGHTS = ("guardrails.add_allowedaction", "guardrails.change_allowedaction")
ADOPT_RIGHTS = tuple(
    f"guardrails.{verb}_{model}"
    for verb in ("add", "change", "delete")
    for model in ("allowedaction", "allowedactionoption", "targetgroup")
)


@dataclass(frozen=True, kw_only=True)
class Step:
    name: str
    title: str
    is_done: bool


def view(request: HttpRequest) -> HttpResponse:
    """`?account=`: where its setup stands, and the next step. A POST does what a button says."""
    if not request.user.has_perms(RIGHTS):
        raise PermissionDenied
    accounts = staff.bind(Account.objects.all(), request.user, "organisation")
    accounts = accounts.select_related("organisation").order_by("external_user_id", "source")
    account = _chosen(accounts, request.GET.get("account", ""))
    if request.method == "POST" and account:
        _DO.get(request.POST.get("step", ""), _nothing)(request, account)
        return redirect(f"{reverse('setup')}?{urlencode({'account': account.pk})}")
    waiting = setup_policy.find_waiting(account)
    steps = _steps(account, waiting)
    current = next((step.name for step in steps if not step.is_done), "")
    context = admin.site.each_context(request) | {
        "title": "Set up",
        "accounts": accounts[:ACCOUNTS],
        "account": account,
        "steps": steps,
        "current": current,
        "done": sum(step.is_done for step in steps),
    }
    return TemplateResponse(request, "agents/setup.html", context | _details(account, waiting))


def _chosen(accounts: Any, key: str) -> Account | None:
    """The account that the address names, else a mailbox without rules, else the first account."""
    try:
        named = accounts.filter(pk=key).first() if key else None
    except (ValueError, ValidationError):
        named = None
    mailboxes = accounts.filter(source__in=writable("mail"))
    fresh = mailboxes.exclude(id__in=AllowedAction.objects.values("account_id")).first()
    chosen: Account | None = named or fresh or mailboxes.first() or accounts.first()
    return chosen


def _steps(account: Account | None, waiting: ShadowPolicy | None) -> list[Step]:
    kind = BY_SOURCE[account.source].kind if account else "mail"
    policy = AllowedAction.objects.filter(account=account)
    listed = AllowedActionOption.objects.filter(account=account)
    found = [Step(name="connect", title="Connect", is_done=account is not None)]
    if _is_read_only(account):
        return found
    if account is None or setup_picks.list_uses(account):
        found.append(
            Step(
                name="pick",
                title="Pick what it may touch",
                is_done=bool(account) and listed.exists(),
            )
        )
    found.append(
        Step(
            name="preset",
            title="Choose its rules",
            is_done=bool(account) and (waiting is not None or policy.exists()),
        )
    )
    on = policy
    if kind in SAFE:
        tried = setup_policy.list_trials(account, waiting).filter(state=PastRun.State.DONE)
        found.append(Step(name="try", title="Try it", is_done=bool(account) and tried.exists()))
        on = policy.filter(action_type__in=SAFE[kind], enabled=True, approval_mode="auto")
    found.append(
        Step(
            name="switch",
            title="Switch it on",
            is_done=bool(account) and waiting is None and on.exists(),
        )
    )
    return found


def _is_read_only(account: Account | None) -> bool:
    """Whether nothing can be done there, whatever rules it has."""
    return account is not None and not BY_SOURCE[account.source].is_writable


def _details(account: Account | None, waiting: ShadowPolicy | None) -> dict[str, Any]:
    if account is None:
        return {}
    if _is_read_only(account):
        return {"is_read_only": True}
    kind = BY_SOURCE[account.source].kind
    picks, problem = setup_picks.list_picks(account)
    policy = {row.action_type: row for row in AllowedAction.objects.filter(account=account)}
    back = f"{reverse('setup')}?{urlencode({'account': account.pk})}"
    return {
        "picks": picks,
        "problem": problem,
        "presets": [
            (
                preset,
                urlencode(
                    {
                        "account": account.pk,
                        "preset": name,
                        "next": back,
                        "later": setup_policy.NOTE,
                    }
                ),
            )
            for name, preset in presets.list_for(account).items()
        ],
        "has_policy": bool(policy),
        "waiting": waiting,
        "tried": setup_policy.list_trials(account, waiting).order_by("-created_at").first(),
        "how_many": TRIED,
        "safe": [
            (
                BY_NAME[name],
                (row := policy.get(name)) and row.enabled and row.approval_mode == "auto",
            )
            for name in SAFE.get(kind, ())
        ],
    }


def _pick(request: HttpRequest, account: Account) -> None:
    """What is ticked is listed, and what is not is listed no more."""
    _need(request, *PICK_RIGHTS)
    picks, problem = setup_picks.list_picks(account)
    for one in picks:
        picking.pick(one.use, request.POST.getlist(one.field), author=author(request))
    if picks:
        setup_policy.renew(account, author=author(request))
        messages.success(request, "The agent may touch what is ticked, and nothing else of these.")
    else:
        messages.error(request, problem)


def _try(request: HttpRequest, account: Account) -> None:
    _need(request, "agents.add_pastrun")
    waiting = setup_policy.find_waiting(account)
    wanted = runs.Wanted(
        last=TRIED,
        is_trial=True,
        writes_drafts=True,
        policy=waiting.content if waiting else None,
    )
    if not runs.find_mails(account.ref(), wanted):
        messages.warning(request, "No mail of this account was read in yet. Come back when it was.")
        return
    try:
        tasks.start_past_run(account.ref(), wanted, by=operator(request))
    except runs.AlreadyOpen:
        messages.warning(request, "A run over past mail is not over yet. Look at it first.")
    else:
        messages.success(request, "It is being tried. Nothing is done to any mail.")


def _switch(request: HttpRequest, account: Account) -> None:
    """One safe action is done without asking from now on, or asks again. Rules that wait become
    live by it, but all else that they would do unasked asks a person."""
    _need(request, *SWITCH_RIGHTS)
    name = request.POST.get("action", "")
    if name not in SAFE.get(BY_SOURCE[account.source].kind, ()):
        return
    on = request.POST.get("on") == "1"
    with transaction.atomic():
        if on and not _adopt(request, account, unasked=frozenset({name})):
            return
        _save(request, account, name, is_on=on)
    title = BY_NAME[name].title
    said = "is done without asking from now on" if on else "asks a person first from now on"
    messages.success(request, f"“{title}” {said}.")


def _go_live(request: HttpRequest, account: Account) -> None:
    """The rules that wait become live as they are, or so that all they permit asks first."""
    _need(request, *SWITCH_RIGHTS)
    asks_first = request.POST.get("asks_first") == "1"
    if setup_policy.find_waiting(account) and _adopt(
        request, account, unasked=frozenset() if asks_first else None
    ):
        how = (
            "Whatever they permit asks a person first."
            if asks_first
            else "They hold as you read them."
        )
        messages.success(request, f"Its rules are switched on. {how}")


def _save(request: HttpRequest, account: Account, name: str, *, is_on: bool) -> None:
    row = AllowedAction.objects.filter(account=account, action_type=name, resource_type="").first()
    row = row or AllowedAction(
        account=account, action_type=name, conditions=[{"kind": "sender_authenticated"}]
    )
    row.enabled, row.approval_mode = True, "auto" if is_on else "ask"
    with changes.recording(AllowedAction, [row.pk], author=author(request)):
        row.full_clean()
        row.save()


def _adopt(request: HttpRequest, account: Account, *, unasked: frozenset[str] | None) -> bool:
    """Make the rules that wait live, where there are any; False where they cannot be."""
    waiting = setup_policy.find_waiting(account)
    if waiting is None:
        return True
    _need(request, *ADOPT_RIGHTS)
    if request.POST.get("waiting") != str(waiting.pk):
        messages.error(request, "Other rules were chosen meanwhile. Look at them first.")
        return False
    try:
        shadow.adopt(account, author=author(request), unasked=unasked)
    except PolicyFileError as error:
        messages.error(request, f"{error} Nothing was changed.")
        return False
    return True


def _nothing(request: HttpRequest, account: Account) -> None:
    messages.error(request, "There is no such step.")


def _need(request: HttpRequest, *rights: str) -> None:
    if not request.user.has_perms(rights):
        raise PermissionDenied


_DO: Mapping[str, Callable[[HttpRequest, Account], None]] = {
    "pick": _pick,
    "try": _try,
    "switch": _switch,
    "live": _go_live,
}
