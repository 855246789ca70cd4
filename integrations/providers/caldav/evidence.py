"""What became of a write to a calendar: by Remit's own record of it, and by whose mark the event
carries now."""

from datetime import timedelta
from urllib.parse import urljoin

from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound
from integrations.models import CalendarWrite
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.providers.caldav import events
from integrations.providers.dav.session import session_of

# A server that is slow may still do what it was sent.
LATE = timedelta(seconds=30)


def find(account: AccountRef, key: str) -> Evidence:
    """Raises ProviderError where the server has to be asked and is away."""
    row = CalendarWrite.objects.filter(account_id=account.id, key=key).first()
    if row is None:
        return NotPerformed(proof="Remit had sent nothing to the calendar server under this key.")
    if row.done:
        return Performed(response=row.answer, at=row.changed_at)
    found = _look(account, row)
    late = row.changed_at + LATE
    if isinstance(found, NotPerformed) and timezone.now() < late:
        return CannotTell(ask_again_at=late)
    return found


def _look(account: AccountRef, row: CalendarWrite) -> Evidence:
    session, sign_in = session_of(account)
    performed = Performed(response={"id": row.event_id}, at=row.changed_at)
    try:
        etag, raw = session.get(urljoin(sign_in.servers["home"], row.path))
    except NotFound:
        if row.operation == "cancel_event":
            return performed
        return NotPerformed(proof="The calendar holds no such event.")
    if events.mark_of(raw) == row.key:
        return Performed(response={**performed.response, "revision": etag}, at=row.changed_at)
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
