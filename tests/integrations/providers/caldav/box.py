"""One user's calendars for the tests of `integrations.providers.caldav`."""

from dataclasses import dataclass
from typing import cast

from integrations.contracts import AccountRef, Event, Page
from integrations.providers.caldav import changes
from integrations.providers.caldav.reader import CalDavReader
from integrations.providers.caldav.writer import CalDavWriter
from tests.calendar_world import CalendarServer


@dataclass(frozen=True, kw_only=True)
class Box:
    """One user's calendars: at the server, and as Remit has them."""

    server: CalendarServer
    account: AccountRef

    @property
    def reader(self) -> CalDavReader:
        return CalDavReader(self.account)

    @property
    def writer(self) -> CalDavWriter:
        return CalDavWriter(self.account)

    def page(self, *, cursor: str | None = None, limit: int = 10) -> Page[Event]:
        return cast(Page[Event], self.reader.items(since=None, cursor=cursor, limit=limit))

    def only(self) -> Event:
        """The one event that a listing finds."""
        (found,) = self.page().items
        return found

    def look(self) -> list[tuple[str, str]]:
        """What comes out at a look: kind and title, or id. It is kept, as a caller does."""
        found: list[tuple[str, str]] = []
        for looked in changes.look(self.account):
            looked.keep()
            for _, event in looked.events:
                data = event.data or {}
                found.append((event.kind, str(data.get("title", event.source_id))))
        return found
