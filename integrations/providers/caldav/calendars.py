"""The calendars of one account, open to be read: listed, and resources fetched with the events in
them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urljoin

from integrations.contracts import AccountRef, Event, Rejected
from integrations.exceptions import Malformed, NotFound, TooLarge
from integrations.models import CalendarPlace
from integrations.providers.caldav import discovery, events
from integrations.providers.caldav.discovery import Calendar
from integrations.providers.caldav.servers import CalendarServer
from integrations.providers.calendars.places import find_place
from integrations.providers.dav import multistatus
from integrations.providers.dav.collections import ETAG, listed
from integrations.providers.dav.multistatus import C
from integrations.providers.dav.session import session_of

DATA = f"{C}calendar-data"
FETCHED_AT_ONCE = 50
STRONG = '"'  # what a version begins with that a write can be held to


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """One resource, as it was at `etag`. Its events have that as their revision."""

    path: str
    etag: str
    raw: bytes
    entries: tuple[Event | Rejected, ...]

    @property
    def ids(self) -> list[str]:
        return [one.id for one in self.entries if isinstance(one, Event)]


class Calendars:
    def __init__(self, account: AccountRef) -> None:
        self.session, sign_in = session_of(account)
        self.account = account
        self.server = CalendarServer.from_json(sign_in.servers)

    @property
    def own_addresses(self) -> frozenset[str]:
        """Those that name the account's user."""
        found = (self.account.address, *self.server.addresses)
        return frozenset(one.lower() for one in found if one)

    def all(self) -> list[Calendar]:
        return discovery.list_calendars(self.session, self.server)

    def url(self, path: str) -> str:
        return urljoin(self.server.home, path)

    def etags(self, calendar: Calendar) -> dict[str, str]:
        """Every resource of a calendar with its version."""
        found = self.session.propfind(calendar.url, [ETAG], depth=1)
        return dict(listed(found.responses, calendar.path))

    def paths_between(
        self, calendar: Calendar, since: datetime, until: datetime | None
    ) -> list[str]:
        """The resources with events that take place in this time; without an end, since then."""
        start, end = (f"{one:%Y%m%dT%H%M%SZ}" if one else "" for one in (since, until))
        body = multistatus.events_between(start, end)
        found = self.session.report(calendar.url, body, depth=1)
        return [path for path, _ in listed(found.responses, calendar.path)]

    def fetch(
        self, calendar: Calendar, paths: Sequence[str], *, at: datetime | None
    ) -> Iterator[Fetched]:
        """What is there of these; what is gone is left out."""
        for start in range(0, len(paths), FETCHED_AT_ONCE):
            raws = self._contents(calendar, paths[start : start + FETCHED_AT_ONCE])
            yield from self._read(raws, is_own=calendar.is_own, at=at)

    def open(self, path: str, *, is_own: bool, at: datetime | None = None) -> Fetched:
        """One resource. Raises NotFound."""
        etag, raw = self.session.get(self.url(path), most_bytes=events.MAX_RESOURCE_BYTES)
        (found,) = self._read({path: (etag, raw)}, is_own=is_own, at=at)
        return found

    def place(self, id: str) -> CalendarPlace:
        """Raises NotFound for an event that Remit has never seen."""
        return find_place(self.account, id)

    def calendar_of(self, path: str) -> Calendar:
        """The calendar that a resource lies in. Raises NotFound."""
        folder = f"{path.rpartition('/')[0]}/"
        for one in self.all():
            if one.path == folder:
                return one
        raise NotFound("the calendar is gone")

    def _contents(
        self, calendar: Calendar, paths: Sequence[str]
    ) -> Mapping[str, tuple[str, bytes]]:
        """Version and content by path."""
        try:
            body = multistatus.multiget(paths)
            found = self.session.report(calendar.url, body, depth=1).responses
        except (TooLarge, Malformed):  # one event may spoil an answer about many
            return dict(self._one_by_one(paths))
        wanted = set(paths)
        return {
            one.path: (one.text(ETAG), data.encode())
            for one in found
            if one.path in wanted and (data := one.text(DATA))
        }

    def _one_by_one(self, paths: Iterable[str]) -> Iterator[tuple[str, tuple[str, bytes]]]:
        for path in paths:
            try:
                yield path, self.session.get(self.url(path), most_bytes=events.MAX_RESOURCE_BYTES)
            except NotFound:
                continue
            except TooLarge:
                yield path, ("", b" " * (events.MAX_RESOURCE_BYTES + 1))

    def _read(
        self, raws: Mapping[str, tuple[str, bytes]], *, is_own: bool, at: datetime | None
    ) -> Iterator[Fetched]:
        found = events.read(
            {path: raw for path, (_, raw) in raws.items()},
            owner=self.account.address if is_own else "",
            zone=self.account.time_zone,
            at=at,
        )
        for path, (etag, raw) in raws.items():
            entries = tuple(
                one if isinstance(one, Rejected) else one.model_copy(update={"revision": etag})
                for one in found[path]
            )
            yield Fetched(path=path, etag=etag, raw=raw, entries=entries)
