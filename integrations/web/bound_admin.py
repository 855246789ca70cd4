"""What every admin of rows starts from: staff meet the rows of their own organisations alone, in
lists, forms, choices, filters, searches, actions and histories."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.filters import RelatedFieldListFilter
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import ForeignKey, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.text import capfirst
from unfold.admin import ModelAdmin, TabularInline
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from integrations.web import staff


class RowChoiceField(forms.ModelChoiceField):  # type: ignore[type-arg]  # of any model
    """A choice of a row. What is no key chooses none when the form is shown again: to look it up
    would be an error."""

    def prepare_value(self, value: Any) -> Any:
        found = super().prepare_value(value)
        if found in self.empty_values or self.queryset is None:
            return found
        try:
            self.queryset.model._meta.pk.clean(found, None)
        except ValidationError:
            return None
        return found


class RowForm(forms.ModelForm):  # type: ignore[type-arg]  # of any model
    """What is wrong with a field that the form does not show is said above it."""

    def add_error(self, field: str | None, error: Any) -> None:
        wrong = getattr(error, "error_dict", None)
        if wrong is not None:
            named: dict[str, list[Any]] = {}
            for name, found in wrong.items():
                named.setdefault(name if name in self.fields else NON_FIELD_ERRORS, []).extend(
                    found
                )
            error = ValidationError(named)
        super().add_error(field, error)


class RowsInline(TabularInline):  # type: ignore[misc]  # the theme is untyped
    """A table of rows that are changed with another. Each input is named by its column, which
    the table itself says to those alone who see it."""

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        found = super().get_formset(request, obj, **kwargs)
        for name, field in found.form.base_fields.items():
            field.widget.attrs["aria-label"] = field.label or name.replace("_", " ")
        return found


class BoundAdmin(ModelAdmin):  # type: ignore[misc]  # the theme is untyped
    """`organisation_path` leads from a row to its organisation, as in a filter. None: its rows
    belong to the whole installation, so superusers alone have rights to them."""

    organisation_path: str | None = "organisation"
    form: Any = RowForm

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **named: Any) -> Any:
        named.setdefault("form_class", RowChoiceField)
        return super().formfield_for_foreignkey(db_field, request, **named)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """The list is called what is in it, not “Select … to view”."""
        titled = {"title": capfirst(self.opts.verbose_name_plural), **(extra_context or {})}
        response: HttpResponse = super().changelist_view(request, titled)
        return response

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Any]":
        return staff.bind(super().get_queryset(request), request.user, self.organisation_path)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._is_met(request) and bool(super().has_module_permission(request))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._is_met(request) and bool(super().has_view_permission(request, obj))

    def has_add_permission(self, request: HttpRequest, *about: Any) -> bool:
        return self._is_met(request) and bool(super().has_add_permission(request, *about))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._is_met(request) and bool(super().has_change_permission(request, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._is_met(request) and bool(super().has_delete_permission(request, obj))

    def _is_met(self, request: HttpRequest) -> bool:
        return self.organisation_path is not None or not staff.is_bound(request.user)

    def get_field_queryset(self, db: str | None, db_field: Any, request: HttpRequest) -> Any:
        """What a form offers, and takes, for a foreign key."""
        offered = super().get_field_queryset(db, db_field, request)
        if not staff.is_bound(request.user):
            return offered
        model = db_field.remote_field.model
        rows = model._default_manager.using(db) if offered is None else offered
        return bind_choices(rows, request, self.admin_site)

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        return [self._bound_filter(one) for one in super().get_list_filter(request)]

    def _bound_filter(self, one: Any) -> Any:
        is_related = isinstance(one, str) and isinstance(
            self.model._meta.get_field(one), ForeignKey
        )
        return (one, RelatedFilter) if is_related else one


def bind_choices(rows: "QuerySet[Any]", request: HttpRequest, site: admin.AdminSite) -> Any:
    """What of another model may be chosen. Nothing of one that has no admin of its own, because
    nobody has said whose its rows are."""
    related = site._registry.get(rows.model)
    path = related.organisation_path if isinstance(related, BoundAdmin) else None
    return staff.bind(rows, request.user, path)


class RelatedFilter(RelatedFieldListFilter):
    """Offers rows of one's own organisations."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[Any]:
        model: type[Model] = field.remote_field.model
        rows = bind_choices(model._default_manager.all(), request, model_admin.admin_site)
        ordering = self.field_admin_ordering(field, request, model_admin)
        return [(str(row.pk), str(row)) for row in rows.order_by(*ordering)]


class AutocompleteFilter(AutocompleteSelectFilter):  # type: ignore[misc]  # the theme is untyped
    """Names the chosen row where it is of one's own organisations."""

    def choices(self, changelist: Any) -> Any:
        for choice in super().choices(changelist):
            for field in choice["form"].fields.values():
                field.queryset = bind_choices(
                    field.queryset.all(), self.request, self.model_admin.admin_site
                )
            yield choice
