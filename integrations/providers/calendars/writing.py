"""Writes to calendars as rows (`CalendarWrite`): committed before the server is called, with the
version of the event that they were made on, and settled by what the server holds afterwards."""

from collections.abc import Callable
from typing import Any

from integrations.contracts import AccountRef
from integrations.exceptions import Changed
from integrations.models import CalendarWrite
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.providers import own_record
from integrations.providers.calendars.places import remember

Answer = dict[str, Any]


def begin(
    account: AccountRef, key: str, operation: str, *, path: str, event_id: str
) -> CalendarWrite:
    """The row of this write, new or from an earlier try."""
    about = {"operation": operation, "path": path, "event_id": event_id}
    row, _ = CalendarWrite.objects.get_or_create(account_id=account.id, key=key, defaults=about)
    return row


def note_version(row: CalendarWrite, etag: str, revision: str | None) -> None:
    """Raises Changed where it is not the one that was decided on."""
    if revision is not None and etag != revision:
        raise Changed("it has another version by now")
    row.etag_before = etag
    row.save(update_fields=["etag_before", "changed_at"])


def finish(row: CalendarWrite, etag: str) -> Answer:
    row.answer = {"id": row.event_id} | ({"revision": etag} if etag else {})
    row.done = True
    row.save(update_fields=["answer", "done", "changed_at"])
    return dict(row.answer)


def find_evidence(
    account: AccountRef, key: str, look: Callable[[CalendarWrite], Evidence]
) -> Evidence:
    """An event that turns out to have been created is one that Remit has seen."""
    row = CalendarWrite.objects.filter(account_id=account.id, key=key).first()
    found = own_record.find_evidence(row, look)
    if row and row.operation == "create_event" and isinstance(found, Performed):
        remember(account, {row.path: ()})
    return found


def judge(row: CalendarWrite, *, mark: str, etag: str) -> Evidence:
    """By the event as it is now: whose mark it carries, and which version it is."""
    if mark == row.key:
        answer = {"id": row.event_id, "revision": etag}
        return Performed(response=answer, at=row.changed_at)
    if row.operation == "create_event":
        return NotPerformed(proof="What the calendar holds under this name is not from this write.")
    if row.operation == "cancel_event":
        return NotPerformed(proof="The event is still in the calendar.")
    if not row.etag_before:
        # It is kept before the change is sent.
        return NotPerformed(proof="Remit had not sent the change yet.")
    if etag == row.etag_before:
        return NotPerformed(proof="The event is as it was before.")
    # Somebody else has changed it since: on top of this write, or in its place.
    return CannotTell(ask_again_at=None)


def judge_missing(row: CalendarWrite) -> Evidence:
    if row.operation == "cancel_event":
        return Performed(response={"id": row.event_id}, at=row.changed_at)
    return NotPerformed(proof="The calendar holds no such event.")
