"""Which address books a server has for its user (RFC 6764, RFC 5397, RFC 6352)."""

from dataclasses import dataclass
from urllib.parse import urljoin

from integrations.exceptions import Malformed, Rejected
from integrations.providers.carddav.servers import ContactServer
from integrations.providers.dav import principals
from integrations.providers.dav.multistatus import CARD, CS, D, Response
from integrations.providers.dav.session import DavSession

WELL_KNOWN = "/.well-known/carddav"
HOME = f"{CARD}addressbook-home-set"
KIND, NAME, RIGHTS = f"{D}resourcetype", f"{D}displayname", f"{D}current-user-privilege-set"
TOKEN, COUNT = f"{D}sync-token", f"{CS}getctag"
MAX_BOOKS = 100
NOT_HERE = "There is no server of address books (CardDAV) at this address. Name it."


@dataclass(frozen=True, kw_only=True)
class Book:
    """One address book. `token` names its present state; empty where the server gives none.
    `is_own`: what is in it is its user's own word, because nobody else is said to own it and the
    user may write to it."""

    url: str
    path: str
    name: str
    token: str
    is_own: bool


def find_server(session: DavSession, url: str) -> ContactServer:
    """From any address on the server to its user's address books. Raises ProviderError."""
    principal = principals.find(session, url, well_known=WELL_KNOWN, otherwise=NOT_HERE)
    responses = session.propfind(principal, [HOME]).responses
    if not responses:
        raise Malformed("the server says nothing about what was asked")
    homes = responses[0].hrefs(HOME)
    if not homes:
        raise Rejected("The server keeps no address books for this user.")
    home = urljoin(principal, homes[0])
    return ContactServer(home=home if home.endswith("/") else f"{home}/")


def list_books(session: DavSession, server: ContactServer) -> list[Book]:
    """All of them, by path. Raises ProviderError."""
    wanted = [principals.SELF, principals.OWNER, KIND, NAME, RIGHTS, TOKEN, COUNT]
    found = session.propfind(server.home, wanted, depth=1).responses
    books = [_book(one, server) for one in found if f"{CARD}addressbook" in one.names(KIND)]
    if len(books) > MAX_BOOKS:
        raise Rejected(f"There are more than {MAX_BOOKS} address books.")
    return sorted(books, key=lambda one: one.path)


def _book(found: Response, server: ContactServer) -> Book:
    path = found.path if found.path.endswith("/") else f"{found.path}/"
    rights = found.names(RIGHTS)
    writes = {f"{D}write", f"{D}write-content", f"{D}all", f"{D}bind"}
    is_writable = RIGHTS not in found.properties or bool(rights & writes)
    return Book(
        url=urljoin(server.home, path),
        path=path,
        name=found.text(NAME)[:200],
        token=found.text(TOKEN) or found.text(COUNT),
        is_own=is_writable and principals.is_own(found),
    )
