"""Pages of the admin: those that only show, those of one row, and whom and what one is about."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST
from unfold.admin import ModelAdmin
from unfold.paginator import InfinitePaginator

from integrations.models import Organisation

LINK = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'


def operator(request: HttpRequest) -> str:
    """How the ledger and the history of policy name the person at a page."""
    return f"operator:{request.user.get_username()}"


def choose_organisation(
    request: HttpRequest, *, limit: int | None = None
) -> tuple[list[Organisation], Organisation | None]:
    """The organisations to choose from, and the one that the address names, else the first."""
    organisations = list(Organisation.objects.order_by("slug")[:limit])
    wanted = request.GET.get("organisation", "default")
    chosen = next((row for row in organisations if row.slug == wanted), None)
    return organisations, chosen or next(iter(organisations), None)


class RowPage(ModelAdmin):  # type: ignore[misc]  # the theme is untyped
    """The page of one row, with more on it than its fields. A button on it posts to
    `<key>/<name>/`; the method of that name gets the request and the key."""

    buttons: Sequence[str] = ()

    def row_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """What the page's templates get."""
        raise NotImplementedError

    def get_urls(self) -> list[URLPattern]:
        model = f"{self.opts.app_label}_{self.opts.model_name}"
        own = []
        for name in self.buttons:
            view = self.admin_site.admin_view(require_POST(getattr(self, name)))
            own.append(path(f"<uuid:key>/{name}/", view, name=f"{model}_{name}"))
        return [*own, *super().get_urls()]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        context = (extra_context or {}) | (self.row_context(request, row) if row else {})
        response: HttpResponse = super().change_view(request, object_id, form_url, context)
        return response


class ViewOnly:
    """Nothing can be added, changed or deleted, by anybody."""

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class ReadOnlyAdmin(ViewOnly, ModelAdmin):  # type: ignore[misc]
    """Only shows, and no page counts its table.

    A search finds whole values of `search_fields` (the model's own), which an index can do.
    """

    paginator = InfinitePaginator
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_disable_select_all = True

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        wanted = Q(pk__in=[])
        for name in self.search_fields:
            try:
                self.model._meta.get_field(name).to_python(term)
            except ValidationError:
                continue  # the term cannot be this, an id for example
            wanted |= Q(**{name: term})
        return queryset.filter(wanted), False
