"""Heads of stored mail: who wrote, about what, and where the mail lies."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Func, QuerySet

from integrations.database.together import Read, Row
from knowledge.contracts import StoredMail
from knowledge.models import Item

NOT_RECEIVED = ("SENT", "DRAFT", "TRASH", "SPAM")
# Every mail asks for those like it: composed by Django, it took several times as long.
_NEWEST = """
SELECT source_id, sender_address, title, occurred_at, own_since, metadata::text
FROM knowledge_item
WHERE account_id = %(account)s AND content_type = 'email' AND deleted_at IS NULL AND {like}
ORDER BY occurred_at DESC LIMIT %(limit)s
"""
_OF_SENDER = _NEWEST.format(
    like="""identifiers @> ARRAY[%(address)s::text] AND sender_address = %(address)s
    AND metadata -> 'authenticated' = 'true'"""
)
_OF_LIST = _NEWEST.format(like="metadata -> 'list_id' = to_jsonb(%(list)s::text)")


def load_by_ids(account_id: UUID, source_ids: Iterable[str]) -> dict[str, StoredMail]:
    """The account's mails with these provider ids. One query."""
    rows = _rows(account_id).filter(source_id__in=list(source_ids))
    return {row.source_id: _mail(row) for row in rows}


def read_from_sender(account_id: UUID, *, address: str, limit: int) -> Read[tuple[StoredMail, ...]]:
    """The account's newest mails that this address is proved to have sent: what others sent in its
    name says nothing about its own."""
    given = {"account": account_id, "address": address.lower(), "limit": limit}
    return Read(_OF_SENDER, given, _stored_mails)


def read_of_list(account_id: UUID, *, list_id: str, limit: int) -> Read[tuple[StoredMail, ...]]:
    """The account's newest mails of this mailing list."""
    return Read(_OF_LIST, {"account": account_id, "list": list_id, "limit": limit}, _stored_mails)


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


def _stored_mails(rows: Sequence[Row]) -> tuple[StoredMail, ...]:
    return tuple(_stored(*row, metadata=json.loads(said)) for *row, said in rows)


def _mail(row: Item) -> StoredMail:
    head = (row.source_id, row.sender_address, row.title, row.occurred_at, row.own_since)
    return _stored(*head, metadata=row.metadata)


def _stored(
    source_id: str,
    sender: str,
    subject: str,
    occurred_at: datetime,
    own_since: int | None,
    *,
    metadata: Mapping[str, Any],
) -> StoredMail:
    return StoredMail(
        source_id=source_id,
        thread_id=str(metadata.get("thread_id") or ""),
        sender=sender,
        subject=subject,
        list_id=str(metadata.get("list_id") or ""),
        authenticated=metadata.get("authenticated") is True,
        labels=tuple(metadata.get("labels") or ()),
        occurred_at=occurred_at,
        left_by_agent=own_since is not None,
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
