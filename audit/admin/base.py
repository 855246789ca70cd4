"""What every page of the ledger in the admin has in common: it can only be looked at."""

from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.paginator import InfinitePaginator


class LookOnly(ModelAdmin):  # type: ignore[misc]
    """Nothing in the ledger can be added, changed or deleted by hand."""

    actions = None
    sortable_by = ()
    paginator = InfinitePaginator  # a count would read the whole ledger on every page
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
