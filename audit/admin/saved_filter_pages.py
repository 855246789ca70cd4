"""Keeping and deleting choices of filters from the ledger's list."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.urls import reverse

from audit.admin import filters, saved_filters


def save(request: HttpRequest) -> HttpResponseRedirect:
    """Keeps the filters in the address under a name."""
    chosen = filters.filters(request.GET)
    try:
        found = saved_filters.save(
            owner=str(request.user.pk),
            tenant_id=chosen.tenant_id if chosen else None,
            name=request.POST.get("name", ""),
            params=request.GET.dict(),
            is_shared=bool(request.POST.get("shared")),
        )
    except saved_filters.NotSaved as error:
        messages.error(request, str(error))
        return _list(request.GET.urlencode())
    messages.success(request, f"Saved as “{found.name}”.")
    return _list(found.query)


def delete(request: HttpRequest, key: UUID) -> HttpResponseRedirect:
    """Deletes one's own; somebody else's is not there."""
    if not saved_filters.delete(owner=str(request.user.pk), key=key):
        raise Http404
    messages.success(request, "Deleted.")
    return _list(request.GET.urlencode())


def _list(query: str) -> HttpResponseRedirect:
    return HttpResponseRedirect(f"{reverse('admin:audit_executedagentaction_changelist')}?{query}")
