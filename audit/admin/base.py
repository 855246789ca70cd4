"""What every page of the ledger in the admin has in common: it can only be looked at, and staff
meet the rows of their own organisations alone."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.text import capfirst
from unfold.admin import ModelAdmin
from unfold.paginator import InfinitePaginator

from audit.ledger import people


def bind(rows: "QuerySet[Any]", request: HttpRequest) -> "QuerySet[Any]":
    """Those of the rows that somebody may meet."""
    tenants = people.list_met(request.user)
    return rows if tenants is None else rows.filter(tenant_id__in=tenants)


class LookOnly(ModelAdmin):  # type: ignore[misc]
    """Nothing in the ledger can be added, changed or deleted by hand."""

    actions = None
    sortable_by = ()
    paginator = InfinitePaginator  # a count would read the whole ledger on every page
    show_full_result_count = False

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """The list is called what is in it, not “Select … to view”."""
        titled = {"title": capfirst(self.opts.verbose_name_plural), **(extra_context or {})}
        response: HttpResponse = super().changelist_view(request, titled)
        return response

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Any]":
        return bind(super().get_queryset(request), request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
