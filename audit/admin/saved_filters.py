"""Filters of the ledger's list that people saved: their own, and those that others shared."""

from collections.abc import Mapping
from uuid import UUID

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponseRedirect, QueryDict
from django.urls import reverse

from audit.admin import filters
from audit.models import SavedFilter

# What of an address is saved: pages and the like are not.
PARAMETERS = (
    *("status", "hours", "action_type", "account_id", "run_id", "clocks"),
    *("on_behalf_of", "tenant_id", "q"),
)
MAX_SAVED, MAX_VALUE = 50, 300


class NotSaved(Exception):
    """The filters were not saved. The message says why and what to do."""


def read_query(params: Mapping[str, str]) -> str:
    """The filters in these parameters, as a query of their own."""
    query = QueryDict(mutable=True)
    for name in PARAMETERS:
        value = params.get(name, "").strip()[:MAX_VALUE]
        if value and "\x00" not in value:
            query[name] = value
    return query.urlencode()


def list_saved(*, owner: str, tenant_id: UUID | None) -> list[SavedFilter]:
    """One's own, and those shared for this organisation."""
    rows = SavedFilter.objects.filter(
        Q(owner=owner) | Q(is_shared=True, tenant_id=tenant_id, tenant_id__isnull=False)
    )
    return list(rows.order_by("name", "saved_at")[: 2 * MAX_SAVED])


def store(
    *, owner: str, tenant_id: UUID | None, name: str, params: Mapping[str, str], is_shared: bool
) -> SavedFilter:
    """Save filters under a name; one's own of the same name is replaced. Raises NotSaved."""
    name, query = " ".join(name.split())[:60], read_query(params)
    if not name or not name.isprintable():
        raise NotSaved("Give the filters a name.")
    if not query:
        raise NotSaved("Choose a filter first.")
    if is_shared and tenant_id is None:
        raise NotSaved(
            "Choose an organisation in the filters first: only its people will see a shared filter."
        )
    mine = SavedFilter.objects.filter(owner=owner)
    if mine.exclude(name=name).count() >= MAX_SAVED:
        raise NotSaved(f"You have saved {MAX_SAVED} already: delete one first.")
    found, _ = SavedFilter.objects.update_or_create(
        owner=owner,
        name=name,
        defaults={"tenant_id": tenant_id, "query": query, "is_shared": is_shared},
    )
    return found


def save(request: HttpRequest) -> HttpResponseRedirect:
    """Save the filters in the address under a name."""
    chosen = filters.filters(request)
    try:
        found = store(
            owner=str(request.user.pk),
            tenant_id=chosen.tenant_id if chosen else None,
            name=request.POST.get("name", ""),
            params=request.GET.dict(),
            is_shared=bool(request.POST.get("shared")),
        )
    except NotSaved as error:
        messages.error(request, str(error))
        return redirect(request.GET.urlencode())
    messages.success(request, f"Saved as “{found.name}”.")
    return redirect(found.query)


def delete(request: HttpRequest, key: UUID) -> HttpResponseRedirect:
    """Delete one's own; somebody else's is not there."""
    mine = SavedFilter.objects.filter(owner=str(request.user.pk), id=key)
    if not mine.delete()[0]:
        raise Http404
    messages.success(request, "Deleted.")
    return redirect(request.GET.urlencode())


def redirect(query: str) -> HttpResponseRedirect:
    return HttpResponseRedirect(f"{reverse('admin:audit_executedagentaction_changelist')}?{query}")
