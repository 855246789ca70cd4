"""A trial of calendars: their server is found and signed in at, and what Remit can do there is
said. Nothing is stored, and nothing is written to a calendar."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from integrations.exceptions import (
    ProviderError,
    RateLimited,
    Rejected,
    Unavailable,
)
from integrations.mail.addresses import is_addr_spec
from integrations.network import services
from integrations.ports.evidence import Ability
from integrations.providers.caldav import discovery
from integrations.providers.caldav.discovery import Calendar
from integrations.providers.caldav.servers import CalendarServer
from integrations.providers.dav import trial
from integrations.providers.dav.session import SignInRefused
from integrations.providers.trial_slots import Slot, slots

REFUSED = (
    "Most providers want an app password, made in the security settings of the account there, in "
    "place of the usual one. Some want a user name that is not the address."
)
NO_CALENDARS = "{host} answers, but not as a calendar server does. Check the name of the server."
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
    address, where passwords are not taken, and where DNS says that there are none or names another
    site: that one its user has to name."""
    if not is_addr_spec(address) or not address.isascii():
        raise Rejected("This is no mail address.")
    domain = address.rpartition("@")[2].lower()
    if domain in NO_PASSWORDS:
        raise Rejected(
            "This provider takes no passwords from programs for calendars. Calendars at Google are "
            "connected by themselves, at its own page; those of Outlook.com can't be yet."
        )
    if domain in KNOWN:
        return (_well_known(KNOWN[domain]),)
    names = (domain, f"caldav.{domain}", f"dav.{domain}", f"calendar.{domain}")
    said = services.find_urls(domain, "_caldavs", path=discovery.WELL_KNOWN, may_name_path=True)
    return (*said, *map(_well_known, names))


def read_url(text: str) -> str:
    """From HOST, HOST:PORT or an address. Raises Rejected."""
    wrong = "This is no address of a calendar server. One looks like dav.example.org."
    url = trial.read_url(text, otherwise=wrong)
    return url if urlsplit(url).path else f"{url}{discovery.WELL_KNOWN}"


def try_urls(urls: Sequence[str], *, user_name: str, secret: str) -> Tried:
    """Signs in at the first that is a calendar server. Raises ProviderError with a sentence for
    people. A sign-in that is refused is not tried elsewhere."""
    last: ProviderError = Unavailable("No calendar server was found. Name it.")
    slot = slots()
    for url in urls:
        try:
            return _tried(url, user_name, secret, slot=slot)
        except ProviderError as error:
            found = trial.explained(url, error, refused=REFUSED, otherwise=NO_CALENDARS)
        # What a server that is there says tells more than that another one is not.
        if not isinstance(found, Unavailable) or isinstance(last, Unavailable):
            last = found
        if isinstance(last, SignInRefused | RateLimited):
            break
    raise last


def _tried(url: str, user_name: str, secret: str, *, slot: Slot) -> Tried:
    session = trial.session(url, user_name=user_name, secret=secret, slot=slot)
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
