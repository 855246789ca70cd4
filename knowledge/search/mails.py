"""Heads of stored mail: who wrote, about what, and where the mail lies."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Q, QuerySet

from knowledge.contracts import StoredMail
from knowledge.models import Item

LIMIT = 100


def load_by_ids(account_id: UUID, source_ids: Iterable[str]) -> dict[str, StoredMail]:
    """The account's mails with these provider ids. One query."""
    rows = _rows(account_id).filter(source_id__in=list(source_ids))
    return {row.source_id: _mail(row) for row in rows}


def list_from_sender(
    account_id: UUID, *, address: str = "", domain: str = "", list_id: str = "", limit: int = LIMIT
) -> tuple[StoredMail, ...]:
    """The account's newest mails from this address, domain or list: all that are given must
    fit whole, and none given finds nothing. One query."""
    wanted = Q()
    if address:
        wanted &= Q(identifiers__contains=[address.lower()], sender_address=address.lower())
    if domain:
        wanted &= Q(sender_address__endswith=f"@{domain.lower()}")
    if list_id:
        wanted &= Q(metadata__list_id=list_id)
    if not wanted:
        return ()
    return tuple(map(_mail, _rows(account_id).filter(wanted).order_by("-occurred_at")[:limit]))


def _rows(account_id: UUID) -> QuerySet[Item]:
    return Item.objects.filter(account_id=account_id, content_type="email", deleted_at=None).only(
        "source_id", "sender_address", "title", "metadata", "occurred_at"
    )


def _mail(row: Item) -> StoredMail:
    return StoredMail(
        source_id=row.source_id,
        thread_id=str(row.metadata.get("thread_id") or ""),
        sender=row.sender_address,
        subject=row.title,
        list_id=str(row.metadata.get("list_id") or ""),
        authenticated=row.metadata.get("authenticated") is True,
        labels=tuple(row.metadata.get("labels") or ()),
        occurred_at=row.occurred_at,
    )
