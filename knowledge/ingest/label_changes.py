"""Changes of mails' labels at which nobody has looked yet, whichever way word of them came."""

from collections.abc import Sequence
from uuid import UUID

from knowledge.models import Item


def list_accounts() -> tuple[UUID, ...]:
    """Whose mails have such changes. One query."""
    rows = Item.objects.filter(labels_before__isnull=False).order_by()
    return tuple(rows.values_list("account_id", flat=True).distinct())


def list_changes(account_id: UUID, *, limit: int) -> dict[str, tuple[str, ...]]:
    """The labels that the account's mails had before, by the provider's ids. One query."""
    rows = Item.objects.filter(account_id=account_id, labels_before__isnull=False)
    found = rows.order_by("-occurred_at").values_list("source_id", "labels_before")[:limit]
    return {source_id: tuple(labels or ()) for source_id, labels in found}


def forget(account_id: UUID, source_id: str, *, before: Sequence[str]) -> None:
    """Somebody has looked at the change from the labels `before`. One statement."""
    rows = Item.objects.filter(account_id=account_id, source_id=source_id)
    rows.filter(labels_before=list(before)).update(labels_before=None)
