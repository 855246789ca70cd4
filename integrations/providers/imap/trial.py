"""Trying a mailbox before anything is stored: signing in at its servers, and what they can do.
Nothing is written there, and what went wrong is said in a sentence that says what to do."""

import re
import smtplib
import ssl
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from imapclient.exceptions import (  # type: ignore[import-untyped]
    CapabilityError,
    IMAPClientAbortError,
)

from integrations.contracts.servers import Server
from integrations.credentials.credentials import SignIn
from integrations.exceptions import (
    NotPermitted,
    ProviderError,
    RateLimited,
    Unavailable,
)
from integrations.network import certificates
from integrations.network.outgoing import Forbidden
from integrations.ports.evidence import Ability
from integrations.providers.imap import connection, gmail, submission
from integrations.providers.imap.abilities import list_abilities
from integrations.providers.imap.clients import ended_after
from integrations.providers.imap.connection import Connection, SignInRefused
from integrations.providers.imap.servers import MailServers

SECONDS = 20.0  # for all of it
LOOKED_AT, LEAST = 20, 10  # mails, for the name that the server checks senders under
_CHECKS_AS = re.compile(rb"(?im)^Authentication-Results:\s*([A-Za-z0-9.-]{1,253})\s*(?:\d\s*)?;")
_ENDED = ("EOF", "socket error")  # as imaplib says that nobody is there any more


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A sign-in that worked, and what there is."""

    servers: MailServers
    mails: int
    abilities: tuple[Ability, ...]


def try_servers(candidates: Sequence[MailServers], *, user_name: str, secret: str) -> Tried:
    """Signs in at the first of them that is a mail server, within 20 seconds. Who refuses the
    sign-in ends it: a password is not tried on at others. Raises ProviderError with a sentence
    for people."""
    problem: ProviderError = Unavailable("No mail server was found. Name it.")
    with ended_after(SECONDS):
        for servers in candidates:
            try:
                return _tried(servers, user_name, secret)
            except ProviderError as error:
                found = type(error)(explain(servers.imap, error))
                found.__cause__ = error
            # What a server that is there says tells more than that another one is not.
            if not isinstance(found, Unavailable) or isinstance(problem, Unavailable):
                problem = found
            if isinstance(problem, SignInRefused | RateLimited):
                break
    raise problem


def _tried(servers: MailServers, user_name: str, secret: str) -> Tried:
    sign_in = SignIn(
        user_name=user_name, servers=servers.to_json(), secret=secret, fingerprint=uuid4().hex
    )
    with connection.as_provider_errors(), connection.connected(sign_in) as own:
        roles = own.folders.roles.values()
        inbox = own.folders.named("inbox") or "INBOX"
        can = set(_can(own, inbox))
        uids = own.client.search()
        checks_as = servers.checks_as or learnt(_written_down(own, uids[-LOOKED_AT:]))
        files_sent = servers.files_sent or _files_sent(servers, own)
    no_sending = _why_not_sent(servers, sign_in)
    return Tried(
        servers=replace(servers, checks_as=checks_as, files_sent=files_sent),
        mails=len(uids),
        abilities=tuple(list_abilities(can, roles, checks_as, no_sending)),
    )


def _written_down(own: Connection, uids: Sequence[int]) -> list[bytes]:
    """What each mail says about its sender."""
    if not uids:
        return []
    answers = own.client.fetch(uids, [b"BODY.PEEK[HEADER.FIELDS (AUTHENTICATION-RESULTS)]"])
    return [
        next((value for key, value in answer.items() if key.startswith(b"BODY[")), b"") or b""
        for answer in answers.values()
    ]


def _can(own: Connection, inbox: str) -> Iterator[str]:
    # To read it alone, a server tells nothing of the words that it keeps with mails.
    permanent: Any = own.select(inbox, readonly=False).get(b"PERMANENTFLAGS")
    if own.client.has_capability("UIDPLUS"):
        yield "deletes"
        yield "moves"
    if own.client.has_capability("MOVE"):
        yield "moves"
    if isinstance(permanent, tuple) and b"\\*" in permanent:
        yield "keywords"
    if own.client.has_capability(gmail.CAPABILITY):
        yield "labels" if own.has_labels else "hides"


def _files_sent(servers: MailServers, own: Connection) -> bool:
    """Gmail keeps a copy of what its own server sent, also under an address of another domain."""
    if servers.smtp is None or not own.client.has_capability(gmail.CAPABILITY):
        return False
    imap, smtp = (one.host.partition(".")[2].lower() for one in (servers.imap, servers.smtp))
    return imap == smtp


def _why_not_sent(servers: MailServers, sign_in: SignIn) -> str:
    """Empty where mail can be sent."""
    if servers.smtp is None:
        return "No server to send with is named."
    try:
        submission.try_sign_in(servers.smtp, sign_in)
    except ProviderError as error:
        return explain(servers.smtp, error)
    return ""


def explain(server: Server, error: ProviderError) -> str:
    """What went wrong at a server, and what to do about it."""
    host, port, cause = server.host, server.port, error.__cause__
    if isinstance(error, Forbidden):
        return str(error)
    if distrusted := certificates.find(cause):
        return certificates.explain(host, distrusted)
    if isinstance(error, RateLimited):
        return f"{host} takes no sign-in now. Try again in a few minutes."
    if isinstance(cause, CapabilityError | smtplib.SMTPNotSupportedError):
        return (
            f"{host} offers no encryption at port {port}. Remit sends no password in the clear: "
            "name a port with encryption, most often 993, or 465 to send."
        )
    if isinstance(error, NotPermitted):
        return (
            f"{host} refused the sign-in. Most providers want an app password, made in the "
            "security settings of the account there, in place of the usual one. Some want a user "
            "name that is not the address."
        )
    if isinstance(cause, ssl.SSLError):
        return (
            f"{host} does not speak TLS at port {port}. Check the port: a server that begins "
            "without it (STARTTLS) is most often at 143, or 587 to send."
        )
    if _has_ended(cause):
        return f"{host} ended the connection in the middle. Try again in a few minutes."
    if isinstance(error, Unavailable) and not isinstance(
        cause, IMAPClientAbortError | smtplib.SMTPResponseException
    ):
        return f"{host} does not answer at port {port}. Check the name of the server and the port."
    return f"{host} answers at port {port}, but not as a mail server does. Check name and port."


def _has_ended(cause: BaseException | None) -> bool:
    if isinstance(cause, EOFError | ConnectionResetError | smtplib.SMTPServerDisconnected):
        return True
    return isinstance(cause, IMAPClientAbortError) and any(one in str(cause) for one in _ENDED)


def learnt(tops: Sequence[bytes]) -> str:
    """The name under which the server writes down what it found about senders: the topmost of each
    mail, where nearly all agree. Anybody can write others into a mail, but not above it."""
    found: Counter[str] = Counter()
    for top in tops:
        if first := _CHECKS_AS.match(top):
            found[first[1].decode("ascii").lower()] += 1
    if not found:
        return ""
    name, count = found.most_common(1)[0]
    # Of all mails: where the server writes nothing down, strangers alone do.
    return name if count >= LEAST and count * 5 >= len(tops) * 4 else ""
