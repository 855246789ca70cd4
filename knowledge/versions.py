"""Which of two versions of an item is the older one. Pure."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Version:
    """What a provider says about a version: a rising number (0: none), a time, or both."""

    number: int
    updated_at: datetime | None


def is_stale(new: Version, *, stored: Version, last_deleted_at: datetime | None) -> bool:
    """Whether `new` must not replace what is stored, or bring back what was deleted.

    Nothing from before the last deletion counts any more, whatever its number, and a restored
    item counts whatever its number: some providers begin at 1 again. Otherwise numbers decide
    where both have one and they differ, else times. Without either, the one that arrives last
    counts; but a deleted item comes back only with a later time.
    """
    if last_deleted_at:
        if not (new.updated_at and new.updated_at > last_deleted_at):
            return True
        if not (stored.updated_at and stored.updated_at > last_deleted_at):
            return False
    if new.number and stored.number and new.number != stored.number:
        return new.number < stored.number
    if new.updated_at and stored.updated_at:
        return new.updated_at < stored.updated_at
    return False
