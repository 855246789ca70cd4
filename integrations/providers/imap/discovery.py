"""Where the servers of an address are: by a table of large providers, by what the address's own
domain says of itself over HTTPS (autoconfig) or else in DNS (RFC 6186), or by what such servers are
mostly called."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from integrations.contracts.servers import Security, Server
from integrations.exceptions import ProviderError, Rejected
from integrations.mail.addresses import is_addr_spec
from integrations.network import http, outgoing, services, srv
from integrations.network.srv import Place
from integrations.providers.imap import known_servers
from integrations.providers.imap.servers import MailServers

WELL_KNOWN = (
    "https://autoconfig.{domain}/mail/config-v1.1.xml",
    "https://{domain}/.well-known/autoconfig/mail/config-v1.1.xml",
)
MOST_BYTES = 64 * 1024
# Those of each kind with their encryption, the better one first (RFC 8314).
Kind = tuple[tuple[str, Security], ...]
IMAP: Kind = (("_imaps", "tls"), ("_imap", "starttls"))
SUBMISSION: Kind = (("_submissions", "tls"), ("_submission", "starttls"))
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_DECLARES = re.compile(r"<!(DOCTYPE|ENTITY)", re.IGNORECASE)
_SECURITY: dict[str, Security] = {"SSL": "tls", "STARTTLS": "starttls"}


def find_servers(address: str) -> tuple[MailServers, ...]:
    """Where an address's mailbox may be, the likeliest first. Raises Rejected for what is no
    address, where passwords are not taken, and where DNS says that there is none or names another
    site: that one its user has to name."""
    if not is_addr_spec(address) or not address.isascii():
        raise Rejected("This is no mail address.")
    domain = address.rpartition("@")[2].lower()
    if domain in known_servers.NO_PASSWORDS:
        raise Rejected(
            "Outlook.com takes no passwords from programs. Its users sign in at Microsoft's own "
            "page: choose “Connect a mailbox at Microsoft”."
        )
    if known := known_servers.find_known(address):
        return (known,)
    said = _said_by(domain)
    found = (said,) if said else _named_in_dns(domain)
    return (*found, *known_servers.guess(address))


def _said_by(domain: str) -> MailServers | None:
    """What the domain says at its two well-known addresses. Who has no certificate for the domain
    says nothing: the password goes where this leads."""
    for well_known in WELL_KNOWN:
        url = well_known.format(domain=domain)
        try:
            answer = http.get(url, address=outgoing.public_address(url), most_bytes=MOST_BYTES)
        except ProviderError:
            continue
        if found := read_autoconfig(answer):
            return found
    return None


def _named_in_dns(domain: str) -> tuple[MailServers, ...]:
    asked = services.Domain(domain)
    imap = _find(asked, IMAP)
    if not imap:
        return ()
    smtp = _find(asked, SUBMISSION, is_needed=False)[:1]
    srv.check_own(domain, [place for place, _ in (*imap[:1], *smtp)])
    sending = next((_server(*one) for one in smtp), None)
    return tuple(MailServers(imap=_server(*one), smtp=sending) for one in imap)


def _find(
    asked: services.Domain, kind: Kind, *, is_needed: bool = True
) -> tuple[tuple[Place, Security], ...]:
    """Raises Rejected where the domain says that there is none, and one is needed."""
    found = []
    for name, security in kind:
        found.append(asked.find(name))
        if found[-1].places:
            own = srv.prefer_own(asked.name, found[-1].places)
            return tuple((place, security) for place in own)
    if is_needed:
        srv.check_offered(asked.name, *found)
    return ()


def _server(place: Place, security: Security) -> Server:
    return Server(host=place.host, port=place.port, security=security)


def read_autoconfig(answer: bytes) -> MailServers | None:
    """From a a stranger's XML: the first servers that are encrypted and take passwords."""
    try:
        text = answer.decode()
        # No entities, so nothing grows and nothing is read from elsewhere.
        if _DECLARES.search(text):
            return None
        root = ElementTree.fromstring(text)  # noqa: S314  # declares nothing, see above
    except (ElementTree.ParseError, ValueError):
        return None
    imap = next(_servers(root, "incomingServer", "imap"), None)
    if imap is None:
        return None
    return MailServers(imap=imap, smtp=next(_servers(root, "outgoingServer", "smtp"), None))


def _servers(root: ElementTree.Element, tag: str, kind: str) -> Iterator[Server]:
    for one in root.iter(tag):
        host, port = _text(one, "hostname"), _text(one, "port")
        security = _SECURITY.get(_text(one, "socketType").upper())
        is_number = port.isascii() and port.isdecimal() and len(port) <= 5
        takes = _text(one, "authentication").lower()
        if one.get("type") != kind or security is None or "oauth" in takes:
            continue
        if is_number and 0 < int(port) < 65536 and _HOST.fullmatch(host):
            yield Server(host=host, port=int(port), security=security)


def _text(element: ElementTree.Element, name: str) -> str:
    return (element.findtext(name) or "").strip()
