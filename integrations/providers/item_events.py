"""What happened to an item of an account that Remit looks at itself, as an event."""

from typing import Literal

from django.utils import timezone

from integrations.contracts import (
    AccountRef,
    ContentType,
    Document,
    Email,
    Event as CalendarEvent,
    Issue,
)
from integrations.contracts.events import ItemEvent

Kind = Literal["created", "updated", "deleted"]
# With a name of its own, which is the same however often it is seen.
Event = tuple[str, ItemEvent]
TYPES: dict[type, ContentType] = {
    Email: "email",
    Document: "document",
    CalendarEvent: "event",
    Issue: "issue",
}
# What tells its versions apart. Which one a mail is in, only its reader says.
LEFT_OUT: dict[ContentType, set[str]] = {"email": {"revision", "version", "updated_at"}}


def seen(
    account: AccountRef, kind: Kind, item: Email | Document | CalendarEvent | Issue
) -> ItemEvent:
    content_type = TYPES[type(item)]
    return ItemEvent(
        kind=kind,
        user_id=account.external_user_id,
        source=account.source,
        source_id=item.id,
        content_type=content_type,
        data=item.model_dump(
            mode="json", by_alias=True, exclude=LEFT_OUT.get(content_type, {"version"})
        ),
        timestamp=timezone.now(),
    )


def gone(account: AccountRef, id: str) -> ItemEvent:
    return ItemEvent(
        kind="deleted",
        user_id=account.external_user_id,
        source=account.source,
        source_id=id,
        timestamp=timezone.now(),
    )
