"""How it was read: syncs, what they left out, and the balance of all of it."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from unfold.decorators import action, display

from integrations.models import Delivery
from integrations.ports.registry import BY_SOURCE
from integrations.web.admin_lists import NewestFirst
from integrations.web.admin_pages import RowPage, ViewOnly, choose_organisation
from integrations.web.bound_admin import BoundAdmin
from knowledge.contracts import SourceProgress, SyncProgress
from knowledge.ingest import reading
from knowledge.models import SyncFailure, SyncRun, SyncSource
from knowledge.sync import accounting, runs as sync_runs
from knowledge.tasks import retry_dead_letters

PERIODS = ((1, "the last day"), (7, "the last week"), (30, "the last 30 days"), (0, "ever"))
NOBODYS = {"account__isnull": True}
SENTENCES = {
    "queued": "It waits for a worker.",
    "running": "It is being read.",
    "done": "It is done.",
    "failed": "It stopped before the end.",
    "cancelled": "It was cancelled.",
}


def run_context(run: SyncRun, *, now: datetime) -> dict[str, Any]:
    """How far a sync is, for `knowledge/run.html`."""
    progress = sync_runs.load_progress(organisation_id=run.organisation_id, run_id=run.pk, now=now)
    if progress is None:
        return {}
    rows = dict(SyncSource.objects.filter(run=run).values_list("account_id", "pk"))
    return {
        "progress": progress,
        "sentence": _sentence(progress),
        "sources": [
            {
                "value": source,
                "label": BY_SOURCE[source.source].label,
                "eta": _eta(source),
                "link": reverse(
                    "admin:knowledge_syncsource_change", args=[rows[source.account_id]]
                ),
            }
            for source in progress.sources
        ],
    }


def _sentence(progress: SyncProgress) -> str:
    received = sum(source.received for source in progress.sources)
    return f"{SENTENCES[progress.state]} {received:,} items read so far."


def _eta(source: SourceProgress) -> str:
    if source.next_try_at:
        return f"tried again at {source.next_try_at.astimezone(UTC):%H:%M:%S} UTC"
    seconds = source.eta_seconds
    if seconds is None:
        return ""
    if seconds < 90:
        return f"about {seconds} s to go"
    return f"about {round(seconds / 60)} min to go"


def accounting_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """The balance of one organisation over a time."""
    organisations, organisation = choose_organisation(request)
    asked = request.GET.get("days", "")
    days = next((value for value, _ in PERIODS if str(value) == asked), 7)
    since = timezone.now() - timedelta(days=days) if days else datetime(2000, 1, 1, tzinfo=UTC)
    lines = accounting.balance(organisation_id=organisation.pk, since=since) if organisation else []
    context |= {
        "title": "Accounting",
        "organisations": organisations,
        "organisation": organisation,
        "periods": PERIODS,
        "days": days,
        "lines": [
            {
                **vars(line),
                "read": line.read,
                "missing": line.missing,
                "reasons": line.reasons_in_words,
                "left_alone": _rows_of(line, Delivery.State.SKIPPED),
                "letters": _rows_of(line, Delivery.State.DEAD),
            }
            for line in lines
            if line.received or line.missing
        ],
        "received": sum(line.received for line in lines),
        "missing": sum(abs(line.missing) for line in lines),
        "totals": [
            ("Handled", sum(line.handled for line in lines)),
            ("Only read", sum(line.read for line in lines)),
            ("Left alone", sum(line.skipped for line in lines)),
            ("Dead", sum(line.dead for line in lines)),
            ("In work", sum(line.in_work for line in lines)),
        ],
    }
    return TemplateResponse(request, "knowledge/accounting.html", context)


def _rows_of(line: accounting.Line, state: Delivery.State) -> str:
    """The list of what of this line is in that state. Of what a sync left alone there is none: only
    the number is kept."""
    if line.way == accounting.WEBHOOKS:
        address = reverse("admin:integrations_delivery_changelist")
        whose = {"account__id__exact": line.account_id} if line.account_id else NOBODYS
        return f"{address}?{urlencode({'state__exact': state, **whose})}"
    if state == Delivery.State.DEAD:
        address = reverse("admin:knowledge_syncfailure_changelist")
        asked = {"state__exact": state, "sync__account__id__exact": line.account_id}
        return f"{address}?{urlencode(asked)}"
    return ""


STATES = {
    "queued": "info",
    "running": "info",
    "done": "success",
    "failed": "danger",
    "cancelled": "warning",
}
LETTERS = {"dead": "danger", "queued": "info", "processed": "success", "skipped": "warning"}


@admin.register(SyncRun)
class SyncRunAdmin(ViewOnly, NewestFirst, RowPage):
    empty = (
        "Each reading of an account comes here, with what was read. Connect an account to begin."
    )
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
        messages.success(request, "What was still running is cancelled. Stored items stay.")

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
        return accounting_page(request, context)

    def row_context(self, request: HttpRequest, row: SyncRun) -> dict[str, Any]:
        return run_context(row, now=timezone.now())


@admin.register(SyncSource)
class SyncSourceAdmin(ViewOnly, NewestFirst, BoundAdmin):
    empty = "How far each account was read comes here. Connect an account to begin."
    organisation_path = "account__organisation"
    list_display = [
        *("account", "progress", "received", "processed", "skipped", "failed"),
        *("started_at", "finished_at", "error"),
    ]
    list_filter = ["state", "only_changes"]
    list_select_related = ["account"]
    newest_by = "created_at"
    exclude = ["reasons"]
    readonly_fields = ["left_out"]

    @admin.display(description="Why items were left out")
    def left_out(self, sync: SyncSource) -> str:
        return (
            ", ".join(
                f"{why.replace('_', ' ')}: {number}" for why, number in sorted(sync.reasons.items())
            )
            or "-"
        )

    @display(description="State", label=STATES, ordering="state")  # type: ignore[untyped-decorator]
    def progress(self, sync: SyncSource) -> tuple[str, str]:
        return sync.state, sync.get_state_display()


@admin.register(SyncFailure)
class SyncFailureAdmin(ViewOnly, NewestFirst, BoundAdmin):
    empty = "What could not be read in after several tries comes here. Everything was read in."
    organisation_path = "sync__account__organisation"
    list_display = [
        *("source_id", "account", "reason", "sentence"),
        *("state_label", "failed_at", "retried_at", "due_at"),
    ]
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

    @admin.display(description="What it means")
    def sentence(self, failure: SyncFailure) -> str:
        return reading.SENTENCES.get(failure.reason, "")

    @display(description="State", label=LETTERS, ordering="state")  # type: ignore[untyped-decorator]
    def state_label(self, failure: SyncFailure) -> tuple[str, str]:
        return failure.state, failure.get_state_display()

    @action(description="Try again", permissions=["operate"])  # type: ignore[untyped-decorator]
    def retry(self, request: HttpRequest, queryset: "QuerySet[SyncFailure]") -> None:
        count = retry_dead_letters(queryset.values_list("pk", flat=True))
        messages.success(request, f"{count} dead letters wait in the queue to be read again.")
