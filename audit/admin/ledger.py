"""The ledger for operators: one line an action, its timeline, exports. Nothing can be changed."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.text import Truncator
from unfold import paginator
from unfold.decorators import display

from audit.admin import (
    filters as admin_filters,
    related,
    saved_filters,
)
from audit.admin.base import LookOnly, bind
from audit.admin.policy_versions import PolicyVersionAdmin
from audit.bundle.contents import Bundle
from audit.bundle.downloads import download
from audit.bundle.extent import NothingSealed
from audit.contracts import Filters
from audit.formats.export import FORMATS, Export
from audit.formats.parquet import NoParquet, is_installed
from audit.ledger import ids, people, queries, search, selectors, timeline
from audit.ledger.sentences import name_action, say
from audit.models import ExecutedAgentAction, LedgerPolicy
from audit.seals.progress import load_progress
from audit.verification import verify

SENTENCE_CHARS = 240
KINDS = (*FORMATS, "bundle", "filtered_bundle")


def export(filters: Filters, format: str, *, actor_id: str) -> Export | Bundle:
    """A whole bundle proves a period of the organisation: other filters don't apply to it."""
    if format in FORMATS:
        return Export(filters=filters, format=format, actor_type="admin", actor_id=actor_id)
    if format == "bundle":
        filters = Filters(tenant_id=filters.tenant_id, since=filters.since, until=filters.until)
    return Bundle(filters=filters, actor_type="admin", actor_id=actor_id, with_derived=True)


class InfinitePaginator(paginator.InfinitePaginator):  # type: ignore[misc]  # the theme is untyped
    """Goes on behind the last action of the page before: page 20,000 costs what the first one does.
    The theme tells by this very name that there is no count to show."""

    template_name = "audit/older.html"


admin.site.register(LedgerPolicy, PolicyVersionAdmin)


@admin.register(ExecutedAgentAction)
class LedgerAdmin(LookOnly):
    empty = (
        "Each action that an agent tried gets a row here, with the reasons of its decision. "
        "Ask something in the chat console, or connect an account."
    )
    list_display = (
        "asked_at",
        "sentence",
        "state",
        "verdict",
        "actor",
        "for_whom",
    )
    paginator = InfinitePaginator
    list_filter = (
        admin_filters.BeforeFilter,
        admin_filters.StatusFilter,
        admin_filters.PersonFilter,
        admin_filters.PeriodFilter,
        admin_filters.ActionTypeFilter,
        admin_filters.AccountFilter,
        admin_filters.RunFilter,
        admin_filters.ClocksFilter,
        admin_filters.OrganisationFilter,
    )
    list_filter_submit = True
    list_per_page = 50
    ordering = ("-action_id",)
    show_facets = admin.ShowFacets.NEVER
    search_fields = ("action_id",)
    search_help_text = "Subject, person, action, “refused”, or a whole id"
    list_before_template = "audit/export_links.html"
    change_form_outer_before_template = "audit/timeline.html"
    fields = ("action_id", "tenant_id", "account_id", "agent", "run_id", "trace_id")
    readonly_fields = fields

    @display(description="asked for")  # type: ignore[untyped-decorator]
    def asked_at(self, row: ExecutedAgentAction) -> str:
        moment = timeline.moment(ids.moment(row.action_id))
        text = format_html('<span class="whitespace-nowrap">{}</span>', moment)
        if not getattr(row, "has_clocks_apart", False):
            return text
        mark = "⚠ clocks apart"
        return format_html(
            '{}<span class="block text-red-700 dark:text-red-400">{}</span>', text, mark
        )

    @display(description="status", label=timeline.COLOURS)  # type: ignore[untyped-decorator]
    def state(self, row: ExecutedAgentAction) -> str:
        return row.status

    @display(description="what")  # type: ignore[untyped-decorator]
    def sentence(self, row: ExecutedAgentAction) -> str:
        """The row in words, and the name of its action below."""
        read = vars(row)
        _, words = say(row.action_type, row.status, read["payload"])
        words = Truncator(timeline.reveal(words)).chars(SENTENCE_CHARS)
        return format_html(
            '<span class="block max-w-md whitespace-normal">{}</span>'
            '<span class="text-xs">{}</span>',
            f"{words} {read['why_closed']}".strip(),
            name_action(row.action_type),
        )

    @display(description="decision")  # type: ignore[untyped-decorator]
    def verdict(self, row: ExecutedAgentAction) -> str:
        return timeline.verdict(row.decision, row.decision_reason)

    @display(description="who")  # type: ignore[untyped-decorator]
    def actor(self, row: ExecutedAgentAction) -> str:
        return timeline.reveal(people.who(row, self.names_of(row)))

    @display(description="on behalf of")  # type: ignore[untyped-decorator]
    def for_whom(self, row: ExecutedAgentAction) -> str:
        found = people.call_user(row.tenant_id, row.on_behalf_of, self.names_of(row))
        return timeline.reveal(found) or "-"

    def names_of(self, row: ExecutedAgentAction) -> people.Names:
        """What the page of the list has read with it."""
        found: people.Names = vars(row)["names"]
        return found

    @display(description="agent")  # type: ignore[untyped-decorator]
    def agent(self, row: ExecutedAgentAction) -> str:
        parts = (
            row.agent_id.replace("_", " "),
            row.agent_version,
            row.model_id,
            row.skill_ref,
            row.pattern_id,
        )
        return " · ".join(part for part in parts if part) or "-"

    def get_queryset(self, request: HttpRequest) -> queries.Rows:
        rows: queries.Rows = bind(queries.select_latest(queries.select_phases()), request).annotate(
            has_clocks_apart=queries.has_clocks_apart()
        )
        before = admin_filters.uuid(request.GET.get("before", ""))
        return queries.join_payload(rows.filter(action_id__lt=before) if before else rows)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        page = super().get_changelist_instance(request)
        tenant_id, chosen = admin_filters.only_tenant(request), request.GET.get("on_behalf_of", "")
        page.names = people.find_names(page.result_list, first_of=tenant_id, user_id=chosen)
        for row, content, why_closed in selectors.open_each(page.result_list):
            payload = content["payload"] if content else {}
            vars(row).update(names=page.names, why_closed=why_closed, payload=payload)
        return page

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> ExecutedAgentAction | None:
        """Any phase opens its action, so that an address stays good when phases follow."""
        if not object_id.isdecimal():
            return None
        found: ExecutedAgentAction | None
        found = bind(queries.select_phases(), request).filter(pk=object_id).first()
        return found

    def get_search_results(
        self, request: HttpRequest, queryset: queries.Rows, search_term: str
    ) -> tuple[queries.Rows, bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        key = admin_filters.uuid(term)
        for name in ("action_id", "account_id") if key else ():
            found = queryset.filter(**{name: key})
            if found.exists():
                return found, False
        tenants = admin_filters.list_tenants(request)
        ids = search.find_actions(queryset, term, tenants=tenants, limit=self.list_per_page + 1)
        return queryset.filter(action_id__in=ids), False

    def get_urls(self) -> list[URLPattern]:
        view = self.permitted(self.export_view, method="GET")
        return [
            path("export/<str:format>/", view, name="audit_ledger_export"),
            path("saved/", self.permitted(saved_filters.save), name="audit_ledger_save"),
            path(
                "saved/<uuid:key>/delete/",
                self.permitted(saved_filters.delete),
                name="audit_ledger_delete_saved",
            ),
            *super().get_urls(),
        ]

    def export_view(self, request: HttpRequest, format: str) -> HttpResponseBase:
        if format not in KINDS:
            raise Http404
        chosen = admin_filters.filters(request)
        if chosen is None:
            return self.back(
                request, "Choose an organisation in the filters first: an export covers only one."
            )
        try:
            file = export(chosen, format, actor_id=f"operator:{request.user.get_username()}")
        except (NothingSealed, NoParquet) as error:
            return self.back(request, str(error))
        return download(file, request=request)

    def permitted(self, view: Callable[..., HttpResponseBase], *, method: str = "POST") -> Any:
        """The view for people who may look at the ledger: what they save is their own."""

        def checked(request: HttpRequest, **given: Any) -> HttpResponseBase:
            if request.method != method:
                return HttpResponseNotAllowed([method])
            if not self.has_view_permission(request):
                raise PermissionDenied
            return view(request, **given)

        return self.admin_site.admin_view(checked)

    def back(self, request: HttpRequest, sentence: str) -> HttpResponseRedirect:
        messages.error(request, sentence)
        address = reverse("admin:audit_executedagentaction_changelist")
        return HttpResponseRedirect(f"{address}?{request.GET.urlencode()}")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if request.method != "GET":
            return HttpResponseNotAllowed(["GET"])
        query = request.GET.urlencode()
        context = (extra_context or {}) | {
            f"{format}_url": f"{reverse('admin:audit_ledger_export', args=[format])}?{query}"
            for format in KINDS
        }
        context["has_parquet"] = is_installed()
        context["how_far"] = search.HOW_FAR
        if request.GET.get("status") == "pending":
            context["how_far_begun"] = search.HOW_FAR_BEGUN
        chosen = admin_filters.filters(request)
        owner = str(request.user.pk)
        context["filter_query"] = saved_filters.read_query(request.GET.dict())
        context["saved"] = [
            {"filter": one, "name": timeline.reveal(one.name), "is_mine": one.owner == owner}
            for one in saved_filters.list_saved(
                owner=owner, tenant_id=chosen.tenant_id if chosen else None
            )
        ]
        context["must_choose"] = chosen is None and len(admin_filters.list_tenants(request)) > 1
        if chosen:
            context["is_filtered"] = not chosen.is_period
            context["sealing"] = load_progress(chosen.tenant_id)
            context["verified"] = verify.find_last(chosen.tenant_id, now=timezone.now())
        response: HttpResponse = super().changelist_view(request, context)
        return response

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if request.method != "GET":
            return HttpResponseNotAllowed(["GET"])
        row = self.get_object(request, object_id)
        phases, why_closed = selectors.recorded_as_far(row.action_id) if row else ((), "")
        names = people.find_names(phases)
        context = (extra_context or {}) | {
            "title": name_action(row.action_type).capitalize() if row else "",
            "timeline": [timeline.step(phase, names) for phase in phases],
            "why_closed": why_closed,
            "questions": related.list_questions(phases, names),
            "edits": related.find_edits(phases, names),
            "erasures": related.list_erasures(phases),
            "relatives": related.list_relatives(phases),
            "whole": timeline.whole(phases),
        }
        response: HttpResponse = super().change_view(request, object_id, form_url, context)
        return response
