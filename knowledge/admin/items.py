"""What was read: items with their passages, files and people, and the models of their vectors."""

import json
from typing import Any, cast
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin
from django.db import connection, transaction
from django.db.models import (
    BooleanField,
    Count,
    ExpressionWrapper,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Substr
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from unfold.admin import TabularInline
from unfold.decorators import display

from integrations.llm import llm
from integrations.web.admin_lists import NewestFirst
from integrations.web.admin_pages import LINK, ViewOnly
from integrations.web.bound_admin import BoundAdmin
from knowledge.files.contracts import REASONS, Reason
from knowledge.ingest import embedding_models
from knowledge.ingest.indexing import words_query
from knowledge.models import Chunk, EmbeddingModel, Entity, Item, ItemFile, Mention
from knowledge.text.highlights import cut, snippet
from knowledge.text.lexemes import terms

SHOWN_CHARS = 300
LOOKED_AT, FEW = 1_000, 1_000
SEARCHED_CHARS = 20_000  # of a text: what a found word is shown in
EMBEDDINGS = {"searched": "success", "filling": "info", "former": "warning"}


class ChunkInline(ViewOnly, TabularInline):  # type: ignore[misc]
    model = Chunk
    fields = ["position", "text"]
    verbose_name_plural = "passages"
    tab = True


class FileInline(ViewOnly, TabularInline):  # type: ignore[misc]
    model = ItemFile
    fields = ["name", "shown_size", "reading", "beginning"]
    readonly_fields = fields
    verbose_name_plural = "files"
    hide_title = True
    tab = True

    @admin.display(description="Size")
    def shown_size(self, file: ItemFile) -> str:
        return filesizeformat(file.size) if file.size else ""

    @admin.display(description="Read")
    def reading(self, file: ItemFile) -> str:
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


def _newest(rows: "QuerySet[Item]", wanted: Q, *, page_size: int) -> list[UUID] | None:
    """Those that fit of the next rows of a list, if they are more than are shown of it.

    Of a word that many items hold these are the page: nobody needs to know how many others do.
    """
    looked_at = rows.annotate(fits=ExpressionWrapper(wanted, BooleanField()))
    found = [pk for pk, fits in looked_at.values_list("pk", "fits")[:LOOKED_AT] if fits]
    return found if len(found) > page_size else None


def _few(wanted: Q) -> list[UUID] | None:
    """The items that fit, unless there are more than FEW.

    PostgreSQL takes a word that it has no statistics of for a common one, and would look for it
    in one item after the other, the newest first. Of few the indexes of words and ids say which.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
        found = list(Item.objects.filter(wanted).order_by().values_list("pk", flat=True)[: FEW + 1])
    return found if len(found) <= FEW else None


@admin.register(Item)
class ItemAdmin(ViewOnly, NewestFirst, BoundAdmin):
    empty = (
        "Mail, documents, events and issues that were read in come here. Connect an account "
        "to begin."
    )
    organisation_path = "account__organisation"
    list_display = ["title_or_id", "account", "content_type", "sender", "occurred_at", "is_deleted"]
    list_filter = ["source", "occurred_at"]  # a source tells the kind
    list_select_related = ["account"]
    search_fields = ["search"]  # makes the box appear; see get_search_results
    search_help_text = "Words of title, summary and text, or an exact id or address."
    date_hierarchy = None
    newest_by = "occurred_at"
    exclude = ["search", "metadata"]
    readonly_fields = ["activity", "details"]
    inlines = [FileInline, ChunkInline, ItemMentionInline]

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Item]":
        return super().get_queryset(request).defer("search", "text")

    def get_search_results(
        self, request: HttpRequest, queryset: "QuerySet[Item]", search_term: str
    ) -> tuple["QuerySet[Item]", bool]:
        """Through the newest rows or an index, never by reading every row."""
        if not search_term.strip():
            return queryset, False
        by_id = Q(identifiers__contains=[search_term.strip().lower()])
        wanted = Q(search=words_query(search_term)) | by_id
        newest = queryset.order_by(*self.get_ordering(request))
        found = _newest(newest, wanted, page_size=self.list_per_page)
        if found is None:
            found = _few(wanted)
        return queryset.filter(wanted if found is None else Q(pk__in=found)), False

    def get_list_display(self, request: HttpRequest) -> list[str]:
        columns = list(super().get_list_display(request))
        return [columns[0], "found", *columns[1:]] if request.GET.get("q", "").strip() else columns

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Of what was searched for, each row of the page says where the words stand."""
        page = super().get_changelist_instance(request)
        wanted = terms(page.query)
        rows = list(page.result_list) if page.query.strip() else []
        beginning = Substr("text", 1, SEARCHED_CHARS)
        texts = dict(
            Item.objects.filter(pk__in=[row.pk for row in rows]).values_list("pk", beginning)
        )
        for row in rows:
            part, marks = snippet(texts.get(row.pk, ""), "", wanted)
            if not marks:
                part, marks = snippet(row.summary, "", wanted)
            row.parts = cut(part, marks)
        return page

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        rest = [one for one in super().get_fields(request, obj) if one != "activity"]
        return ["activity", *rest]

    @admin.display(description="Activity")
    def activity(self, item: Item) -> SafeString:
        """Where the first page of the admin says what came of it."""
        query = {"organisation": item.account.organisation.slug, "words": item.source_id}
        return format_html(LINK, f"{reverse('admin:index')}?{urlencode(query)}", "What came of it")

    @admin.display(description="Metadata")
    def details(self, item: Item) -> SafeString:
        # Where there is a highlighter the theme would use it, with styles in attributes.
        text = json.dumps(item.metadata, ensure_ascii=False, indent=2)
        return format_html('<pre class="whitespace-pre-wrap break-all">{}</pre>', text)

    @admin.display(description="Found")
    def found(self, item: Item) -> SafeString:
        parts = [
            (format_html("<mark>{}</mark>", text) if is_found else text,)
            for text, is_found in item.parts  # type: ignore[attr-defined]
        ]
        return format_html("<span>{}</span>", format_html_join("", "{}", parts))

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
class EntityAdmin(ViewOnly, NewestFirst, BoundAdmin):
    empty = "People and projects that are named in items come here. Connect an account to begin."
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
class EmbeddingModelAdmin(ViewOnly, BoundAdmin):
    empty = "The models that items are found by come here with the first item."
    organisation_path = None
    list_display = ["name", "state_label", "started_at", "completed_at"]
    fields = ["name", "state", "started_at", "completed_at"]

    @admin.display(description="State")
    def state(self, row: EmbeddingModel) -> str:
        _, words = self.state_label(row)
        return str(words)

    @display(description="State", label=EMBEDDINGS)  # type: ignore[untyped-decorator]
    def state_label(self, row: EmbeddingModel) -> tuple[str, str]:
        if row.completed_at:
            return "searched", "Searches use it"
        if row.name == llm.embedding_model_name():
            return "filling", f"Being filled: {embedding_models.count_percent(row)} %"
        return "former", "Not used any more"
