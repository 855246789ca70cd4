"""Writes to somebody's calendars. Only `integrations.accounts.writes` may import this module.

A new event is put under a name made from its key, where nothing else may be: the server takes it
once. A change is put on the version that was looked at and no other. Each write is a row
(`CalendarWrite`), committed before the server is called.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.exceptions import Changed, NotFound, Rejected
from integrations.models import CalendarWrite
from integrations.ports.calendar import Answer as Response, CalendarWriter
from integrations.providers.account_writer import AccountWriter
from integrations.providers.caldav import edit, events
from integrations.providers.caldav.calendars import STRONG, Calendars
from integrations.providers.caldav.edit import Author
from integrations.providers.calendars import writing
from integrations.providers.calendars.ids import event_id as event_id_of, planned_in
from integrations.providers.calendars.places import remember
from integrations.providers.calendars.writing import Answer


class Edit(Protocol):
    """A text that a server keeps, with one event in it changed."""

    def __call__(self, raw: bytes, id: str, *, by: Author) -> bytes: ...


_KEY = re.compile(r"[A-Za-z0-9-]{1,200}")


class CalDavWriter(AccountWriter):
    """Satisfies `integrations.ports.calendar.CalendarWriter`."""

    def create_event(self, fields: Mapping[str, Any], *, key: str) -> Answer:
        own = Calendars(self._account)
        if not own.server.write_to:
            raise Rejected("No calendar of this account can be written to.")
        if not _KEY.fullmatch(key):
            raise Rejected("the key is no name")
        url = urljoin(own.server.write_to, f"{key}.ics")
        path = urlsplit(url).path
        row = writing.begin(
            self._account, key, "create_event", path=path, event_id=event_id_of(path)
        )
        if row.done:
            return dict(row.answer)
        content = edit.create(fields, by=self._author(own, key))
        try:
            etag = own.session.create(url, content)
        except Changed:
            etag, present = own.session.get(url)
            if events.mark_of(present) != key:
                raise
        remember(self._account, {row.path: ()})
        return writing.finish(row, etag)

    def change_event(
        self, event_id: str, changes: Mapping[str, Any], *, revision: str | None, key: str
    ) -> Answer:
        def edited(raw: bytes, id: str, *, by: Author) -> bytes:
            return edit.change(raw, id, changes, by=by)

        return self._replaced("change_event", event_id, edited, revision=revision, key=key)

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
                "A calendar server passes on no other time (RFC 6638). Answer without one, and "
                "write to who invites."
            )

        def edited(raw: bytes, id: str, *, by: Author) -> bytes:
            return edit.answer(raw, id, answer, by=by)

        return self._replaced("answer_event", event_id, edited, revision=revision, key=key)

    def cancel_event(self, event_id: str, *, revision: str | None, key: str) -> Answer:
        if planned_in(event_id):
            return self._replaced(
                "cancel_one", event_id, edit.cancel_one, revision=revision, key=key
            )
        own, row = self._opened("cancel_event", event_id, key)
        if row.done:
            return dict(row.answer)
        was_sent = bool(row.etag_before)
        try:
            etag, _ = own.session.get(own.url(row.path))
            self._check(row, etag, revision)
            own.session.delete(own.url(row.path), etag=etag)
        except NotFound:
            if not was_sent:
                raise
        return writing.finish(row, "")

    def _replaced(
        self, operation: str, event_id: str, edited: Edit, *, revision: str | None, key: str
    ) -> Answer:
        own, row = self._opened(operation, event_id, key)
        if row.done:
            return dict(row.answer)
        etag, raw = own.session.get(own.url(row.path))
        if events.mark_of(raw) == key:
            return writing.finish(row, etag)
        self._check(row, etag, revision)
        content = edited(raw, event_id, by=self._author(own, key))
        return writing.finish(row, own.session.replace(own.url(row.path), content, etag=etag))

    def _opened(self, operation: str, event_id: str, key: str) -> tuple[Calendars, CalendarWrite]:
        own = Calendars(self._account)
        path = own.place(event_id).path
        return own, writing.begin(self._account, key, operation, path=path, event_id=event_id)

    def _check(self, row: CalendarWrite, etag: str, revision: str | None) -> None:
        """The server must be able to hold the write to the version that was looked at; which one
        that is stands in the row."""
        if not etag.startswith(STRONG):
            raise Rejected("The server does not tell versions apart, so nothing is changed here.")
        writing.note_version(row, etag, revision)

    def _author(self, own: Calendars, key: str) -> Author:
        return Author(
            address=self._account.address,
            name=self._account.display_name,
            addresses=own.own_addresses,
            zone=self._account.time_zone,
            key=key,
            at=timezone.now(),
            tells=own.server.schedules,
        )


open_writer: Callable[[AccountRef], CalendarWriter] = CalDavWriter
