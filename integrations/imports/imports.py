"""Mail and events out of files, page by page, for an import. Nothing is written anywhere."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Generic, TypeVar
from zoneinfo import ZoneInfo

from integrations.child import Unreadable
from integrations.contracts import AnyItem, Event, Page, Rejected
from integrations.imports import calendar_files, reading
from integrations.imports.calendar_files import NoEventsHere
from integrations.imports.spool import Spool
from integrations.mail import files
from integrations.mail.files import RawMail

PAGE = 50  # mails in memory at once, each of at most a megabyte once it is parsed

UNREADABLE = {
    "too_slow": "reading it took too long",
    "too_much_memory": "reading it took too much memory",
    "broken": "it could not be read",
}
"""Why a child could not read it, in words."""

T = TypeVar("T")
Entry = AnyItem | Rejected


class FilePages(Generic[T]):
    """The entries of one file or folder. A cursor is good for as long as the file stays as it
    is; read on elsewhere it starts over, and what is known already costs little.

    `attached` holds the attachments of the last two pages.
    """

    def __init__(
        self, path: Path, *, entries: Callable[[], Iterable[T]], read: Callable[[T, Spool], Entry]
    ) -> None:
        self.place = place(str(path.resolve()), *_file_version(path))
        self.attached = Spool()
        self._entries, self._read = entries, read
        self._open: Iterator[T] = iter(())
        self._position = -1

    def page(self, cursor: str | None) -> Page[AnyItem]:
        position = int(cursor.rpartition(" ")[2]) if cursor else 0
        if position != self._position:
            self._open = iter(self._entries())
            for _ in islice(self._open, position):
                pass
        self._position = -1  # should it fail, all of the page is read again
        self.attached.next_page()
        found = [self._read(one, self.attached) for one in islice(self._open, PAGE)]
        self._position = position + len(found)
        return Page(
            items=tuple(one for one in found if not isinstance(one, Rejected)),
            rejected=tuple(one for one in found if isinstance(one, Rejected)),
            next_cursor=f"{self.place} {self._position}" if len(found) == PAGE else None,
        )

    def close(self) -> None:
        self.attached.close()


def place(*parts: str) -> str:
    """What tells one place that is read in from another: a digest, it says nothing itself."""
    return sha256("\0".join(parts).encode()).hexdigest()[:24]


def _file_version(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        return ()
    stat = path.stat()
    return str(stat.st_size), str(stat.st_mtime_ns)


def mail_pages(path: Path, *, now: datetime) -> FilePages[RawMail | files.Unreadable]:
    """The mails of an mbox, Maildir, .eml file or folder. Raises NoMailHere.

    `now` dates mails that neither they nor the file date.
    """
    files.read_mail(path)  # says at once when there is none

    def read(found: RawMail | files.Unreadable, attached: Spool) -> Entry:
        if isinstance(found, files.Unreadable):
            return Rejected(source_id=found.place[:500], reason=found.reason)
        try:
            mail = reading.read_mail(found.raw, fallback_date=min(found.date, now), contents=True)
        except Unreadable as error:
            return Rejected(source_id=found.place[:500], reason=error.reason)
        email = mail.with_files(lambda number: attached.keep(mail.contents[number]))
        # Nobody knows any more whether it was read.
        return email.model_copy(update={"labels": (), "is_read": True})

    return FilePages(path, entries=lambda: files.read_mail(path), read=read)


def calendar_pages(path: Path, *, zone: ZoneInfo) -> FilePages[Event | Rejected]:
    """The events of an .ics file. `zone` is that of times which name none. Raises NoEventsHere,
    and Unavailable."""
    raw = calendar_files.load(path)
    try:
        found = reading.read_events(raw, zone=zone)
    except Unreadable as error:
        raise NoEventsHere(f"{path} was set aside: {UNREADABLE[error.reason]}.") from error
    return FilePages(path, entries=lambda: found, read=lambda event, _: event)
