"""The inbox of approvals: what waits for a person, and what they said."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import admin, messages
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import JSONObject
from django.forms import Script
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from unfold.decorators import display
from unfold.views import ChangeList

from audit.ledger import people
from guardrails.admin.approvals import approval_page, approval_views, like_ones
from guardrails.admin.approvals.approval_views import may_decide
from guardrails.admin.approvals.like_ones import BATCH_MAX, LikeFilter
from guardrails.admin.base import WaitingRowAdmin
from guardrails.approve import cards, second_yes
from guardrails.approve.news import devices
from guardrails.facts.text import about_of, heading_of, visible
from guardrails.models import Approval
from guardrails.models.approvals import WAITING_FIRST
from integrations.web.admin_pages import RowPage, operator
from integrations.web.bound_admin import AutocompleteFilter

APPROVAL_COLOURS = {
    "Waiting": "info",
    "Waiting, escalated": "danger",
    "Confirmed, being done": "info",
    "Confirmed and done": "success",
    "Confirmed, but failed": "danger",
    "Confirmed, but refused": "warning",
    "Rejected": "warning",
    "Expired": "warning",
}


class EscalatedFilter(admin.SimpleListFilter):
    title = "attention"
    parameter_name = "escalated"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "Escalated")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.exclude(escalated_at=None) if self.value() == "yes" else queryset


class DelegatedFilter(admin.SimpleListFilter):
    title = "who decides"
    parameter_name = "delegated"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("me", "Delegated to me or my groups"), ("any", "Delegated to anybody")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "any":
            return queryset.exclude(delegated_to="")
        if self.value() == "me":
            groups = request.user.groups.values_list("name", flat=True)
            names = [operator(request), *(f"group:{one}" for one in groups)]
            return queryset.filter(Q(delegated_to__in=names))
        return queryset


def together(row: Approval) -> Sequence[Mapping[str, str]]:
    """Id and description of each of the actions that wait as one question with this one; nothing
    where the list shows each for itself."""
    is_alone = row.state != Approval.State.PENDING or row.escalated_at is not None
    return () if is_alone else getattr(row, "like", ())


class Inbox(ChangeList):  # type: ignore[misc]
    """The list, where a row may stand for several actions."""

    def __init__(self, request: HttpRequest, *given: Any, **more: Any) -> None:
        self.may_decide = may_decide(request)
        super().__init__(request, *given, **more)

    def url_for_result(self, result: Approval) -> str:
        """Of a row that stands for several actions, the page that decides about all of them; for
        who may not decide, the list of each."""
        if len(together(result)) < 2:
            return str(super().url_for_result(result))
        return like_ones.link_page(result) if self.may_decide else like_ones.link_list(result)


@admin.register(Approval)
class ApprovalAdmin(RowPage, WaitingRowAdmin):
    """The inbox: what waits comes first, like actions as the one question that they are. Nothing
    can be edited here; people decide."""

    empty = "Where an action needs a person, its question comes here. Nothing waits for you."

    list_display = (
        "created_at",
        "headline",
        "about",
        "status",
        "account",
        "outcome",
    )
    list_display_links = ("created_at", "headline")
    list_filter = (
        "state",
        "action_type",
        ("account", AutocompleteFilter),
        EscalatedFilter,
        DelegatedFilter,
        LikeFilter,
        "organisation",
    )
    list_filter_submit = True
    list_select_related = ("account",)
    list_before_template = "guardrails/inbox.html"
    list_disable_select_all = False
    ordering = (WAITING_FIRST.asc(), "-created_at")
    search_fields = ("id", "action_id", "external_user_id", "turn_id")
    waits = Approval.State.PENDING
    search_help_text = (
        "A person, words of what waits, or the whole id of an approval, action, user or turn"
    )
    fields = ("account", "status", "action_id")
    readonly_fields = ("status",)
    row_related = ("account__organisation",)
    change_form_outer_before_template = "guardrails/approval.html"
    actions = ("decide_selected",)

    class Media:
        js = (
            "remit/inbox.js",
            Script("remit/push.js", type="module"),
            Script("remit/beside.js", type="module"),
        )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Approval]:
        """In the list only the first of like actions that wait, as long as the same people see to
        them; a search finds each of them."""
        rows: QuerySet[Approval] = super().get_queryset(request)
        if request.method != "GET" or not self._is_folded(request):
            return rows
        waiting = Approval.objects.filter(
            state=Approval.State.PENDING,
            escalated_at=None,
            organisation=OuterRef("organisation"),
            question=OuterRef("question"),
            delegated_to=OuterRef("delegated_to"),
        ).order_by("created_at", "id")
        first = waiting.values("id")[:1]
        alone = ~Q(state=Approval.State.PENDING) | Q(escalated_at__isnull=False)
        found: QuerySet[Approval] = rows.filter(alone | Q(id=Subquery(first))).annotate(
            like=ArraySubquery(waiting.values(one=JSONObject(id="id", description="description")))
        )
        return found

    def _is_folded(self, request: HttpRequest) -> bool:
        place = request.resolver_match
        is_list = place is not None and place.url_name == "guardrails_approval_changelist"
        return is_list and not (request.GET.get("q") or request.GET.get(like_ones.LIKE))

    @display(description="Action")  # type: ignore[untyped-decorator]
    def headline(self, row: Approval) -> str:
        found = together(row)
        if len(found) < 2:
            return visible(heading_of(row.description))
        each = (visible(heading_of(one["description"])) for one in found)
        headings = "; ".join(dict.fromkeys(each))
        return f"{len(found)} actions: {headings}"

    @display(description="Somebody's words")  # type: ignore[untyped-decorator]
    def about(self, row: Approval) -> str:
        more = len(together(row)) - 1
        said = visible(about_of(row.description)) or "-"
        return f"{said} and {more} more" if more > 0 else said

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """With the names of all whom its rows name, in one query."""
        page = super().get_changelist_instance(request)
        rows = page.result_list
        names = people.find((row.organisation_id, one) for row in rows for one in _named(row))
        for row in rows:
            vars(row)["names"] = names
        return page

    @display(description="State", label=APPROVAL_COLOURS)  # type: ignore[untyped-decorator]
    def status(self, row: Approval) -> str:
        escalated = row.state == Approval.State.PENDING and row.escalated_at
        return "Waiting, escalated" if escalated else row.get_state_display()

    @display(description="By whom")  # type: ignore[untyped-decorator]
    def outcome(self, row: Approval) -> str:
        """Who is asked; then who decided, with the seconds that it took them."""
        if row.state == Approval.State.PENDING:
            asked = cards.named(_asked(row), of=row.organisation_id, names=vars(row)["names"])
            return f"{asked} is asked"
        said = cards.handled(row, zone=row.account.time_zone, names=vars(row)["names"]) or "-"
        by_person = row.decided_at and row.state != Approval.State.EXPIRED
        return f"{said}, after {row.seconds_to_decide:.1f} s" if by_person else said

    @admin.action(description="Decide about the selected ones", permissions=["decide"])
    def decide_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        rows = queryset.filter(state="pending")
        if self._is_folded(request):
            rows = self.get_queryset(request).filter(
                state="pending", question__in=rows.values("question")
            )
        number = rows.count()
        if not number:
            messages.warning(request, "None of these is waiting any more.")
            return None
        if number > BATCH_MAX:
            messages.warning(
                request,
                f"These are the first {BATCH_MAX} of {number}: nobody reads more at a time. "
                "The others still wait.",
            )
        ids = rows.order_by("created_at", "id").values_list("id", flat=True)[:BATCH_MAX]
        return redirect(approval_page.batch_link(ids))

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return Inbox

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return may_decide(request)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        open_ones = self.get_queryset(request).filter(state=Approval.State.PENDING)
        waiting = open_ones.order_by().values("question").distinct().count()
        response: HttpResponse = super().changelist_view(
            request,
            {**(extra_context or {}), "waiting": waiting, **devices.offer(request.user)},
        )
        return response

    def get_urls(self) -> list[URLPattern]:
        return [*approval_views.urls(self), *super().get_urls()]

    def row_context(self, request: HttpRequest, row: Approval) -> dict[str, Any]:
        context = approval_page.context(row) | {"rows": [row]}
        context["revision"] = Approval.objects.filter(revises=row).first()
        context["may_decide"] = may_decide(request)
        context["not_yours"] = second_yes.why_not(row, operator(request))
        context["like"] = approval_page.like_ones(row)
        if context["may_decide"]:
            approval_page.note_shown([row])
        return context


def _named(row: Approval) -> tuple[str, ...]:
    return (_asked(row), *cards.principals(row))


def _asked(row: Approval) -> str:
    return row.delegated_to or f"{people.USER}{row.external_user_id}"
