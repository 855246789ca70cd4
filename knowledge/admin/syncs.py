"""How it was read: syncs, what they left out, and the balance of all of it."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth import get_permission_codename
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils import timezone
from unfold.admin import ModelAdmin
from unfold.decorators import action, display

from integrations.web.newest_first import NewestFirst
from knowledge.admin import sync_pages
from knowledge.admin.view_only import ViewOnly
from knowledge.models import SyncFailure, SyncRun, SyncSource
from knowledge.sync import runs as sync_runs
from knowledge.tasks import retry_dead_letters

STATES = {
    "queued": "info",
    "running": "info",
    "done": "success",
    "failed": "danger",
    "cancelled": "warning",
}
LETTERS = {"dead": "danger", "queued": "info", "processed": "success", "skipped": "warning"}


class MayChange:
    """Who may cancel a sync or take a dead letter up again: whoever may change the model."""

    opts: Any

    def has_operate_permission(self, request: HttpRequest) -> bool:
        codename = get_permission_codename("change", self.opts)
        return bool(request.user.has_perm(f"{self.opts.app_label}.{codename}"))


@admin.register(SyncRun)
class SyncRunAdmin(MayChange, ViewOnly, NewestFirst, ModelAdmin):  # type: ignore[misc]
    list_display = ["__str__", "organisation", "kind", "created_at", "finished_at", "callback"]
    list_filter = ["only_changes", "callback", "organisation"]
    search_fields = ["external_user_id"]
    list_select_related = ["organisation"]
    fields = [
        *("organisation", "external_user_id", "kind", "created_at", "finished_at"),
        *("callback", "callback_attempts", "callback_due_at"),
    ]
    newest_by = "created_at"
    actions = ["cancel"]
    change_form_outer_after_template = "knowledge/run.html"

    @admin.display(description="Reads")
    def kind(self, run: SyncRun) -> str:
        return "changes" if run.only_changes else "the whole window"

    @action(description="Cancel", permissions=["operate"])  # type: ignore[untyped-decorator]
    def cancel(self, request: HttpRequest, queryset: "QuerySet[SyncRun]") -> None:
        for run_id in queryset.filter(finished_at=None).values_list("pk", flat=True):
            sync_runs.cancel(run_id, now=timezone.now())
        messages.success(request, "Cancelled what still ran. Items that are stored stay.")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.accounting)
        return [
            path("accounting/", view, name="knowledge_accounting"),
            *super().get_urls(),
        ]

    def accounting(self, request: HttpRequest) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        context = self.admin_site.each_context(request)
        return sync_pages.accounting_page(request, context)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        run = self.get_object(request, object_id)
        shown = sync_pages.run_context(run, now=timezone.now()) if run else {}
        response: HttpResponse = super().change_view(
            request, object_id, form_url, (extra_context or {}) | shown
        )
        return response


@admin.register(SyncSource)
class SyncSourceAdmin(ViewOnly, NewestFirst, ModelAdmin):  # type: ignore[misc]
    list_display = [
        *("account", "progress", "received", "processed", "skipped", "failed"),
        *("started_at", "finished_at", "error"),
    ]
    list_filter = ["state", "only_changes"]
    list_select_related = ["account"]
    newest_by = "created_at"

    @display(description="State", label=STATES, ordering="state")  # type: ignore[untyped-decorator]
    def progress(self, sync: SyncSource) -> tuple[str, str]:
        return sync.state, sync.get_state_display()


@admin.register(SyncFailure)
class SyncFailureAdmin(MayChange, ViewOnly, NewestFirst, ModelAdmin):  # type: ignore[misc]
    list_display = ["source_id", "account", "reason", "standing", "failed_at", "retried_at"]
    list_filter = ["state", "reason"]
    list_select_related = ["sync__account"]
    search_fields = ["=source_id"]
    search_help_text = "The whole id at the provider"
    newest_by = "failed_at"
    actions = ["retry"]

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        """Where the accounting page leads."""
        if lookup == "sync__account__id__exact":
            return True
        return bool(super().lookup_allowed(lookup, value, request))

    @admin.display(description="Account")
    def account(self, failure: SyncFailure) -> str:
        return str(failure.sync.account)

    @display(description="State", label=LETTERS, ordering="state")  # type: ignore[untyped-decorator]
    def standing(self, failure: SyncFailure) -> tuple[str, str]:
        return failure.state, failure.get_state_display()

    @action(description="Take up again", permissions=["operate"])  # type: ignore[untyped-decorator]
    def retry(self, request: HttpRequest, queryset: "QuerySet[SyncFailure]") -> None:
        count = retry_dead_letters(queryset.values_list("pk", flat=True))
        messages.success(request, f"{count} dead letters wait in the queue to be read again.")
