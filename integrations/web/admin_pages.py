"""Pages of the admin: those that only show, those of one row, and whom and what one is about."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.utils import get_fields_from_path
from django.contrib.auth import get_permission_codename
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST
from unfold.paginator import InfinitePaginator

from integrations.models import Organisation
from integrations.web import staff
from integrations.web.bound_admin import BoundAdmin

OFFERED = 200  # organisations to choose from
LINK = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'


def operator(request: HttpRequest) -> str:
    """How the ledger and the history of policy name the person at a page."""
    return f"operator:{request.user.get_username()}"


def choose_organisation(request: HttpRequest) -> tuple[list[Organisation], Organisation | None]:
    """The first organisations that somebody may choose from, and the one that the address names,
    else the one named “default”, else the first. One query, where there are no more than OFFERED.
    Raises Http404 where the address names another."""
    wanted = request.GET.get("organisation", "")
    offered = staff.list_organisations(request.user, OFFERED)
    chosen = next((one for one in offered if one.slug == (wanted or "default")), None)
    if chosen is None and len(offered) == OFFERED:  # it may come after them
        chosen = staff.find_organisation(request.user, wanted)
    if wanted and chosen is None:
        raise Http404("There is no such organisation.")
    return offered, chosen or next(iter(offered), None)


def once_a_row(ask: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """For a field that asks the database: the theme calls it five times on the page of a row."""
    name = f"_{ask.__name__}_on_page"

    @wraps(ask)
    def known(page: Any, row: Any) -> Any:
        if name not in vars(row):
            setattr(row, name, ask(page, row))
        return getattr(row, name)

    return known


class RowPage(BoundAdmin):
    """The page of one row, with more on it than its fields. A button on it posts to
    `<key>/<name>/`; the method of that name gets the request and the key, once it is known that
    the person has the rights that `buttons` names and that there is such a row for them.
    `row_related` is read with the row: what its fields say of other rows."""

    buttons: Mapping[str, Sequence[str]] = {}
    row_related: Sequence[str] = ()

    def row_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """What the page's templates get."""
        raise NotImplementedError

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Read once for a page that is looked at. A form that is sent changes a copy of its own."""
        known = vars(request).setdefault("_rows_of_page", {})
        key = (self.model, object_id, from_field)
        if request.method != "GET" or key not in known:
            known[key] = self._find_row(request, object_id, from_field)
        return known[key]

    def _find_row(self, request: HttpRequest, object_id: str, from_field: str | None) -> Any:
        if not self.row_related:
            return super().get_object(request, object_id, from_field)
        field = self.opts.get_field(from_field) if from_field else self.opts.pk
        rows = self.get_queryset(request).select_related(*self.row_related)
        try:
            return rows.get(**{field.name: field.to_python(object_id)})
        except (self.model.DoesNotExist, ValidationError, ValueError):
            return None

    def get_urls(self) -> list[URLPattern]:
        model = f"{self.opts.app_label}_{self.opts.model_name}"
        own = []
        for name in self.buttons:
            view = self.admin_site.admin_view(require_POST(self._pressed(name)))
            own.append(path(f"<uuid:key>/{name}/", view, name=f"{model}_{name}"))
        return [*own, *super().get_urls()]

    def _pressed(self, name: str) -> Any:
        def permitted(request: HttpRequest, key: UUID) -> HttpResponse:
            if not self.may_press(request, name):
                raise PermissionDenied
            if self.get_object(request, str(key)) is None:
                raise Http404
            answer: HttpResponse = getattr(self, name)(request, key)
            return answer

        return permitted

    def may_press(self, request: HttpRequest, name: str) -> bool:
        return bool(request.user.has_perms(self.buttons[name]))

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
    """Nothing can be added, changed or deleted, by anybody. What can be done about a row is an
    action marked `operate`: for those who have the right to change the model."""

    opts: Any

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_operate_permission(self, request: HttpRequest) -> bool:
        codename = get_permission_codename("change", self.opts)
        return bool(request.user.has_perm(f"{self.opts.app_label}.{codename}"))


class ReadOnlyAdmin(ViewOnly, BoundAdmin):
    """Only shows, and no page counts its table.

    A search finds whole values of `search_fields`, which an index can do.
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
                get_fields_from_path(self.model, name)[-1].to_python(term)
            except ValidationError:
                continue  # the term cannot be this, an id for example
            wanted |= Q(**{name: term})
        return queryset.filter(wanted), False
