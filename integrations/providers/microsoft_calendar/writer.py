"""Writes to somebody's calendars at Microsoft. Only `integrations.accounts.writes` may import this
module.

A new event carries the key of its write as the id of its transaction, under which Graph creates
once, and as a mark, by which it is found again. A change names the version that was looked at;
Graph's reference does not promise to hold it to that. Each write is a row (`CalendarWrite`),
committed before Graph is called. Everybody who attends hears of it from Microsoft itself: nobody
can ask it not to.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound, ProviderError, Rejected
from integrations.models import CalendarWrite
from integrations.network.answers import parse
from integrations.ports.calendar import Answer as Response, CalendarWriter
from integrations.providers.calendars import writing
from integrations.providers.calendars.ids import event_id as event_id_of
from integrations.providers.calendars.places import find_place, remember
from integrations.providers.calendars.writing import Answer
from integrations.providers.microsoft import marks
from integrations.providers.microsoft.session import Taken
from integrations.providers.microsoft.subscribing import SubscribingWriter
from integrations.providers.microsoft_calendar import edit
from integrations.providers.microsoft_calendar.answers import EventSaid
from integrations.providers.microsoft_calendar.calendars import Calendars, place_of, url
from integrations.providers.microsoft_calendar.events import CANCELLED, mark_of, path_of
from integrations.providers.microsoft_calendar.evidence import SENT, TAKEN, has_answered

HOW = {"accepted": "accept", "tentative": "tentativelyAccept", "declined": "decline"}


class GraphCalendarWriter(SubscribingWriter):
    """Satisfies `integrations.ports.calendar.CalendarWriter` and `.pushes.PushWriter`."""

    resource = "me/events"

    def create_event(self, fields: Mapping[str, Any], *, key: str) -> Answer:
        with self._opened() as own:
            path = path_of(own.all[0], "")
            row = writing.begin(self._account, key, "create_event", path=path, event_id="")
            if row.done:
                return dict(row.answer)
            calendar_id = row.path.partition("/")[0]
            if row.etag_before and (found := own.made_by(calendar_id, key)):
                return self._created(row, *found)
            body = edit.changes_of(fields, None) | {"transactionId": key, **marks.field(key)}
            writing.note_version(row, SENT, None)
            try:
                answer = own.session.send("POST", f"{place_of(calendar_id)}/events", body)
            except Taken:
                writing.note_version(row, TAKEN, None)
                raise
            said = parse(EventSaid, answer)
            return self._created(row, f"{calendar_id}/{said.id}", said)

    def change_event(
        self, event_id: str, changes: Mapping[str, Any], *, revision: str | None, key: str
    ) -> Answer:
        with self._opened() as own:
            row = self._begin("change_event", event_id, key)
            if row.done:
                return dict(row.answer)
            path, said = own.open(event_id)
            if mark_of(said) == key:
                return writing.finish(row, said.etag)
            self._check(own, row, path, said, revision)
            body = edit.changes_of(changes, said, me=self._account.address) | marks.field(key)
            after = parse(EventSaid, own.session.send("PATCH", url(path), body, etag=said.etag))
            return writing.finish(row, after.etag)

    def answer_event(
        self,
        event_id: str,
        answer: Response,
        *,
        proposed: tuple[str, str] | None,
        revision: str | None,
        key: str,
    ) -> Answer:
        with self._opened() as own:
            row = self._begin(f"answer {answer}", event_id, key)
            if row.done:
                return dict(row.answer)
            path, said = own.open(event_id)
            if (
                row.etag_before
                and said.etag != row.etag_before
                and has_answered(said, row.operation)
            ):
                return writing.finish(row, said.etag)
            if said.is_own or said.is_cancelled:
                raise Rejected("The user is not among those who are invited.")
            writing.note_version(row, said.etag, revision)
            body: dict[str, Any] = {"sendResponse": True}
            if proposed:
                if not said.takes_times:
                    raise Rejected("Who invites takes no other time. Answer without one.")
                times = zip(("start", "end"), proposed, strict=True)
                body["proposedNewTime"] = {name: edit.moment(at) for name, at in times}
            own.session.send("POST", f"{url(path)}/{HOW[answer]}", body)
            after = ""
            with suppress(ProviderError):  # what is declined is in the calendar no more
                after = own.get(path).etag
            return writing.finish(row, after)

    def cancel_event(self, event_id: str, *, revision: str | None, key: str) -> Answer:
        with self._opened() as own:
            row = self._begin("cancel_event", event_id, key)
            if row.done:
                return dict(row.answer)
            is_one, was_sent = "_" in event_id, bool(row.etag_before)
            try:
                path, said = own.open(event_id)
                if said.etag != CANCELLED or not was_sent:
                    self._check(own, row, path, said, revision)
                    own.session.send("DELETE", url(path), etag=said.etag)
            except NotFound:
                if not was_sent:
                    raise
            return writing.finish(row, CANCELLED if is_one else "")

    @contextmanager
    def _opened(self) -> Iterator[Calendars]:
        own = Calendars(self._account)
        try:
            yield own
        finally:
            self.request_id = own.session.request_id

    def _begin(self, operation: str, event_id: str, key: str) -> CalendarWrite:
        path = find_place(self._account, event_id).path
        return writing.begin(self._account, key, operation, path=path, event_id=event_id)

    def _created(self, row: CalendarWrite, path: str, said: EventSaid) -> Answer:
        remember(self._account, {path: ()})
        row.path, row.event_id = path, event_id_of(path)
        row.save(update_fields=["path", "event_id"])
        return writing.finish(row, said.etag)

    def _check(
        self, own: Calendars, row: CalendarWrite, path: str, said: EventSaid, revision: str | None
    ) -> None:
        """Only who invited changes an event, in the version that was looked at, which stands in
        the row. Raises Rejected and Changed."""
        if not said.etag or said.etag == CANCELLED:
            raise Rejected("The event does not take place any more, or has no version.")
        writing.note_version(row, said.etag, revision)
        if not own.calendar_of(path).can_edit:
            raise Rejected("The user may not change this calendar.")
        if not said.is_own:
            raise Rejected("Only who invited to this event can change it. Write to them.")
        if said.is_unsent:
            raise Rejected(
                "Changes of this event that its guests have not heard of wait in Outlook. Send or "
                "undo them there."
            )


open_writer: Callable[[AccountRef], CalendarWriter] = GraphCalendarWriter
