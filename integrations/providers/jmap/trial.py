"""Trying a mailbox over JMAP before anything is stored: where its server is, signing in there, and
what it can do. Nothing is written there."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urljoin, urlsplit
from uuid import uuid4

from django.conf import settings
from pydantic import Field

from integrations.credentials.credentials import SignIn
from integrations.exceptions import (
    Malformed,
    NotFound,
    ProviderError,
    RateLimited,
    Rejected,
    Unavailable,
)
from integrations.mail.addresses import is_addr_spec
from integrations.network import http, outgoing, services
from integrations.ports.evidence import Ability
from integrations.providers.dav.session import REDIRECTS, check_site
from integrations.providers.imap.trial import LOOKED_AT, learnt
from integrations.providers.jmap.answers import MailboxesGot, MailboxSaid, Said
from integrations.providers.jmap.mailboxes import Mailboxes
from integrations.providers.jmap.mails import NEWEST_FIRST
from integrations.providers.jmap.servers import JmapServer, Scheme
from integrations.providers.jmap.session import MAX_REDIRECTS, JmapSession, SignInRefused

WELL_KNOWN, NOTHING_THERE = "/.well-known/jmap", "/.well-known/remit-nothing"
MOST_BYTES = 64 * 1024
NAME = "Authentication-Results"
FIELDS = [f"header:{NAME}:asText:all"]
# Large ones whose server is not at the domain of the address. From what its own pages say; not
# tried.
KNOWN = {"fastmail.com": "api.fastmail.com", "fastmail.fm": "api.fastmail.com"}
SCHEMES: tuple[Scheme, ...] = ("basic", "bearer")


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A sign-in that worked, and what there is."""

    server: JmapServer
    mails: int
    abilities: tuple[Ability, ...]


def find_url(address: str) -> str:
    """Where the address's own domain has it, by its DNS or else at the domain itself (RFC 8620,
    2.2). Raises Rejected for what is no address, and where DNS says that there is none or names
    another site: that one its user has to name."""
    if not is_addr_spec(address) or not address.isascii():
        raise Rejected("This is no mail address.")
    domain = address.rpartition("@")[2].lower()
    if domain in KNOWN:
        return f"https://{KNOWN[domain]}{WELL_KNOWN}"
    said = services.find_urls(domain, "_jmap", path=WELL_KNOWN, may_name_path=False)
    return next(iter(said), f"https://{domain}{WELL_KNOWN}")


def read_url(text: str) -> str:
    """From HOST, HOST:PORT or an address that begins with https://. Raises Forbidden."""
    url = text if "://" in text else f"https://{text.strip()}{WELL_KNOWN}"
    outgoing.check_form(url)
    return url


def speaks(url: str) -> bool:
    """Whether a server says, before any secret is given, that it keeps mail there: it asks for a
    sign-in at this address, and does not ask for one everywhere."""
    try:
        return _wants_sign_in(url) and not _wants_sign_in(url.replace(WELL_KNOWN, NOTHING_THERE))
    except ProviderError:
        return False


def try_server(url: str, *, user_name: str, secret: str) -> Tried:
    """Signs in there, with the secret as a password or else as a token. Raises ProviderError with
    a sentence for people."""
    refused: SignInRefused | None = None
    for scheme in SCHEMES:
        try:
            return _tried(JmapServer(session=url, scheme=scheme), user_name, secret)
        except SignInRefused as error:
            refused = error
        except (Malformed, NotFound) as error:
            raise Rejected(f"No mail server that speaks JMAP answers at {url}.") from error
        except Unavailable as error:
            raise Unavailable(f"Nothing answers at {url}. Check the name of the server.") from error
        except RateLimited as error:
            raise RateLimited("The server takes no sign-in now. Try again later.") from error
    raise SignInRefused(
        "The server refused the sign-in. Most providers want an app password or a token, made in "
        "the security settings of the account there."
    ) from refused


def _tried(server: JmapServer, user_name: str, secret: str) -> Tried:
    sign_in = SignIn(
        user_name=user_name, servers=server.to_json(), secret=secret, fingerprint=uuid4().hex
    )
    session = JmapSession(sign_in, server)
    server = replace(server, session=session.find())
    boxes = Mailboxes(session.ask(("Mailbox/get", {"ids": None})).to(0, MailboxesGot).list)
    inbox = next((one for one in boxes.said if one.role == "inbox"), None)
    if inbox is None:
        raise Rejected("The server shows no inbox for this user.")
    checks_as = learnt(_written_down(session, inbox.id))
    return Tried(
        server=replace(server, checks_as=checks_as),
        mails=inbox.mails,
        abilities=tuple(
            list_abilities(
                *(boxes, checks_as),
                sends=session.resource.sends,
                most_delay=session.resource.most_delay,
            )
        ),
    )


def _written_down(session: JmapSession, inbox: str) -> list[bytes]:
    """What stands topmost in each of the newest mails about its sender."""
    query = {"filter": {"inMailbox": inbox}, "sort": NEWEST_FIRST, "limit": LOOKED_AT}
    ids = {"resultOf": "0", "name": "Email/query", "path": "/ids"}
    answers = session.ask(
        ("Email/query", query), ("Email/get", {"#ids": ids, "properties": FIELDS})
    )
    found = answers.to(1, FindingsGot).list
    return [f"{NAME}: {one.said[0] if one.said else ''}".encode() for one in found]


def _wants_sign_in(url: str) -> bool:
    """Whether it asks for a sign-in, there or where it leads to within the site."""
    site = url
    for _ in range(MAX_REDIRECTS + 1):
        check_site(url, site=site)
        parts = urlsplit(url)
        answer = http.exchange(
            http.client(f"{parts.scheme}://{parts.netloc}"),
            "GET",
            url,
            address=outgoing.public_address(url),
            content=b"",
            headers={"User-Agent": "remit"},
            most_bytes=MOST_BYTES,
        )
        if answer.status not in REDIRECTS:
            return answer.status == 401
        url = urljoin(url, answer.headers.get("location", ""))
    return False


class FindingsSaid(Said):
    said: tuple[str, ...] | None = Field(default=None, alias=FIELDS[0])


class FindingsGot(Said):
    list: tuple[FindingsSaid, ...]


def _held_back(most_delay: int) -> int:
    wanted: int = settings.JMAP_RECALL_SECONDS
    return min(wanted, most_delay)


def _why_no_recall(most_delay: int) -> str:
    """Empty: it is held back for a while."""
    if not most_delay:
        return "The server holds no mail back."
    if settings.JMAP_RECALL_SECONDS <= 0:
        return "The server could hold mail back, and no JMAP_RECALL_SECONDS says for how long."
    return ""


def list_abilities(
    boxes: Mailboxes[MailboxSaid], checks_as: str, *, sends: bool, most_delay: int
) -> Iterator[Ability]:
    same = "The server changes only the mailbox that was looked at; twice changes nothing."
    no_sending = "" if sends else "The server sends no mail over JMAP."
    missing = {
        name: "" if name in boxes.by_role else f"The mailbox has no folder for {words}."
        for name, words in (
            ("archive", "archived mail"),
            ("trash", "what is thrown away"),
            ("drafts", "drafts"),
            ("sent", "sent mail"),
        )
    }
    rows = (
        ("Read and search", "A", "", "Reading changes nothing there."),
        ("Mark as read", "B", "", same),
        ("Label", "B", "", same),
        ("Archive and move", "B", missing["archive"], same),
        ("Put into the trash", "B", missing["trash"], same),
        (
            *("Write drafts and take them back", "B", missing["drafts"]),
            "A draft is found again by its Message-ID.",
        ),
        (
            *("Send, answer and forward", "B", no_sending or missing["drafts"] or missing["sent"]),
            "Mail is written and sent in one step, and filed as sent. If the answer is lost, the "
            "mailbox shows what became of it; nothing is ever sent twice.",
        ),
        (
            *("Recall a sent mail", "B", _why_no_recall(most_delay)),
            f"The server holds each mail back for {_held_back(most_delay)} seconds. Until then "
            "Undo makes it a draft again.",
        ),
        (
            "Know who really sent a mail",
            "B",
            "" if checks_as else "The server writes down nothing about senders.",
            f"{checks_as} writes down what it found out.",
        ),
    )
    for what, grade, missed, why in rows:
        yield Ability(what=what, grade="" if missed else grade, why=missed or why)
