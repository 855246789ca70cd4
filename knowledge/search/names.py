"""What things are called, as the index has them."""

from uuid import UUID

from knowledge.models import Item


def find_title(account_id: UUID, source_id: str) -> str:
    """The title of the account's item with this provider id; empty where it has none here. One
    query."""
    rows = Item.objects.filter(account_id=account_id, source_id=source_id, deleted_at=None)
    return rows.values_list("title", flat=True).first() or ""
