"""What operators see of `knowledge`: everything, and nothing they could change."""

from typing import Any, cast

from django.contrib import admin
from django.contrib.postgres.search import SearchQuery
from django.core.paginator import Paginator
from django.db import connection
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.functional import cached_property
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import display

from knowledge.models import Chunk, Entity, Item, Mention, SyncFailure, SyncRun, SyncSource

MOST_COUNTED = 10_000
STATES = {
    "queued": "info",
    "running": "info",
    "done": "success",
    "failed": "danger",
    "cancelled": "warning",
}


class EstimatingPaginator(Paginator):  # type: ignore[type-arg]  # not subscriptable
    """Pages of a big table without counting it: PostgreSQL's own estimate, if not filtered."""

    @cached_property
    def count(self) -> int:
        rows = cast("QuerySet[Any]", self.object_list)
        if rows.query.where:
            # Filters are narrow; the bound keeps a wide one from reading the whole table.
            return rows.order_by()[:MOST_COUNTED].count()
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass",
                [rows.model._meta.db_table],
            )
            estimate = int(cursor.fetchone()[0])
        return estimate if estimate > MOST_COUNTED else rows.count()


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


class ItemMentionInline(ViewOnly, TabularInline):  # type: ignore[misc]
    model = Mention
    fields = ["entity", "role"]
    tab = True

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Mention]":
        return super().get_queryset(request).select_related("entity")  # type: ignore[no-any-return]


@admin.register(Item)
class ItemAdmin(ViewOnly, ModelAdmin):  # type: ignore[misc]
    list_display = ["title_or_id", "account", "content_type", "sender", "occurred_at", "is_deleted"]
    list_filter = ["source", "content_type"]
    list_select_related = ["account"]
    search_fields = ["search"]  # makes the box appear; see get_search_results
    search_help_text = "Words of title, summary and text, or an exact id or address."
    date_hierarchy = None
    ordering = ["-occurred_at"]
    show_full_result_count = False
    paginator = EstimatingPaginator
    exclude = ["search"]
    inlines = [ChunkInline, ItemMentionInline]

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Item]":
        return super().get_queryset(request).defer("search", "text")  # type: ignore[no-any-return]

    def get_search_results(
        self, request: HttpRequest, queryset: "QuerySet[Item]", search_term: str
    ) -> tuple["QuerySet[Item]", bool]:
        """Both ways through an index, never by reading every row."""
        if not search_term.strip():
            return queryset, False
        by_words = queryset.filter(
            search=SearchQuery(search_term, config="simple", search_type="websearch")
        )
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
class EntityAdmin(ViewOnly, ModelAdmin):  # type: ignore[misc]
    list_display = ["__str__", "kind", "address", "external_user_id", "mention_count"]
    list_filter = ["kind"]
    search_fields = ["name", "address"]
    show_full_result_count = False
    paginator = EstimatingPaginator

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Entity]":
        rows: QuerySet[Entity] = super().get_queryset(request)
        mentions = Mention.objects.filter(entity=OuterRef("pk")).order_by().values("entity")
        # Counted for the rows of one page only.
        return rows.annotate(items=Subquery(mentions.annotate(n=Count("pk")).values("n")))

    @admin.display(description="Items")
    def mention_count(self, entity: Entity) -> int:
        return entity.items or 0  # type: ignore[attr-defined]


class SourceInline(ViewOnly, TabularInline):  # type: ignore[misc]
    model = SyncSource
    fields = [
        *("account", "state", "received", "processed", "skipped", "failed", "reasons"),
        *("since", "started_at", "finished_at", "error"),
    ]
    verbose_name_plural = "sources"


@admin.register(SyncRun)
class SyncRunAdmin(ViewOnly, ModelAdmin):  # type: ignore[misc]
    list_display = ["__str__", "organisation", "created_at"]
    search_fields = ["external_user_id"]
    list_select_related = ["organisation"]
    inlines = [SourceInline]


class FailureInline(ViewOnly, TabularInline):  # type: ignore[misc]
    model = SyncFailure
    fields = ["source_id", "reason", "failed_at"]
    verbose_name_plural = "items that failed"


@admin.register(SyncSource)
class SyncSourceAdmin(ViewOnly, ModelAdmin):  # type: ignore[misc]
    list_display = [
        *("account", "progress", "received", "processed", "skipped", "failed"),
        *("started_at", "finished_at", "error"),
    ]
    list_filter = ["state"]
    list_select_related = ["account"]
    ordering = ["-started_at"]
    inlines = [FailureInline]

    @display(description="State", label=STATES, ordering="state")  # type: ignore[untyped-decorator]
    def progress(self, sync: SyncSource) -> tuple[str, str]:
        return sync.state, sync.get_state_display()
