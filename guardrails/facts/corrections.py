"""What a person said about a label by taking it off mail, or putting it on. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

# As long as a pattern acts without a hit: later nobody remembers it, and the sender may be
# somebody else. Long enough for what comes once a quarter.
COUNTS_FOR = timedelta(days=100)


@dataclass(frozen=True, kw_only=True)
class Correction:
    """At `at` a person took this label off a like mail; at `lifted_at` they put it on one."""

    label_id: str
    at: datetime
    lifted_at: datetime | None = None


def find_standing(
    corrections: Iterable[Correction], label_id: str, *, now: datetime
) -> datetime | None:
    """When a person took this label off like mail, where that is their newest word about it and
    still counts."""
    about = [one for one in corrections if one.label_id == label_id]
    last = max((one.at for one in about), default=None)
    lifted = max((one.lifted_at for one in about if one.lifted_at), default=None)
    if last is None or last <= now - COUNTS_FOR or (lifted is not None and lifted > last):
        return None
    return last
