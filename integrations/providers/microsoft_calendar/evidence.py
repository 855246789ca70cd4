"""What became of a write to a calendar at Microsoft: by Remit's own record of it, and by whose mark
the event carries now. An answer to an invitation carries none: how the user has answered tells."""

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound
from integrations.models import CalendarWrite
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.providers.calendars import writing
from integrations.providers.calendars.ids import event_id, planned_in
from integrations.providers.microsoft import subscribing
from integrations.providers.microsoft_calendar.answers import EventSaid
from integrations.providers.microsoft_calendar.calendars import Calendars
from integrations.providers.microsoft_calendar.events import CANCELLED, mark_of

# What stands in the row of an event that is to be created, in place of a version.
SENT, TAKEN = "sent", "taken"
# What Microsoft calls the answers.
ANSWERED = {
    "accepted": "accepted",
    "tentative": "tentativelyAccepted",
    "declined": "declined",
}


def find(account: AccountRef, key: str) -> Evidence:
    """Raises ProviderError where Microsoft has to be asked and is away."""

    if (found := subscribing.find_evidence(account, key)) is not None:
        return found

    def look(row: CalendarWrite) -> Evidence:
        own = Calendars(account)
        if row.operation == "create_event":
            return _created(own, row)
        try:
            _, said = own.at(row.path, planned_in(row.event_id))
        except NotFound:
            if row.operation.startswith("answer"):
                # Microsoft takes what was declined out of the calendar, and so do people.
                return CannotTell(ask_again_at=None)
            return writing.judge_missing(row)
        if row.operation.startswith("answer"):
            return _answered(row, said)
        if said.etag == CANCELLED:
            is_own = row.operation == "cancel_event"
            return writing.judge_missing(row) if is_own else CannotTell(ask_again_at=None)
        return writing.judge(row, mark=mark_of(said), etag=said.etag)

    return writing.find_evidence(account, key, look)


def _created(own: Calendars, row: CalendarWrite) -> Evidence:
    found = own.made_by(row.path.partition("/")[0], row.key)
    if found is None and row.etag_before == TAKEN:
        # It was created: somebody has deleted it since, or Microsoft does not list it yet.
        return CannotTell(ask_again_at=None)
    if found is None:
        return NotPerformed(proof="The calendar holds no event that carries this write's mark.")
    row.path, said = found
    answer = {"id": event_id(row.path), "revision": said.etag}
    return Performed(response=answer, at=row.changed_at)


def _answered(row: CalendarWrite, said: EventSaid) -> Evidence:
    if not row.etag_before or said.etag == row.etag_before:
        return NotPerformed(proof="The invitation is as it was before.")
    if has_answered(said, row.operation):
        return Performed(response={"id": row.event_id, "revision": said.etag}, at=row.changed_at)
    return CannotTell(ask_again_at=None)


def has_answered(said: EventSaid, operation: str) -> bool:
    """`operation` as its row names it: “answer accepted”."""
    how = said.answered.how if said.answered else None
    return how == ANSWERED[operation.partition(" ")[2]]
