"""A trial of address books: their server is found and signed in at. Nothing is stored, and nothing
is written there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from integrations.exceptions import Rejected
from integrations.mail.addresses import is_addr_spec
from integrations.network import services
from integrations.ports.evidence import Ability
from integrations.providers.carddav import discovery
from integrations.providers.carddav.discovery import Book
from integrations.providers.carddav.servers import ContactServer
from integrations.providers.dav import trial
from integrations.providers.trial_slots import Slot

REFUSED = (
    "Most providers want an app password, made in the security settings of the account there, in "
    "place of the usual one. Some want a user name that is not the address."
)
NO_BOOKS = "{host} answers, but not as a server of address books does. Check its name."
# Large ones whose address books are not at the domain of the address. Written down from what their
# own pages say; not tried.
KNOWN = {
    "icloud.com": "contacts.icloud.com",
    "me.com": "contacts.icloud.com",
    "mac.com": "contacts.icloud.com",
    "fastmail.com": "carddav.fastmail.com",
    "yahoo.com": "carddav.address.yahoo.com",
    "gmx.net": "carddav.gmx.net",
    "gmx.de": "carddav.gmx.net",
    "web.de": "carddav.web.de",
    "mailbox.org": "dav.mailbox.org",
    "posteo.de": "posteo.de:8443",
    "zoho.com": "contacts.zoho.com",
}
NO_PASSWORDS = frozenset({"gmail.com", "googlemail.com", "outlook.com", "hotmail.com", "live.com"})


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A sign-in that worked, and what there is."""

    server: ContactServer
    books: tuple[Book, ...]
    abilities: tuple[Ability, ...]


def find_urls(address: str) -> tuple[str, ...]:
    """Where an address's contacts may be, the likeliest first. Raises Rejected for what is no
    address, where passwords are not taken, and where DNS says that there are none or names another
    site: that one its user has to name."""
    if not is_addr_spec(address) or not address.isascii():
        raise Rejected("This is no mail address.")
    domain = address.rpartition("@")[2].lower()
    if domain in NO_PASSWORDS:
        raise Rejected(
            "This provider takes no passwords from programs for contacts. They can't be connected."
        )
    names = (domain, f"carddav.{domain}", f"dav.{domain}", f"contacts.{domain}")
    if domain in KNOWN:
        return (_well_known(KNOWN[domain]),)
    said = services.find_urls(domain, "_carddavs", path=discovery.WELL_KNOWN, may_name_path=True)
    return (*said, *map(_well_known, names))


def read_url(text: str) -> str:
    """From HOST, HOST:PORT or an address. Raises Rejected."""
    wrong = "This is no address of a server. One looks like dav.example.org."
    url = trial.read_url(text, otherwise=wrong)
    return url if urlsplit(url).path else f"{url}{discovery.WELL_KNOWN}"


def try_urls(urls: Sequence[str], *, user_name: str, secret: str) -> Tried:
    """Signs in at the first that has address books. Raises ProviderError with a sentence for
    people. A sign-in that is refused is not tried elsewhere."""

    def sign_in(url: str, slot: Slot) -> Tried:
        session = trial.session(url, user_name=user_name, secret=secret, slot=slot)
        server = discovery.find_server(session, url)
        books = tuple(discovery.list_books(session, server))
        return Tried(server=server, books=books, abilities=tuple(_abilities(books)))

    return trial.try_first(
        urls,
        sign_in,
        none="No server of address books was found. Name it.",
        refused=REFUSED,
        otherwise=NO_BOOKS,
    )


def _abilities(books: Sequence[Book]) -> Iterator[Ability]:
    own = any(one.is_own for one in books)
    yield Ability(
        what="Know people in the address books",
        grade="A" if own else "",
        why="Who is in one of the user's own is no stranger to their agent. That permits no action "
        "by itself."
        if own
        else "There is no address book of this user's own that they may write to.",
    )
    yield Ability(what="Change contacts", grade="", why="Remit only reads address books.")


def _well_known(host: str) -> str:
    return f"https://{host}{discovery.WELL_KNOWN}"
