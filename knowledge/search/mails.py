"""Heads of stored mail: who wrote, about what, and where the mail lies."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db.models import Count, F, Func, QuerySet

from knowledge.contracts import StoredMail
from knowledge.models import Item

NOT_RECEIVED = ("SENT", "DRAFT", "TRASH", "SPAM")


def load_by_ids(account_id: UUID, source_ids: Iterable[str]) -> dict[str, StoredMail]:
    """The account's mails with these provider ids. One query."""
    rows = _rows(account_id).filter(source_id__in=list(source_ids))
    return {row.source_id: _mail(row) for row in rows}


def list_from_sender(account_id: UUID, *, address: str, limit: int) -> tuple[StoredMail, ...]:
    """The account's newest mails that this address is proved to have sent: what others sent in its
    name says nothing about its own. One query."""
    address = address.lower()
    rows = _rows(account_id).filter(
        identifiers__contains=[address], sender_address=address, metadata__authenticated=True
    )
    return tuple(map(_mail, rows.order_by("-occurred_at")[:limit]))


def list_of_list(account_id: UUID, *, list_id: str, limit: int) -> tuple[StoredMail, ...]:
    """The account's newest mails of this mailing list. One query."""
    rows = _rows(account_id).filter(metadata__list_id=list_id)
    return tuple(map(_mail, rows.order_by("-occurred_at")[:limit]))


def list_received(
    account_id: UUID,
    *,
    own_address: str,
    since: datetime | None = None,
    until: datetime | None = None,
    label: str = "",
    limit: int,
) -> tuple[StoredMail, ...]:
    """The account's newest mails from others, `until` not included; with this label, if one is
    given. Drafts, trash and spam are none. One query."""
    rows = _rows(account_id).exclude(sender_address=own_address.lower())
    for name in NOT_RECEIVED:
        rows = rows.exclude(metadata__labels__contains=[name])
    if since:
        rows = rows.filter(occurred_at__gte=since)
    if until:
        rows = rows.filter(occurred_at__lt=until)
    if label:
        rows = rows.filter(metadata__labels__contains=[label])
    return tuple(map(_mail, rows.order_by("-occurred_at", "source_id")[:limit]))


def _rows(account_id: UUID) -> QuerySet[Item]:
    return Item.objects.filter(account_id=account_id, content_type="email", deleted_at=None).only(
        "source_id", "sender_address", "title", "metadata", "occurred_at", "own_since"
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
        left_by_agent=row.own_since is not None,
    )


def list_labelled(account_id: UUID, *, label: str, limit: int) -> tuple[StoredMail, ...]:
    """The account's mails with this label, the oldest first. One query."""
    rows = _rows(account_id).filter(metadata__labels__contains=[label])
    return tuple(map(_mail, rows.order_by("occurred_at", "source_id")[:limit]))


def count_labels(account_id: UUID) -> dict[str, int]:
    """How many stored mails of the account have each label, by the provider's id. One query."""
    rows = _rows(account_id).annotate(
        label=Func(F("metadata__labels"), function="jsonb_array_elements_text")
    )
    return dict(rows.order_by().values_list("label").annotate(number=Count("id", distinct=True)))
