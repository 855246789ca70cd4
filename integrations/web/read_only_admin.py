"""Admin pages that only show: rows that Remit's own code writes."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.paginator import InfinitePaginator


class ReadOnlyAdmin(ModelAdmin):  # type: ignore[misc]  # the theme is untyped
    """Nothing can be added, changed or deleted, and no page counts its table.

    A search finds whole values of `search_fields` (the model's own), which an index can do.
    """

    paginator = InfinitePaginator
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_disable_select_all = True

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

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
