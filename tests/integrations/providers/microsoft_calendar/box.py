"""One user's calendars at the fake of Microsoft Graph."""

from dataclasses import dataclass

from integrations.contracts import AccountRef, Event
from integrations.providers.microsoft_calendar import changes
from integrations.providers.microsoft_calendar.reader import GraphCalendarReader
from integrations.providers.microsoft_calendar.writer import GraphCalendarWriter
from tests.microsoft_calendar_world import OutlookCalendar


@dataclass(frozen=True, kw_only=True)
class Box:
    outlook: OutlookCalendar
    account: AccountRef

    @property
    def reader(self) -> GraphCalendarReader:
        return GraphCalendarReader(self.account)

    @property
    def writer(self) -> GraphCalendarWriter:
        return GraphCalendarWriter(self.account)

    def look(self) -> list[tuple[str, str]]:
        """What is new: kinds and titles, or ids of what is gone."""
        found: list[tuple[str, str]] = []
        for looked in changes.look(self.account):
            for _, event in looked.events:
                data = event.data or {}
                found.append((event.kind, data.get("title", event.source_id)))
            looked.keep()
        return found

    def id_of(self, title: str) -> str:
        cursor = None
        while True:
            page = self.reader.items(since=None, cursor=cursor, limit=50)
            for one in page.items:
                if isinstance(one, Event) and one.title == title:
                    return one.id
            assert page.next_cursor, title
            cursor = page.next_cursor
