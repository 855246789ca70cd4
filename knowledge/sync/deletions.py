"""What was removed at the data service since an account was last read to its end.

The contract's lists do not name what is gone; its history does, where a service keeps one. An
entry alone removes nothing: the item must be gone when it is asked for, too. So neither a list
that is cut off or empty nor a wrong history takes away what is still there.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from integrations.accounts import reads
from integrations.contracts import AccountRef, Change
from integrations.exceptions import Malformed, NotFound
from integrations.ports import registry
from knowledge.ingest.ingest import forget, leave_out
from knowledge.models import Item

PAGE = 100
MAX_PAGES = 1_000


def forget_removed(account: AccountRef, *, since: datetime) -> Iterator[bool]:
    """Forget what the history since then says was deleted and what is gone: for each item that
    had to be looked at, whether it went. A service without a history has nothing to say. Raises
    ProviderError. What the account's operator does not let in any more goes first."""
    yield from _forget_left_out(account)
    for page in _history(account, since=since):
        deleted = {one.object_id: one.at for one in page if one.change == "deleted"}
        for row in _stored(account, list(deleted)):
            at = deleted.get(row.source_id) or deleted[row.metadata["key"]]
            yield _gone(account, row.source_id) and _forgotten(account, row.source_id, at=at)


def _forget_left_out(account: AccountRef) -> Iterator[bool]:
    """What is stored of an account that was narrowed since."""
    let_in = {"project_key": account.project_keys, "mime_type": account.mime_types}
    for name, values in let_in.items():
        if not values:
            continue
        rows = Item.objects.filter(
            **{f"metadata__{name}__isnull": False}, account_id=account.id, deleted_at=None
        ).exclude(**{f"metadata__{name}__in": values})
        for source_id in rows.values_list("source_id", flat=True):
            yield leave_out(account=account, source_id=source_id, at=timezone.now())


def _history(account: AccountRef, *, since: datetime) -> Iterator[Sequence[Change]]:
    if not registry.BY_SOURCE[account.source].capabilities.history:
        return
    reader, cursor, cursors = reads.reader(account), None, set[str]()
    while True:
        try:
            page = reader.history(since=since, cursor=cursor, limit=PAGE)
        except NotFound:
            return
        yield page.items
        cursor = page.next_cursor
        if cursor is None:
            return
        if cursor in cursors or len(cursors) >= MAX_PAGES:
            raise Malformed("the history never ends")
        cursors.add(cursor)


def _stored(account: AccountRef, names: Sequence[str]) -> Sequence[Item]:
    """The items that the history calls by these names: their ids, or an issue's key."""
    by_key = Q(
        content_type="issue",
        identifiers__overlap=[name.lower() for name in names],
        metadata__key__in=names,
    )
    rows = Item.objects.filter(
        Q(source_id__in=names) | by_key,
        account_id=account.id,
        source=account.source,
        deleted_at=None,
    )
    return list(rows.only("source_id", "metadata")) if names else ()


def _gone(account: AccountRef, source_id: str) -> bool:
    try:
        reads.reader(account).item(source_id)
    except NotFound:
        return True
    return False


def _forgotten(account: AccountRef, source_id: str, *, at: datetime) -> bool:
    return forget(account=account, source_id=source_id, at=at).state == "deleted"
