"""Writes to somebody's calendars at Google. Only `integrations.accounts.writes` may import this
module.

A new event has an id made from its key: Google takes it once. A change is made on the version that
was looked at and no other. Each write is a row (`CalendarWrite`), committed before Google is
called, and everybody who attends hears of it from Google itself (`sendUpdates`).
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound, Rejected
from integrations.models import CalendarWrite
from integrations.network.answers import parse
from integrations.ports.calendar import Answer as Response, CalendarWriter
from integrations.providers.account_writer import AccountWriter
from integrations.providers.calendars import writing
from integrations.providers.calendars.ids import event_id as event_id_of, planned_in
from integrations.providers.calendars.places import find_place, remember
from integrations.providers.calendars.writing import Answer
from integrations.providers.google.session import Taken
from integrations.providers.google_calendar import edit
from integrations.providers.google_calendar.answers import EventSaid
from integrations.providers.google_calendar.calendars import Calendars, primary_of
from integrations.providers.google_calendar.events import MARK, mark_of, path_of


class GoogleCalendarWriter(AccountWriter):
    """Satisfies `integrations.ports.calendar.CalendarWriter`."""

    def create_event(self, fields: Mapping[str, Any], *, key: str) -> Answer:
        own = Calendars(self._account)
        id = id_of_key(key)
        path = path_of(primary_of(own.all), id)
        event_id = event_id_of(path)
        row = writing.begin(self._account, key, "create_event", path=path, event_id=event_id)
        if row.done:
            return dict(row.answer)
        body = edit.changes_of(fields, None) | {"id": id, **_mark(key)}
        place = own.url(f"{path.rpartition('/')[0]}/")
        try:
            said = self._send(own, "POST", place, body, tells=bool(body.get("attendees")))
        except Taken:
            # By an earlier try, or in an invitation that was given this very id.
            said = parse(EventSaid, own.session.get(own.url(path)))
            if mark_of(said) != key:
                raise
        remember(self._account, {path: ()})
        return writing.finish(row, said.etag)

    def change_event(
        self, event_id: str, changes: Mapping[str, Any], *, revision: str | None, key: str
    ) -> Answer:
        return self._changed("change_event", event_id, changes, revision=revision, key=key)

    def answer_event(
        self,
        event_id: str,
        answer: Response,
        *,
        proposed: tuple[str, str] | None,
        revision: str | None,
        key: str,
    ) -> Answer:
        if proposed:
            raise Rejected(
                "Google takes no other time from a program. Answer without one, and write to who "
                "invites."
            )
        row = self._begin("answer_event", event_id, key)
        if row.done:
            return dict(row.answer)
        own = Calendars(self._account)
        path, said = own.open(event_id)
        if mark_of(said) == key:
            return writing.finish(row, said.etag)
        self._note(row, said, revision)
        me = next((one for one in said.attendees if one.is_self), None)
        if me is None:
            raise Rejected("The user is not among those who are invited.")
        # With `attendeesOmitted` the other guests stay as they are.
        mine = {"email": me.email, "responseStatus": answer}
        body = {"attendees": [mine], "attendeesOmitted": True, **_mark(key)}
        after = self._send(own, "PATCH", own.url(path), body, etag=said.etag, tells=True)
        return writing.finish(row, after.etag)

    def cancel_event(self, event_id: str, *, revision: str | None, key: str) -> Answer:
        if planned_in(event_id):
            gone = {"status": "cancelled"}
            return self._changed("cancel_one", event_id, gone, revision=revision, key=key)
        row = self._begin("cancel_event", event_id, key)
        if row.done:
            return dict(row.answer)
        own, was_sent = Calendars(self._account), bool(row.etag_before)
        try:
            path, said = own.open(event_id)
            if said.is_gone:
                raise NotFound("the event is not in its calendar any more")
            self._check(row, said, revision)
            self._send(
                own, "DELETE", own.url(path), None, etag=said.etag, tells=edit.has_others(said)
            )
        except NotFound:
            if not was_sent:
                raise
        return writing.finish(row, "")

    def _changed(
        self,
        operation: str,
        event_id: str,
        changes: Mapping[str, Any],
        *,
        revision: str | None,
        key: str,
    ) -> Answer:
        row = self._begin(operation, event_id, key)
        if row.done:
            return dict(row.answer)
        own = Calendars(self._account)
        path, said = own.open(event_id)
        if mark_of(said) == key:
            return writing.finish(row, said.etag)
        self._check(row, said, revision)
        if said.recurrence and {"start", "end"} & changes.keys():
            edit.check_series(said, parts=find_place(self._account, event_id).parts)
        body = edit.changes_of(changes, said) | _mark(key)
        tells = edit.has_others(said) or bool(body.get("attendees"))
        after = self._send(own, "PATCH", own.url(path), body, etag=said.etag, tells=tells)
        return writing.finish(row, after.etag)

    def _begin(self, operation: str, event_id: str, key: str) -> CalendarWrite:
        path = find_place(self._account, event_id).path
        return writing.begin(self._account, key, operation, path=path, event_id=event_id)

    def _note(self, row: CalendarWrite, said: EventSaid, revision: str | None) -> None:
        """Google must be able to hold the write to the version that was looked at; which one that
        is stands in the row."""
        if not said.etag:
            raise Rejected("Google does not say which version of the event this is.")
        writing.note_version(row, said.etag, revision)

    def _check(self, row: CalendarWrite, said: EventSaid, revision: str | None) -> None:
        """Only who invited changes an event, in the version that was looked at."""
        self._note(row, said, revision)
        if said.organizer is not None and not said.organizer.is_self:
            raise Rejected("Only who invited to this event can change it. Write to them.")

    def _send(
        self,
        own: Calendars,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        *,
        etag: str = "",
        tells: bool,
    ) -> EventSaid:
        """`tells`: there are people who get word of it."""
        params = {"sendUpdates": "all" if tells else "none"}
        said = own.session.send(method, path, body, params=params, etag=etag)
        return parse(EventSaid, said or {"id": "-"})


def id_of_key(key: str) -> str:
    """As Google wants the ids that others choose: letters a to v and digits."""
    return f"remit{sha256(key.encode()).hexdigest()[:40]}"


def _mark(key: str) -> dict[str, Any]:
    return {"extendedProperties": {"private": {MARK: key}}}


open_writer: Callable[[AccountRef], CalendarWriter] = GoogleCalendarWriter
