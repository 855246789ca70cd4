"""Pages about what the ledger keeps: erasing contents, legal holds, months that leave, and an
organisation's end. Each says first what would happen; each act needs a right of its own."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from audit.contracts import LEDGER_TENANT
from audit.keeping import end, erasure, retention
from audit.ledger import ids, people
from audit.ledger.months import Month
from audit.ledger.timeline import moment
from audit.models import ExecutedAgentAction
from guardrails.facts.text import visible
from integrations.contracts.field_types import uuid_or_none
from integrations.models import Organisation
from integrations.web import staff
from integrations.web.admin_pages import choose_organisation, operator

REASON_LIMIT = 300
AT_ONCE = 10_000  # rows that one press of a button erases: some seconds
REFUSED = (
    *(erasure.Held, erasure.NotPermitted, end.CannotEnd),
    *(retention.CannotDrop, ValueError),
)


@dataclass(frozen=True, kw_only=True)
class KeepingPage:
    """One of the pages: who may act on it and what shows and does it."""

    do_not_call_in_templates: ClassVar[bool] = True  # its name and address are shown

    name: str
    route: str  # below that of the first one, to which the sidebar leads
    title: str
    right: str
    load_context: Callable[[HttpRequest, Organisation], dict[str, Any]]
    done: Callable[[HttpRequest, Organisation], str]
    of_all: bool = False  # about every organisation at once: for superusers alone

    def is_for(self, user: Any) -> bool:
        return not (self.of_all and staff.is_bound(user))

    @property
    def url(self) -> str:
        return reverse(f"admin:guardrails_ledger_{self.name}")

    def __call__(self, request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
        if not self.is_for(request.user):
            raise PermissionDenied
        organisations, organisation = choose_organisation(request)
        may_act = request.user.has_perm(self.right)
        if request.method == "POST":
            if not may_act or organisation is None:
                raise PermissionDenied
            if "_look" not in request.POST:
                return self.act(request, organisation)
        elif request.method != "GET":
            return HttpResponseNotAllowed(["GET", "POST"])
        context |= {
            "title": self.title,
            "tabs": [page for page in PAGES if page.is_for(request.user)],
            "tab": self.name,
            "organisations": organisations,
            "organisation": organisation,
            "may_act": may_act,
        }
        if organisation:
            try:
                context |= self.load_context(request, organisation)
            except REFUSED as error:
                messages.error(request, str(error))
        return TemplateResponse(request, f"guardrails/ledger_{self.name}.html", context)

    def act(self, request: HttpRequest, organisation: Organisation) -> HttpResponse:
        try:
            messages.success(request, self.done(request, organisation))
        except REFUSED as error:
            messages.error(request, str(error))
        return redirect(f"{self.url}?{urlencode({'organisation': organisation.slug})}")


def reason(request: HttpRequest) -> str:
    """Why, as the person wrote it. Raises ValueError where it is missing."""
    given = request.POST.get("reason", "").strip()[:REASON_LIMIT]
    if not given:
        raise ValueError("Say why, in a few words without names: it is kept in the ledger.")
    return given


def scope(request: HttpRequest, organisation: Organisation) -> erasure.Scope:
    """What is to be erased. Raises ValueError where that is not clear."""
    what, about = request.POST.get("what", ""), request.POST.get("about", "").strip()
    if what == "user" and about:
        return erasure.Scope(tenant_id=organisation.id, on_behalf_of=about)
    if what == "action" and (action_id := uuid_or_none(about)):
        return erasure.Scope(tenant_id=organisation.id, action_id=action_id)
    raise ValueError("Name the user or the action: a user's id, or an action's id.")


def show_erasure(request: HttpRequest, organisation: Organisation) -> dict[str, Any]:
    given = {name: request.POST.get(name, "") for name in ("what", "about", "reason")}
    if request.method != "POST":
        return {"given": given | {"what": "user"}}
    chosen = scope(request, organisation)
    reason(request)
    return {"given": given, "count": erasure.select_rows(chosen).count()}


def erase(request: HttpRequest, organisation: Organisation) -> str:
    chosen, why = scope(request, organisation), reason(request)
    count = erasure.select_rows(chosen).count()
    if str(count) != request.POST.get("count"):
        raise ValueError(f"It would be {count} rows now. Nothing was erased: count again.")
    who = operator(request)
    action_id, erased = erasure.erase(chosen, reason=why, actor_id=who, at_most=AT_ONCE)
    done = f"The contents of {erased} rows are erased: action {action_id}."
    if erased >= count:
        return done
    return (
        f"{done} {count - erased} are left: do the same again, or erase them all with "
        "manage.py redact_ledger."
    )


def show_legal_holds(request: HttpRequest, organisation: Organisation) -> dict[str, Any]:
    rows = erasure.list_legal_holds(organisation.id)
    names = people.find_names(rows)
    held = [
        {
            "id": row.action_id,
            "row": row.id,
            "field": f"reason-{row.id}",
            "whom": f"the rows of user {visible(_user(row, names))}"
            if row.on_behalf_of
            else "everything of the organisation",
            "since": moment(ids.moment(row.action_id)),
            "by": visible(people.call(row.tenant_id, row.actor_id, names)),
        }
        for row in rows
    ]
    return {"legal_holds": held}


def _user(row: ExecutedAgentAction, names: people.Names) -> str:
    called = people.call_user(row.tenant_id, row.on_behalf_of, names)
    return people.with_id(called, row.on_behalf_of)


def change_legal_hold(request: HttpRequest, organisation: Organisation) -> str:
    about: dict[str, Any] = {
        "tenant_id": organisation.id,
        "reason": reason(request),
        "actor_id": operator(request),
    }
    released = uuid_or_none(request.POST.get("release", ""))
    if released is None:
        everything = request.POST.get("what") == "everything"
        user = "" if everything else request.POST.get("user", "").strip()
        if not user and not everything:
            raise ValueError("Name the user, or choose everything.")
        action_id = erasure.set_legal_hold(on_behalf_of=user, **about)
        return f"The legal hold {action_id} is in force."
    if not erasure.release_legal_hold(released, **about):
        raise ValueError("This organisation has no such legal hold in force.")
    return f"The legal hold {released} is released."


def show_retention(request: HttpRequest, organisation: Organisation) -> dict[str, Any]:
    """Months leave for all organisations at once."""
    now, keep = timezone.now(), settings.LEDGER_KEEP_MONTHS
    given = request.POST.get("before") or str(retention.find_oldest_to_keep(keep or 24, now=now))
    names = {one.id: one.name for one in Organisation.objects.all()} | {
        LEDGER_TENANT: "rows about the ledger itself"
    }
    me = retention.name_person(operator(request))
    proposals = retention.list_proposals(now=now)
    by = people.name_each((None, one.actor_id) for one in proposals)
    context: dict[str, Any] = {
        "before": given,
        "keep": keep,
        "proposals": [
            asdict(one)
            | {
                "before": one.before,
                "at": moment(one.at),
                "by": visible(by[None, one.actor_id]),
                "is_mine": retention.name_person(one.actor_id) == me,
            }
            for one in proposals
        ],
    }
    try:
        plan = retention.plan(Month.parse(given), now=now)
    except ValueError:
        raise ValueError(f"“{given[:20]}” is not a month such as 2025-11.") from None
    except retention.CannotDrop as error:
        return context | {"refused": str(error)}
    parts = [(names.get(part.tenant_id, str(part.tenant_id)), part) for part in plan.parts]
    return context | {"plan": plan, "parts": parts}


def cut(request: HttpRequest, organisation: Organisation) -> str:
    now, who = timezone.now(), operator(request)
    if confirmed := uuid_or_none(request.POST.get("confirm", "")):
        return f"Done. {retention.confirm(confirmed, actor_id=who, now=now).sentence}"
    plan = retention.plan(Month.parse(request.POST.get("before", "")), now=now)
    if plan.digest != request.POST.get("digest"):
        raise ValueError("What would leave has changed meanwhile. Look at it again.")
    retention.propose(plan, reason=reason(request), actor_id=who)
    return "Proposed. Another person has seven days to confirm it; until then nothing changes."


def show_end(request: HttpRequest, organisation: Organisation) -> dict[str, Any]:
    query = urlencode({"tenant_id": organisation.id})
    return {
        "state": end.load_state(organisation.id),
        "bundle_url": f"{reverse('admin:audit_ledger_export', args=['bundle'])}?{query}",
    }


def finish(request: HttpRequest, organisation: Organisation) -> str:
    if request.POST.get("typed", "").strip() != organisation.name:
        raise ValueError(f"Type the organisation's name, {organisation.name}, as it is written.")
    tenant_id: UUID = organisation.id
    why, who = reason(request), operator(request)
    erased = end.end(tenant_id, reason=why, actor_id=who, at_most=AT_ONCE)
    done = f"The ledger of {organisation.name} has ended: the contents of {erased} rows are erased."
    left = erasure.select_rows(erasure.Scope(tenant_id=tenant_id)).count()
    if not left:
        return done
    return (
        f"{done} Those of {left} more cannot be read any longer, and are not erased yet: go on "
        "below, or erase them all with manage.py end_ledger."
    )


PAGES = (
    KeepingPage(
        name="erasure",
        route="keeping/",
        title="Erase contents",
        right="audit.erase_contents",
        load_context=show_erasure,
        done=erase,
    ),
    KeepingPage(
        name="legal_holds",
        route="keeping/holds/",
        title="Legal holds",
        right="audit.hold_contents",
        load_context=show_legal_holds,
        done=change_legal_hold,
    ),
    KeepingPage(
        name="retention",
        route="keeping/months/",
        title="Old months",
        right="audit.drop_months",
        of_all=True,
        load_context=show_retention,
        done=cut,
    ),
    KeepingPage(
        name="end",
        route="keeping/end/",
        title="An organisation's end",
        right="audit.end_ledger",
        load_context=show_end,
        done=finish,
    ),
)
