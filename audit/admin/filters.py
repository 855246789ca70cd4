"""The filters of the ledger's list, and the same choice as a value for exports."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from unfold.contrib.filters.admin import DropdownFilter, TextFilter

from audit.contracts import Filters, Status
from audit.ledger import people, provider_side, queries, search, selectors
from audit.ledger.timeline import reveal
from audit.models import choices

PERIODS = {"1": "Last hour", "24": "Last 24 hours", "168": "Last 7 days", "720": "Last 30 days"}


def uuid(text: str) -> UUID | None:
    try:
        return UUID(text.strip())
    except ValueError:
        return None


class ExactFilter(TextFilter):  # type: ignore[misc]  # the theme is untyped
    def queryset(self, request: HttpRequest, queryset: queries.Rows) -> queries.Rows:
        value = (self.value() or "").strip()
        return queryset.filter(**{self.parameter_name: value}) if value else queryset


class IdFilter(ExactFilter):
    def queryset(self, request: HttpRequest, queryset: queries.Rows) -> queries.Rows:
        value = (self.value() or "").strip()
        if value and uuid(value) is None:
            return queryset.none()
        return super().queryset(request, queryset)


class ActionTypeFilter(ExactFilter):
    title, parameter_name = "action type", "action_type"


class RunFilter(ExactFilter):
    title, parameter_name = "run (turn) id", "run_id"


class AccountFilter(IdFilter):
    title, parameter_name = "account id", "account_id"


class OrganisationFilter(IdFilter):
    title, parameter_name = "organisation id", "tenant_id"


class BeforeFilter(admin.ListFilter):
    """Where a list goes on: behind the last row of the page before. It has no place on the page."""

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


class StatusFilter(DropdownFilter):  # type: ignore[misc]
    title, parameter_name = "status", "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return choices(Status)

    def queryset(self, request: HttpRequest, queryset: queries.Rows) -> queries.Rows:
        value = self.value()
        if value == "pending":  # each action began so: no index has those that are still
            queryset = search.keep_recent(queryset, list_tenants(request))
        return queries.keep_status(queryset, value) if value else queryset


class PersonFilter(DropdownFilter):  # type: ignore[misc]
    """Actions for one person, chosen by name."""

    title, parameter_name = "person", "on_behalf_of"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return []  # they come with the names of who is on the page

    def has_output(self) -> bool:
        return True

    def choices(self, changelist: Any) -> Iterator[Any]:
        chosen = self.value() or ""
        offered = people.offer(changelist.names, only_tenant(self.request), chosen)
        self.lookup_choices = [(id, reveal(label)) for id, label in offered]
        yield from super().choices(changelist)

    def queryset(self, request: HttpRequest, queryset: queries.Rows) -> queries.Rows:
        value = self.value()
        return queryset.filter(on_behalf_of=value) if value else queryset


class PeriodFilter(DropdownFilter):  # type: ignore[misc]
    title, parameter_name = "time", "hours"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(PERIODS.items())

    def queryset(self, request: HttpRequest, queryset: queries.Rows) -> queries.Rows:
        return queries.select_between(queryset, since=since(self.value()), until=None)


class ClocksFilter(DropdownFilter):  # type: ignore[misc]
    """Actions with a row whose two times do not agree."""

    title, parameter_name = "clocks", "clocks"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("apart", "More than 2 s apart")]

    def queryset(self, request: HttpRequest, queryset: queries.Rows) -> queries.Rows:
        if not self.value():
            return queryset
        chosen = uuid(request.GET.get("tenant_id", ""))
        tenants = [chosen] if chosen else people.list_met(request.user)
        before = uuid(request.GET.get("before", ""))
        return queries.keep_newest_apart(queryset, tenants=tenants, before=before)


def list_tenants(request: HttpRequest) -> Sequence[UUID]:
    """The organisation that is chosen, else all whose rows somebody meets."""
    if chosen := uuid(request.GET.get("tenant_id", "")):
        return [chosen]
    tenants = people.list_met(request.user)
    return provider_side.list_tenants() if tenants is None else tenants


def since(hours: str | None) -> datetime | None:
    return timezone.now() - timedelta(hours=int(hours)) if hours in PERIODS else None


def only_tenant(request: HttpRequest) -> UUID | None:
    """The organisation that is meant; None while that is not clear, or it is not one of those that
    the person meets. Looked for once a request."""
    if not hasattr(request, "_only_tenant"):
        vars(request)["_only_tenant"] = _find_tenant(request.GET.get("tenant_id", ""), request)
    found: UUID | None = vars(request)["_only_tenant"]
    return found


def _find_tenant(named: str, request: HttpRequest) -> UUID | None:
    wanted, tenants = uuid(named), people.list_met(request.user)
    if tenants is None:
        return wanted or selectors.only_tenant()
    if wanted is None:
        return tenants[0] if len(tenants) == 1 else None
    return wanted if wanted in tenants else None


def filters(request: HttpRequest) -> Filters | None:
    """What the list's filters choose; None while the organisation is not clear, or is not one of
    those that the person meets."""
    params, tenant_id = request.GET, only_tenant(request)
    if tenant_id is None:
        return None
    person = params.get("on_behalf_of", "")
    return Filters(
        tenant_id=tenant_id,
        account_id=uuid(params.get("account_id", "")),
        action_type=params.get("action_type", "").strip(),
        status=params.get("status", ""),
        run_id=params.get("run_id", "").strip(),
        on_behalf_of=frozenset({person} if person else ()),
        clocks_apart=bool(params.get("clocks")),
        since=since(params.get("hours")),
    )
