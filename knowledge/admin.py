"""What operators see of `knowledge`: everything, and nothing they could change but a sync's
course."""

from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth import get_permission_codename
from django.core.exceptions import PermissionDenied
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.text import Truncator
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import action, display

from integrations import llm
from integrations.newest_first import NewestFirst
from knowledge import embedding_models, sync_pages, sync_runs
from knowledge.files.contracts import REASONS, Reason
from knowledge.indexing import words_query
from knowledge.models import (
    Chunk,
    EmbeddingModel,
    Entity,
    Item,
    ItemFile,
    Mention,
    SyncFailure,
    SyncRun,
    SyncSource,
)
from knowledge.tasks import retry_dead_letters

SHOWN_CHARS = 300
STATES = {
    "queued": "info",
    "running": "info",
    "done": "success",
    "failed": "danger",
    "cancelled": "warning",
}
EMBEDDINGS = {"searched": "success", "filling": "info", "former": "warning"}
LETTERS = {"dead": "danger", "queued": "info", "processed": "success", "skipped": "warning"}


class ViewOnly:
    """No adding, changing or deleting, whoever asks."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ChunkInline(ViewOnly, TabularInline):  # type: ignore[misc]
    model = Chunk
    fields = ["position", "text"]
    verbose_name_plural = "passages"
    tab = True


class FileInline(ViewOnly, TabularInline):  # type: ignore[misc]
    model = ItemFile
    fields = ["name", "shown_size", "standing", "beginning"]
    readonly_fields = fields
    verbose_name_plural = "files"
    hide_title = True
    tab = True

    @admin.display(description="Size")
    def shown_size(self, file: ItemFile) -> str:
        return filesizeformat(file.size) if file.size else ""

    @admin.display(description="Read")
    def standing(self, file: ItemFile) -> str:
        if file.reason:
            return REASONS.get(cast("Reason", file.reason), file.reason)
        return "The beginning was read; the rest is too long." if file.cut else "Read."

    @admin.display(description="Text")
    def beginning(self, file: ItemFile) -> str:
        return Truncator(file.text).chars(SHOWN_CHARS)


class ItemMentionInline(ViewOnly, TabularInline):  # type: ignore[misc]
    model = Mention
    fields = ["entity", "role"]
    tab = True

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Mention]":
        return super().get_queryset(request).select_related("entity")  # type: ignore[no-any-return]


@admin.register(Item)
class ItemAdmin(ViewOnly, NewestFirst, ModelAdmin):  # type: ignore[misc]
    list_display = ["title_or_id", "account", "content_type", "sender", "occurred_at", "is_deleted"]
    list_filter = ["source", "content_type"]
    list_select_related = ["account"]
    search_fields = ["search"]  # makes the box appear; see get_search_results
    search_help_text = "Words of title, summary and text, or an exact id or address."
    date_hierarchy = None
    newest_by = "occurred_at"
    exclude = ["search"]
    inlines = [FileInline, ChunkInline, ItemMentionInline]

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Item]":
        return super().get_queryset(request).defer("search", "text")

    def get_search_results(
        self, request: HttpRequest, queryset: "QuerySet[Item]", search_term: str
    ) -> tuple["QuerySet[Item]", bool]:
        """Both ways through an index, never by reading every row."""
        if not search_term.strip():
            return queryset, False
        by_words = queryset.filter(search=words_query(search_term))
        by_id = queryset.filter(identifiers__contains=[search_term.strip().lower()])
        return by_words | by_id, False

    @admin.display(description="Item", ordering="title")
    def title_or_id(self, item: Item) -> str:
        return str(item)

    @admin.display(description="From")
    def sender(self, item: Item) -> str:
        return item.sender_name or item.sender_address

    @admin.display(description="Deleted")
    def is_deleted(self, item: Item) -> str:
        return "deleted" if item.deleted_at else ""


@admin.register(Entity)
class EntityAdmin(ViewOnly, NewestFirst, ModelAdmin):  # type: ignore[misc]
    list_display = ["__str__", "kind", "address", "external_user_id", "mention_count"]
    list_filter = ["kind"]
    search_fields = ["name", "address"]

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Entity]":
        rows: QuerySet[Entity] = super().get_queryset(request)
        mentions = Mention.objects.filter(entity=OuterRef("pk")).order_by().values("entity")
        # Counted for the rows of one page only.
        return rows.annotate(items=Subquery(mentions.annotate(n=Count("pk")).values("n")))

    @admin.display(description="Items")
    def mention_count(self, entity: Entity) -> int:
        return entity.items or 0  # type: ignore[attr-defined]


@admin.register(EmbeddingModel)
class EmbeddingModelAdmin(ViewOnly, ModelAdmin):  # type: ignore[misc]
    list_display = ["name", "state", "started_at", "completed_at"]
    fields = ["name", "state", "started_at", "completed_at"]

    @display(description="State", label=EMBEDDINGS)  # type: ignore[untyped-decorator]
    def state(self, row: EmbeddingModel) -> tuple[str, str]:
        if row.completed_at:
            return "searched", "Searches go by it"
        if row.name == llm.embedding_model_name():
            return "filling", f"Being filled: {embedding_models.percent(row)} %"
        return "former", "Not used any more"


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
