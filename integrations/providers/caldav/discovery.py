"""Whose server it is and which calendars it has (RFC 6764, RFC 5397, RFC 4791, RFC 6638)."""

from dataclasses import dataclass
from urllib.parse import urljoin

from integrations.exceptions import Malformed, NotFound, Rejected
from integrations.providers.caldav.servers import CalendarServer
from integrations.providers.dav import principals
from integrations.providers.dav.multistatus import CS, C, D, Response, path_of
from integrations.providers.dav.session import DavSession, Refused

WELL_KNOWN = "/.well-known/caldav"
HOME = f"{C}calendar-home-set"
ADDRESSES, INBOX = f"{C}calendar-user-address-set", f"{C}schedule-inbox-URL"
USUAL = f"{C}schedule-default-calendar-URL"
KIND, NAME, CONTENTS = (
    f"{D}resourcetype",
    f"{D}displayname",
    f"{C}supported-calendar-component-set",
)
RIGHTS, TOKEN, COUNT = (
    f"{D}current-user-privilege-set",
    f"{D}sync-token",
    f"{CS}getctag",
)
SCHEDULES = "calendar-auto-schedule"
MAX_CALENDARS = 100
NOT_HERE = "There is no calendar server (CalDAV) at this address. Name it."


@dataclass(frozen=True, kw_only=True)
class Calendar:
    """One collection of events. `token` names its present state; empty where the server gives
    none. `is_own`: nobody else is said to own it."""

    url: str
    path: str
    name: str
    token: str
    is_own: bool
    is_writable: bool


def find_server(session: DavSession, url: str) -> CalendarServer:
    """From any address on the server to its user's calendars. Raises ProviderError."""
    principal = principals.find(session, url, well_known=WELL_KNOWN, otherwise=NOT_HERE)
    found = _only(session.propfind(principal, [HOME, ADDRESSES, INBOX]).responses)
    homes = found.hrefs(HOME)
    if not homes:
        raise Rejected("The server keeps no calendars for this user.")
    home = _folder(urljoin(principal, homes[0]))
    addresses = [one[7:].lower() for one in found.hrefs(ADDRESSES) if one[:7].lower() == "mailto:"]
    server = CalendarServer(home=home, addresses=tuple(dict.fromkeys(addresses)))
    calendars = list_calendars(session, server)
    writable = [one for one in calendars if one.is_writable and one.is_own]
    usual = _usual(session, principal, found)
    chosen = next((one for one in writable if one.path.rstrip("/") == usual), None)
    chosen = chosen or next(iter(writable), None)
    if chosen is None:
        return server
    return CalendarServer(
        home=home,
        write_to=chosen.url,
        schedules=SCHEDULES in session.options(chosen.url),
        addresses=server.addresses,
    )


def list_calendars(session: DavSession, server: CalendarServer) -> list[Calendar]:
    """Those that hold events, by path. Raises ProviderError."""
    wanted = [principals.SELF, principals.OWNER, KIND, NAME, CONTENTS, RIGHTS, TOKEN, COUNT]
    found = session.propfind(server.home, wanted, depth=1).responses
    calendars = [_calendar(one, server) for one in found if _has_events(one)]
    if len(calendars) > MAX_CALENDARS:
        raise Rejected(f"There are more than {MAX_CALENDARS} calendars.")
    return sorted(calendars, key=lambda one: one.path)


def _usual(session: DavSession, principal: str, found: Response) -> str:
    """The path of the calendar that the server itself puts invitations into."""
    for inbox in found.hrefs(INBOX):
        url = urljoin(principal, inbox)
        try:
            found_there = _only(session.propfind(url, [USUAL]).responses)
        except (NotFound, Refused, Malformed):
            continue
        for href in found_there.hrefs(USUAL):
            return (path_of(href, url=url) or "").rstrip("/")
    return ""


def _calendar(found: Response, server: CalendarServer) -> Calendar:
    path = found.path if found.path.endswith("/") else f"{found.path}/"
    rights = found.names(RIGHTS)
    writes = {f"{D}write", f"{D}write-content", f"{D}all", f"{D}bind"}
    return Calendar(
        url=urljoin(server.home, path),
        path=path,
        name=found.text(NAME)[:200],
        token=found.text(TOKEN) or found.text(COUNT),
        is_own=principals.is_own(found),
        is_writable=RIGHTS not in found.properties or bool(rights & writes),
    )


def _has_events(found: Response) -> bool:
    if f"{C}calendar" not in found.names(KIND):
        return False
    kinds = found.properties.get(CONTENTS)
    return kinds is None or any(one.get("name", "").upper() == "VEVENT" for one in kinds)


def _folder(url: str) -> str:
    return url if url.endswith("/") else f"{url}/"


def _only(responses: tuple[Response, ...]) -> Response:
    if not responses:
        raise Malformed("the server says nothing about what was asked")
    return responses[0]
