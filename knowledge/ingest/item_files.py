"""What was read from the files of an item, as rows."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import cast

from knowledge.files.contracts import FileRef, FileText, Reason
from knowledge.models import Item, ItemFile

# Asked for again after 5 and 20 minutes, then 1, 5 and 21 hours.
FIRST_WAIT = timedelta(minutes=5)
MAX_TRIES = 5
# Free to find out again, and another answer after an upgrade.
_FREE = ("unknown_kind", "not_offered", "too_many")


def load_known(item: Item) -> dict[FileRef, FileText]:
    """What need not be read again: the same id names the same bytes."""
    return {
        FileRef(
            name=row.name,
            mime_type=row.mime_type,
            size=row.size,
            file_id=row.file_id,
            attached=row.attached,
        ): FileText(text=row.text, reason=cast("Reason", row.reason), cut=row.cut)
        for row in item.files.exclude(reason__in=[*_FREE, "unavailable"])
    }


def are_waiting(item: Item) -> bool:
    """Whether a file of the item could not be fetched, and should be asked for again."""
    return item.files.exclude(due_at=None).exists()


def has_news(item: Item, found: Sequence[FileText], *, now: datetime) -> bool:
    """Whether one of the files that were missing is there now. If not, they wait longer."""
    waiting = item.files.filter(reason="unavailable")
    if any(found[row.position].reason != "unavailable" for row in waiting):
        return True
    postpone(item, now=now)
    return False


def postpone(item: Item, *, now: datetime) -> None:
    """Ask for the item's missing files later, or at last no more."""
    waiting = list(item.files.filter(reason="unavailable"))
    for row in waiting:
        row.tries += 1
        row.due_at = _due(row.tries, now=now)
    ItemFile.objects.bulk_update(waiting, ["tries", "due_at"])


def replace_files(
    item: Item,
    refs: Sequence[FileRef],
    texts: Sequence[FileText],
    *,
    is_new: bool,
    now: datetime,
) -> None:
    """Make these all the files of the item. For the transaction that writes the item."""
    if not is_new:
        item.files.all().delete()
    ItemFile.objects.bulk_create(build_rows(item, refs, texts, now=now))


def build_rows(
    item: Item, refs: Sequence[FileRef], texts: Sequence[FileText], *, now: datetime
) -> list[ItemFile]:
    """The files of the item with what was read of each, not stored."""
    return [
        ItemFile(
            item=item,
            position=position,
            **vars(ref),
            **vars(read),
            due_at=_due(0, now=now) if read.reason == "unavailable" else None,
        )
        for position, (ref, read) in enumerate(zip(refs, texts, strict=True))
    ]


def _due(tries: int, *, now: datetime) -> datetime | None:
    return now + FIRST_WAIT * 4**tries if tries < MAX_TRIES else None
