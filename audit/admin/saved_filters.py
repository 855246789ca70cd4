"""Choices of filters that people keep: their own, and those that others shared."""

from collections.abc import Mapping
from uuid import UUID

from django.db.models import Q
from django.http import QueryDict

from audit.models import SavedFilter

# What of an address is kept: pages and the like are not.
PARAMETERS = (
    *("status", "hours", "action_type", "account_id", "run_id", "clocks"),
    *("tenant_id", "q"),
)
MAX_SAVED, MAX_VALUE = 50, 300


class NotSaved(Exception):
    """The choice was not kept. The message says why and what to do."""


def chosen(params: Mapping[str, str]) -> str:
    """The filters in these parameters, as a query of their own."""
    kept = QueryDict(mutable=True)
    for name in PARAMETERS:
        value = params.get(name, "").strip()[:MAX_VALUE]
        if value and "\x00" not in value:
            kept[name] = value
    return kept.urlencode()


def shown(*, owner: str, tenant_id: UUID | None) -> list[SavedFilter]:
    """One's own, and those shared for this organisation."""
    rows = SavedFilter.objects.filter(
        Q(owner=owner) | Q(is_shared=True, tenant_id=tenant_id, tenant_id__isnull=False)
    )
    return list(rows.order_by("name", "saved_at")[: 2 * MAX_SAVED])


def save(
    *, owner: str, tenant_id: UUID | None, name: str, params: Mapping[str, str], is_shared: bool
) -> SavedFilter:
    """Keep a choice under a name; one's own of the same name is replaced. Raises NotSaved."""
    name, query = " ".join(name.split())[:60], chosen(params)
    if not name or not name.isprintable():
        raise NotSaved("Give the choice a name.")
    if not query:
        raise NotSaved("Nothing is filtered: choose something first.")
    if is_shared and tenant_id is None:
        raise NotSaved("Choose an organisation in the filters first: a choice is shared in one.")
    mine = SavedFilter.objects.filter(owner=owner)
    if mine.exclude(name=name).count() >= MAX_SAVED:
        raise NotSaved(f"You keep {MAX_SAVED} already: delete one first.")
    found, _ = SavedFilter.objects.update_or_create(
        owner=owner,
        name=name,
        defaults={"tenant_id": tenant_id, "query": query, "is_shared": is_shared},
    )
    return found


def delete(*, owner: str, key: UUID) -> bool:
    """Delete one's own; false when it is not there or somebody else's."""
    return bool(SavedFilter.objects.filter(owner=owner, id=key).delete()[0])
