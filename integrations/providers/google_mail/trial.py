"""Trying a mailbox at Gmail with what a consent gave, before anything is stored. Nothing is changed
there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from integrations.credentials.oauth import Tokens
from integrations.network.answers import parse
from integrations.ports.evidence import Ability
from integrations.providers.google.servers import GOOGLE, MAIL_API, MODIFY_MAIL
from integrations.providers.google.trial import session_with
from integrations.providers.google_mail.answers import LabelSaid, Profile
from integrations.providers.google_mail.mails import CHECKS_AS, ME
from integrations.providers.signed_in.servers import service
from integrations.providers.signed_in.trial import check_who, explained

SCOPES = (MODIFY_MAIL,)
HOST = "gmail.googleapis.com"


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A sign-in that worked, and what there is."""

    servers: dict[str, Any]
    mails: int
    abilities: tuple[Ability, ...]


def try_account(found: Tokens, *, address: str, api: str = MAIL_API) -> Tried:
    """Raises ProviderError with a sentence for people: also where somebody else signed in, or did
    not agree to all."""
    session = session_with(found, api, scopes=SCOPES, what="read and change the mail")
    with explained(
        GOOGLE,
        "Google does not show this mailbox. Is the Gmail API switched on in the project that the "
        "client belongs to, and Gmail for this user?",
    ):
        profile = parse(Profile, session.get(f"{ME}/profile"))
        inbox = parse(LabelSaid, session.get(f"{ME}/labels/INBOX"))
    check_who(profile.address, address)
    servers = service(api, ends_at=found.ends_at)
    return Tried(servers=servers, mails=inbox.mails, abilities=tuple(_abilities()))


def _abilities() -> Iterator[Ability]:
    looked = "Remit writes down what it is about to do, and Gmail shows what became of it."
    rows = (
        ("Read and search", "A", "Reading changes nothing there."),
        ("Mark as read", "B", looked),
        ("Label", "B", looked),
        ("Archive and move", "B", f"{looked} A mail is moved by a label."),
        ("Put into the trash", "B", looked),
        (
            *("Write drafts and take them back", "C"),
            "A draft carries a mark, and is found again among the newest.",
        ),
        (
            *("Send, answer and forward", "B"),
            "A mail is sent from a draft, and Gmail takes each draft once. If the answer is lost, "
            "the draft shows what became of it; nothing is ever sent twice.",
        ),
        ("Know who really sent a mail", "B", f"{CHECKS_AS} writes down what it found out."),
    )
    for what, grade, why in rows:
        yield Ability(what=what, grade=grade, why=why)
