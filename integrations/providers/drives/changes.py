"""What happened to files, as events: of a drive that tells it file by file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.utils import timezone

from integrations.contracts import AccountRef, Document
from integrations.contracts.events import ItemEvent
from integrations.models import Delivery
from integrations.providers.mailboxes.changes import Event

Kind = Literal["created", "updated", "deleted"]


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
) -> tuple[Event, ...]:
    """What came before `new_since`, or is known, is no new file."""
    known = frozenset(
        Delivery.objects.filter(
            account_id=account.id, source_id__in=[one.id for one in files]
        ).values_list("source_id", flat=True)
    )
    found = []
    for one in files:
        kind: Kind = "updated"
        if one.describe is None:
            kind = "deleted"
        elif one.id not in known and one.came_at >= new_since:
            kind = "created"
        found.append((one.name, _event(account, kind, one)))
    return tuple(found)


def _event(account: AccountRef, kind: Kind, seen: Seen) -> ItemEvent:
    found = seen.describe() if seen.describe is not None else None
    return ItemEvent(
        kind=kind,
        user_id=account.external_user_id,
        source=account.source,
        source_id=seen.id,
        content_type="document" if found else None,
        data=found.model_dump(mode="json", exclude={"version"}) if found else None,
        timestamp=timezone.now(),
    )
