"""What happened to files, as events: of a drive that tells it file by file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from integrations.contracts import AccountRef, Document
from integrations.models import Delivery
from integrations.providers import item_events


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A file as it is now. `name` is that of the event, `came_at` when it was made, or this user
    let in. Without `describe` it is gone."""

    id: str
    name: str
    came_at: datetime
    describe: Callable[[], Document] | None


def events_of(
    account: AccountRef, files: Sequence[Seen], *, new_since: datetime
) -> tuple[item_events.Event, ...]:
    """What came before `new_since`, or is known, is no new file."""
    known = frozenset(
        Delivery.objects.filter(
            account_id=account.id, source_id__in=[one.id for one in files]
        ).values_list("source_id", flat=True)
    )
    found = []
    for one in files:
        if one.describe is None:
            found.append((one.name, item_events.gone(account, one.id)))
            continue
        is_new = one.id not in known and one.came_at >= new_since
        kind: item_events.Kind = "created" if is_new else "updated"
        found.append((one.name, item_events.seen(account, kind, one.describe())))
    return tuple(found)
