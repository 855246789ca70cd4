"""A trial of calendars: their server is found and signed in at, and what Remit can do there is
said. Nothing is stored, and nothing is written to a calendar."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from urllib.parse import urlsplit
from uuid import uuid4

from integrations.credentials.credentials import SignIn
from integrations.exceptions import (
    Malformed,
    NotFound,
    ProviderError,
    RateLimited,
    Rejected,
    TooLarge,
    TooSlow,
    Unavailable,
)
from integrations.mail.addresses import is_addr_spec
from integrations.network import certificates
from integrations.ports.evidence import Ability
from integrations.providers.caldav import discovery
from integrations.providers.caldav.discovery import Calendar
from integrations.providers.caldav.servers import CalendarServer
from integrations.providers.dav.session import DavSession, Refused, SignInRefused

SECONDS = 20.0  # until the last request of a trial begins
# Large ones whose calendars are not at the domain of the address. Written down from what their
# own pages say; not tried.
KNOWN = {
    "icloud.com": "caldav.icloud.com",
    "me.com": "caldav.icloud.com",
    "mac.com": "caldav.icloud.com",
    "fastmail.com": "caldav.fastmail.com",
    "yahoo.com": "caldav.calendar.yahoo.com",
    "gmx.net": "caldav.gmx.net",
    "gmx.de": "caldav.gmx.net",
    "web.de": "caldav.web.de",
    "mailbox.org": "dav.mailbox.org",
    "posteo.de": "posteo.de:8443",
    "zoho.com": "calendar.zoho.com",
}
NO_PASSWORDS = frozenset({"gmail.com", "googlemail.com", "outlook.com", "hotmail.com", "live.com"})


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A sign-in that worked, and what there is."""

    server: CalendarServer
    calendars: tuple[Calendar, ...]
    abilities: tuple[Ability, ...] = field(default=())


def find_urls(address: str) -> tuple[str, ...]:
    """Where an address's calendars may be, the likeliest first. Raises Rejected for what is no
    address, and where passwords are not taken."""
    if not is_addr_spec(address) or not address.isascii():
        raise Rejected("This is no mail address.")
    domain = address.rpartition("@")[2].lower()
    if domain in NO_PASSWORDS:
        raise Rejected(
            "This provider takes no passwords from programs for calendars, and signing in through "
            "its page is not built yet."
        )
    if domain in KNOWN:
        return (_well_known(KNOWN[domain]),)
    names = (domain, f"caldav.{domain}", f"dav.{domain}", f"calendar.{domain}")
    return tuple(map(_well_known, names))


def read_url(text: str) -> str:
    """From HOST, HOST:PORT or an address. Raises Rejected."""
    url = text.strip()
    url = url if "://" in url else f"https://{url}"
    try:
        host = (urlsplit(url).port, urlsplit(url).hostname)[1]
    except ValueError:
        host = None
    if not host:
        raise Rejected("This is no address of a calendar server. One looks like dav.example.org.")
    return url if urlsplit(url).path else f"{url}{discovery.WELL_KNOWN}"


def try_urls(urls: Sequence[str], *, user_name: str, secret: str) -> Tried:
    """Signs in at the first that is a calendar server. Raises ProviderError with a sentence for
    people. A sign-in that is refused is not tried elsewhere."""
    last: ProviderError = Unavailable("No calendar server was found. Name it.")
    until = monotonic() + SECONDS
    for url in urls:
        try:
            return _tried(url, user_name, secret, until=until)
        except ProviderError as error:
            kind = Rejected if isinstance(error, Refused) else type(error)
            found = kind(explain(url, error))
            found.__cause__ = error
        # What a server that is there says tells more than that another one is not.
        if not isinstance(found, Unavailable) or isinstance(last, Unavailable):
            last = found
        if isinstance(last, SignInRefused | RateLimited):
            break
    raise last


def explain(url: str, error: ProviderError) -> str:
    """What went wrong at a server, and what to do about it."""
    host = urlsplit(url).netloc
    if distrusted := certificates.find(error):
        return certificates.explain(host, distrusted)
    if isinstance(error, SignInRefused):
        return (
            f"{host} refused the sign-in. Most providers want an app password, made in the "
            "security settings of the account there, in place of the usual one. Some want a user "
            "name that is not the address."
        )
    if isinstance(error, RateLimited):
        return f"{host} takes no sign-in now. Try again in a few minutes."
    if isinstance(error, TooSlow):
        return f"{host} answers too slowly. Try again in a few minutes."
    if isinstance(error, Unavailable):
        return f"{host} does not answer. Check the name of the server and the port."
    if isinstance(error, Malformed | Refused | NotFound | TooLarge):
        return f"{host} answers, but not as a calendar server does. Check the name of the server."
    return str(error)


def _tried(url: str, user_name: str, secret: str, *, until: float) -> Tried:
    sign_in = SignIn(user_name=user_name, servers={}, secret=secret, fingerprint=uuid4().hex)

    @contextmanager
    def slot() -> Iterator[None]:
        if monotonic() > until:
            raise TooSlow("no time is left")
        yield

    session = DavSession(sign_in, site=url, slot=slot)
    server = discovery.find_server(session, url)
    calendars = discovery.list_calendars(session, server)
    return Tried(
        server=server, calendars=tuple(calendars), abilities=tuple(_abilities(server, calendars))
    )


def _abilities(server: CalendarServer, calendars: Sequence[Calendar]) -> Iterator[Ability]:
    once = "The server takes a new event under its name once; doing it twice changes nothing."
    same = "The server changes only the version that was looked at."
    no_calendar = "" if server.write_to else "No calendar of this user's own can be written to."
    tells = (
        ("A", "The server itself tells everybody who attends, as soon as an event is saved.")
        if server.schedules and server.write_to
        else ("", "The server tells nobody. Remit saves no event that invites people here.")
    )
    found = "" if calendars else "There is no calendar with events."
    rows = (
        ("Read and search", "A", found, "Reading changes nothing there."),
        ("Create events", "A", no_calendar, once),
        ("Change and cancel events", "A", no_calendar, same),
        ("Invite people", tells[0], "" if tells[0] else tells[1], tells[1]),
    )
    for what, grade, missed, why in rows:
        yield Ability(what=what, grade="" if missed else grade, why=missed or why)


def _well_known(host: str) -> str:
    return f"https://{host}{discovery.WELL_KNOWN}"
