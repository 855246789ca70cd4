"""Lists of big tables for operators: nothing is counted, and each page goes on from the last row
of the one before, so that page 20,000 costs what the first one does."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import CharField, Q, QuerySet
from django.http import HttpRequest
from unfold.paginator import InfinitePaginator as ThemePaginator

from integrations.web.stale import may_be_stale


class InfinitePaginator(ThemePaginator):  # type: ignore[misc]  # the theme is untyped
    """The theme tells by this very name that there is no count to show."""

    template_name = "integrations/older.html"


class BeforeFilter(admin.ListFilter):
    """Takes where a list goes on out of its other filters. It isn't shown."""

    title, parameter_name = "before", "before"

    def __init__(
        self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any
    ) -> None:
        super().__init__(request, params, model, model_admin)
        params.pop(self.parameter_name, None)

    def has_output(self) -> bool:
        return False

    def expected_parameters(self) -> list[str | None]:
        return [self.parameter_name]


class RecentValues(admin.AllValuesFieldListFilter):
    """Offers the values that the newest rows hold, and the one that is chosen. To ask for all
    values that there are would be to read the whole table."""

    looked_at = 1_000

    def __init__(
        self,
        field: Any,
        request: HttpRequest,
        params: dict[str, Any],
        model: Any,
        model_admin: Any,
        field_path: str,
    ) -> None:
        super().__init__(field, request, params, model, model_admin, field_path)
        rows = model_admin.get_queryset(request).order_by(*model_admin.get_ordering(request))
        values = set(rows.values_list(field_path, flat=True)[: self.looked_at])
        self.lookup_choices: Any = sorted({*values, *(self.lookup_val or ())} - {""})


class NewestFirst:
    """A list in one order, the newest first by an indexed field and then by key."""

    newest_by = "pk"
    paginator = InfinitePaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # they count
    sortable_by = ()

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        filters = super().get_list_filter(request)  # type: ignore[misc]
        return [BeforeFilter, *(self._bounded(one) for one in filters)]

    def _bounded(self, one: Any) -> Any:
        """Of text without choices, the filter that reads few rows."""
        field = self.model._meta.get_field(one) if isinstance(one, str) else None  # type: ignore[attr-defined]
        is_open = isinstance(field, CharField) and not field.flatchoices
        return (one, RecentValues) if is_open else one

    def get_ordering(self, request: HttpRequest) -> list[str]:
        return list(dict.fromkeys([f"-{self.newest_by}", "-pk"]))

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return may_be_stale(super().changelist_view)(request, extra_context)  # type: ignore[misc]

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Any]":
        rows: QuerySet[Any] = super().get_queryset(request)  # type: ignore[misc]
        return older(rows, by=self.newest_by, before=request.GET.get("before", ""))


def older(rows: "QuerySet[Any]", *, by: str, before: str) -> "QuerySet[Any]":
    """What comes after the row `before` in the order of `by` and key, newest first. All of it
    when there is no such row."""
    try:
        last = rows.filter(pk=before).values(by, "pk").first()
    except (ValueError, ValidationError):
        last = None
    if last is None:
        return rows
    # Said twice, because no index helps with an OR.
    behind = Q(**{f"{by}__lt": last[by]}) | Q(**{by: last[by], "pk__lt": last["pk"]})
    return rows.filter(behind, **{f"{by}__lte": last[by]})
