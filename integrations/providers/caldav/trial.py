"""A trial of calendars: their server is found and signed in at, and what Remit can do there is
said. Nothing is stored, and nothing is written to a calendar."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from integrations.exceptions import Rejected
from integrations.mail.addresses import is_addr_spec
from integrations.network import services
from integrations.ports.evidence import Ability
from integrations.providers.caldav import discovery
from integrations.providers.caldav.discovery import Calendar
from integrations.providers.caldav.servers import CalendarServer
from integrations.providers.dav import trial
from integrations.providers.trial_slots import Slot

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
# Who signs in at the provider's own page.
OWN_PAGE = {
    "gmail.com": "Google",
    "googlemail.com": "Google",
    "outlook.com": "Microsoft",
    "hotmail.com": "Microsoft",
    "live.com": "Microsoft",
    "msn.com": "Microsoft",
}


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
    if provider := OWN_PAGE.get(domain):
        raise Rejected(
            f"{provider} takes no passwords from programs for calendars. Its users sign in at its "
            f"own page: choose “Connect calendars at {provider}”."
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

    def sign_in(url: str, slot: Slot) -> Tried:
        session = trial.session(url, user_name=user_name, secret=secret, slot=slot)
        server = discovery.find_server(session, url)
        found = tuple(discovery.list_calendars(session, server))
        return Tried(server=server, calendars=found, abilities=tuple(_abilities(server, found)))

    return trial.try_first(
        urls,
        sign_in,
        none="No calendar server was found. Name it.",
        refused=REFUSED,
        otherwise=NO_CALENDARS,
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
