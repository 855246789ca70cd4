"""What operators do about approvals: decide, several at once, change, hand on, escalate."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from unfold.admin import ModelAdmin

from guardrails.actions import registry
from guardrails.actions.base import AnyAction, InvalidArguments
from guardrails.admin import schema_form
from guardrails.admin.approvals import approval_page, like_ones
from guardrails.admin.approvals.like_ones import BATCH_MAX
from guardrails.approve import approvals, batch, cards, delegation, second_yes
from guardrails.approve.approval_rows import ApprovalConflict, with_account
from guardrails.approve.deciders import QUICK_SECONDS, list_deciders
from guardrails.facts.text import visible
from guardrails.models import Approval
from integrations.contracts.field_types import uuid_or_none
from integrations.web import staff
from integrations.web.admin_pages import choose_organisation, operator

REASON_MAX = 1000
DAYS = 30
LOOKED_THROUGH = 10  # of what waits, for the next one
PREFIX = "argument-"
INBOX = "admin:guardrails_approval_changelist"
View = Callable[..., HttpResponse]


def may_decide(request: HttpRequest) -> bool:
    return bool(request.user.has_perm(delegation.CODENAME))


def _met(request: HttpRequest) -> "QuerySet[Approval]":
    return staff.bind(with_account(), request.user, "organisation")


def urls(model_admin: ModelAdmin) -> list[URLPattern]:
    """The addresses of these pages, each for people who may decide."""
    site = model_admin.admin_site

    def page(route: str, name: str, view: View, *methods: str) -> URLPattern:
        def permitted(request: HttpRequest, **given: Any) -> HttpResponse:
            if request.method not in methods:
                return HttpResponseNotAllowed(methods)
            if not may_decide(request):
                raise PermissionDenied
            if "approval_id" in given:
                row = _met(request).filter(id=given["approval_id"]).first()
                if row is None:
                    messages.error(request, "There is no such approval.")
                    return redirect(INBOX)
                return view(request, row)
            return view(request, site.each_context(request))

        found: URLPattern = path(
            route, site.admin_view(permitted), name=f"guardrails_approval_{name}"
        )
        return found

    one = "<uuid:approval_id>/"

    def edit_page(request: HttpRequest, row: Approval) -> HttpResponse:
        return edit(request, row, site.each_context(request))

    return [
        page("batch/", "batch", decide_several, "GET", "POST"),
        page("deciders/", "deciders", deciders, "GET"),
        page(f"{one}decide/", "decide", decide, "POST"),
        page(f"{one}edit/", "edit", edit_page, "GET", "POST"),
        page(f"{one}delegate/", "delegate", delegate, "POST"),
        page(f"{one}escalate/", "escalate", escalate, "POST"),
    ]


def decide(request: HttpRequest, row: Approval) -> HttpResponse:
    """An operator's word, posted by the buttons of the page."""
    word = request.POST.get("word")
    given: dict[str, Any] = {
        "organisation_id": row.organisation_id,
        "approval_id": row.id,
        "decided_by": operator(request),
        "digest": request.POST.get("digest", ""),
    }
    if word not in ("confirm", "reject"):
        messages.error(request, "There is no such answer.")
        return redirect("admin:guardrails_approval_change", row.pk)
    next_one = row
    with report_errors(request):
        if word == "reject":
            result = approvals.reject(**given, reason=request.POST.get("reason", "")[:REASON_MAX])
        else:
            result = approvals.confirm(**given)
        tell(request, result.description, result.sentence, done=is_done(result))
        next_one = _next_after(request, row)
    return redirect("admin:guardrails_approval_change", next_one.pk)


def _next_after(request: HttpRequest, row: Approval) -> Approval:
    """What has waited longest of what still waits for this person's yes; where nothing does, this
    one."""
    by = operator(request)
    waiting = _met(request).filter(state=Approval.State.PENDING).exclude(id=row.id)
    others = waiting.exclude(first_yes_by=by).order_by("created_at", "id")[:LOOKED_THROUGH]
    return next((one for one in others if not second_yes.why_not(one, by)), row)


def decide_several(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Several cards under each other; the word counts for each ticked one for itself. `?like=`
    gives those that wait as one question with this one, `&after=` what follows, and `?ids=` any."""
    met = _met(request)
    like = like_ones.find(met, request.GET.get(like_ones.LIKE, ""))
    page = None
    if like and request.method == "GET":
        after = like_ones.find(met, request.GET.get(like_ones.AFTER, ""))
        page = like_ones.LikePage.load(met, like, after=after)
    named = request.GET if request.method == "GET" else request.POST
    ids = [found for text in named.get("ids", "").split(",") if (found := uuid_or_none(text))]
    chosen = met.filter(id__in=ids[:BATCH_MAX]).order_by("created_at", "id")
    rows = list(page.rows if page else chosen)
    if request.method == "POST":
        following = like_ones.link_following(met, like, rows[-1]) if like and rows else ""
        return _decide_ticked(request, rows, then=following or reverse(INBOX))
    waiting = [row for row in rows if row.state == Approval.State.PENDING]
    approval_page.note_shown(waiting)
    not_yours = {row.id: second_yes.why_not(row, operator(request)) for row in waiting}
    zones = cards.zones_of(rows)
    values = {
        "title": "Decide about several",
        "ids": ",".join(str(row.id) for row in rows),
        "rows": rows,
        "cards": [
            approval_page.context(row, zones[row.id]) | {"not_yours": not_yours.get(row.id, "")}
            for row in rows
        ],
        "waiting": len(waiting),
        "page": page,
        "may_say_yes": not all(not_yours.values()),
    }
    return TemplateResponse(request, "guardrails/batch.html", {**context, **values})


def _decide_ticked(request: HttpRequest, rows: list[Approval], *, then: str) -> HttpResponse:
    word = request.POST.get("word")
    ticked = [row for row in rows if str(row.id) in request.POST.getlist("ticked")]
    if word not in ("confirm", "reject") or not ticked:
        messages.warning(request, "Nothing was decided: tick the actions and choose an answer.")
        return redirect(approval_page.batch_link(row.id for row in rows))
    for row in ticked:
        (answer,) = batch.decide_all(
            [
                batch.Item(
                    approval_id=row.id,
                    digest=request.POST.get(f"digest-{row.id}", ""),
                    word="confirm" if word == "confirm" else "reject",
                    reason=request.POST.get("reason", "")[:REASON_MAX],
                )
            ],
            organisation_id=row.organisation_id,
            decided_by=operator(request),
        )
        done = answer.result is not None and is_done(answer.result)
        sentence = answer.result.sentence if answer.result else answer.sentence
        tell(request, row.description, sentence, done=done)
    return redirect(then)


def edit(request: HttpRequest, row: Approval, context: dict[str, Any]) -> HttpResponse:
    """A form of the action's schema. What it makes is another approval, shown next."""
    action = registry.BY_NAME.get(row.action_type)
    if action is None or row.state != Approval.State.PENDING:
        messages.warning(request, "This can no longer be changed.")
        return redirect("admin:guardrails_approval_change", row.pk)
    without = [action.object_field] if action.object_field else []
    fields = schema_form.fields(action.arguments, prefix=PREFIX, without=without)
    initial_values = schema_form.initial(action.arguments, row.arguments)
    initial = {PREFIX + name: value for name, value in initial_values.items()}
    form = type("EditForm", (forms.Form,), fields)(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            result = approvals.edit(
                organisation_id=row.organisation_id,
                approval_id=row.id,
                decided_by=operator(request),
                digest=request.POST.get("digest", ""),
                changes=_changes(action, form.cleaned_data, without),
            )
        except InvalidArguments as error:
            form.add_error(None, f"{error}.")
        except ApprovalConflict as conflict:
            messages.warning(request, str(conflict))
            return redirect("admin:guardrails_approval_change", row.pk)
        else:
            if result.status == "pending":
                messages.info(request, "Changed. Look at it and decide.")
                return redirect("admin:guardrails_approval_change", result.approval_id)
            form.add_error(None, visible(result.sentence))
    values = {"title": "Change an action", "form": form, **approval_page.context(row)}
    return TemplateResponse(request, "guardrails/edit_approval.html", {**context, **values})


def _changes(action: AnyAction, cleaned: dict[str, Any], without: list[str]) -> dict[str, Any]:
    """Every argument as the form has it; what was emptied is taken away."""
    given = schema_form.values(action.arguments, cleaned, prefix=PREFIX, without=without)
    return {name: given.get(name) for name in action.arguments.model_fields if name not in without}


def delegate(request: HttpRequest, row: Approval) -> HttpResponse:
    kind, name = request.POST.get("kind", ""), request.POST.get("name", "").strip()
    with report_errors(request):
        handed = delegation.delegate(
            organisation_id=row.organisation_id,
            approval_id=row.id,
            to=f"{kind}:{name}",
            by=operator(request),
            note=request.POST.get("note", "")[:REASON_MAX],
        )
        holder = handed.delegated_to or f"user:{handed.external_user_id}"
        name = visible(holder.partition(":")[2])
        messages.success(request, f"Now {name} decides, or an operator.")
    return redirect("admin:guardrails_approval_change", row.pk)


def escalate(request: HttpRequest, row: Approval) -> HttpResponse:
    with report_errors(request):
        delegation.escalate(
            organisation_id=row.organisation_id, approval_id=row.id, by=operator(request)
        )
        messages.success(request, "Marked for every operator. It is still waiting.")
    return redirect("admin:guardrails_approval_change", row.pk)


def deciders(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """How long each person takes over their decisions."""
    organisations, chosen = choose_organisation(request)
    since = timezone.now() - timedelta(days=DAYS)
    values = {
        "title": "How fast people decide",
        "organisations": organisations,
        "organisation": chosen,
        "days": DAYS,
        "quick": f"{QUICK_SECONDS:.0f}",
        "deciders": list_deciders(since=since, organisation_id=chosen.id) if chosen else (),
    }
    return TemplateResponse(request, "guardrails/deciders.html", {**context, **values})


@contextmanager
def report_errors(request: HttpRequest) -> Iterator[None]:
    """What could not be done is said on the next page."""
    try:
        yield
    except (ApprovalConflict, delegation.UnknownDelegate) as problem:
        messages.warning(request, str(problem))


def is_done(result: Any) -> bool:
    return result.status in ("succeeded", "noop") or result.reason in ("rejected", "first_yes")


def tell(request: HttpRequest, description: str, sentence: str, *, done: bool) -> None:
    say = messages.success if done else messages.warning
    say(request, f"{visible(description)}: {visible(sentence)}")
