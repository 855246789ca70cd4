"""Connecting a mailbox: its servers are found and tried, and what Remit can do there is said,
before anything is stored. Nothing is written to the mailbox meanwhile."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from uuid import uuid4

from django.db import transaction

from integrations.credentials import credentials
from integrations.credentials.credentials import SignIn
from integrations.exceptions import NotPermitted, ProviderError, Rejected, Unavailable
from integrations.mail.addresses import is_addr_spec
from integrations.models import Account, Organisation
from integrations.network import outgoing
from integrations.providers.imap import connection, known_servers, submission
from integrations.providers.imap.servers import MailServers

LOOKED_AT, LEAST = 20, 10  # mails, for the name that the server checks senders under
_CHECKS_AS = re.compile(rb"(?im)^Authentication-Results:\s*([A-Za-z0-9.-]{1,253})\s*(?:\d\s*)?;")


@dataclass(frozen=True, kw_only=True)
class Ability:
    """Something that can be done at the mailbox, how surely Remit can prove it (A to D), and why.
    Without a grade it cannot be done there."""

    what: str
    grade: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A sign-in that worked, and what there is."""

    servers: MailServers
    mails: int
    abilities: tuple[Ability, ...] = field(default=())


def find_servers(address: str) -> tuple[MailServers, ...]:
    """Where an address's mailbox may be, the likeliest first. Raises Rejected for what is no
    address, and where passwords are not taken."""
    if not is_addr_spec(address) or not address.isascii():
        raise Rejected("This is no mail address.")
    if address.rpartition("@")[2].lower() in known_servers.NO_PASSWORDS:
        raise Rejected(
            "This provider takes no passwords from programs any more, and signing in through its "
            "page is not built yet."
        )
    known = known_servers.find_known(address)
    return (known,) if known else known_servers.guess(address)


def try_servers(candidates: Sequence[MailServers], *, user_name: str, secret: str) -> Tried:
    """Signs in at the first that answers. Raises ProviderError with a sentence for people."""
    last: ProviderError = Unavailable("No mail server was found. Name it.")
    for servers in candidates:
        try:
            return _tried(servers, user_name, secret)
        except Unavailable as error:
            last = Unavailable(
                f"{servers.imap.host} does not answer at port {servers.imap.port}. Check the name "
                "of the server."
            )
            last.__cause__ = error
    raise last


def connect(
    *,
    organisation: Organisation,
    user_id: str,
    address: str,
    user_name: str,
    secret: str,
    tried: Tried,
    display_name: str = "",
    time_zone: str = "UTC",
) -> Account:
    """Store the account with its sealed secret, or the new secret of an account that is there.
    Nothing is allowed for a new one: it is read alone."""
    with transaction.atomic():
        account = Account.objects.filter(
            organisation=organisation, external_user_id=user_id, source="imap", address=address
        ).first()
        if account is None:
            account = Account(
                organisation=organisation,
                external_user_id=user_id,
                source="imap",
                address=address,
                display_name=display_name,
                time_zone=time_zone,
            )
            account.full_clean()
            account.save()
        credentials.keep(
            account_id=account.id,
            user_name=user_name,
            servers=tried.servers.to_json(),
            secret=secret,
        )
    return account


def _tried(servers: MailServers, user_name: str, secret: str) -> Tried:
    for one in filter(None, (servers.imap, servers.smtp)):
        outgoing.check_host(one.host)
    sign_in = SignIn(
        user_name=user_name, servers=servers.to_json(), secret=secret, fingerprint=uuid4().hex
    )
    with connection.as_provider_errors(), connection.connected(sign_in) as own:
        client = own.client
        folders = own.folders
        inbox = folders.named("inbox") or "INBOX"
        # To read it alone, a server tells nothing of the words that it keeps with mails.
        permanent = own.select(inbox, readonly=False).get(b"PERMANENTFLAGS")
        uids = client.search()
        checks_as = servers.checks_as or _learnt(
            client.fetch(uids[-LOOKED_AT:], [b"BODY.PEEK[HEADER.FIELDS (AUTHENTICATION-RESULTS)]"])
            if uids
            else {}
        )
        capabilities = {
            "moves": client.has_capability("MOVE") or client.has_capability("UIDPLUS"),
            "deletes": client.has_capability("UIDPLUS"),
            "keywords": b"\\*" in permanent if isinstance(permanent, tuple) else False,
        }
    sends = _sends(servers, sign_in)
    return Tried(
        servers=replace(servers, checks_as=checks_as),
        mails=len(uids),
        abilities=tuple(_abilities(capabilities, folders.roles.values(), checks_as, sends)),
    )


def _sends(servers: MailServers, sign_in: SignIn) -> str:
    """Why mail cannot be sent; empty where it can."""
    if servers.smtp is None:
        return "No server to send with is named."
    try:
        submission.try_sign_in(servers.smtp, sign_in)
    except NotPermitted:
        return f"{servers.smtp.host} refused the sign-in."
    except ProviderError:
        return f"{servers.smtp.host} does not answer at port {servers.smtp.port}."
    return ""


def _abilities(
    can: dict[str, bool], roles: Collection[str], checks_as: str, sends: str
) -> Iterator[Ability]:
    again = "It is looked at again afterwards; doing it twice changes nothing."
    no_moves = "" if can["moves"] else "The server cannot move one mail and leave others alone."
    no_deletes = "" if can["deletes"] else "The server cannot delete one mail and leave others."
    missing = {
        role: "" if role in roles else f"The mailbox has no folder for {words}."
        for role, words in (
            ("archive", "archived mail"),
            ("trash", "what is thrown away"),
            ("drafts", "drafts"),
        )
    }
    rows = (
        ("Read and search", "A", "", "Reading changes nothing there."),
        ("Mark as read", "B", "", again),
        ("Label", "B", "" if can["keywords"] else "The server keeps no words with a mail.", again),
        ("Archive and move", "B", no_moves or missing["archive"], again),
        ("Put into the trash", "B", no_moves or missing["trash"], again),
        (
            *("Write drafts and take them back", "B", no_deletes or missing["drafts"]),
            "A draft is found again by its Message-ID.",
        ),
        (
            *("Send, answer and forward", "C", sends),
            "Up to the last byte it is proved that nothing was sent. If the answer to that byte is "
            "lost, a person is asked; nothing is ever sent twice.",
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


def _learnt(answers: dict[int, dict[bytes, bytes]]) -> str:
    """The name under which the server writes down what it found about senders: the topmost of each
    mail, where nearly all agree. Anybody can write others into a mail, but not above it."""
    found: Counter[str] = Counter()
    for answer in answers.values():
        raw = next((value for key, value in answer.items() if key.startswith(b"BODY[")), b"")
        first = _CHECKS_AS.match(raw or b"")
        if first:
            found[first[1].decode("ascii").lower()] += 1
    if not found:
        return ""
    name, count = found.most_common(1)[0]
    # Of all mails: where the server writes nothing down, strangers alone do.
    return name if count >= LEAST and count * 5 >= len(answers) * 4 else ""
