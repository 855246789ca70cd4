"""Trying a mailbox at Microsoft with what a consent gave, before anything is stored. Nothing is
changed there."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from integrations.credentials.oauth import Tokens
from integrations.exceptions import NotFound, Rejected
from integrations.network.answers import parse
from integrations.ports.evidence import Ability
from integrations.providers.microsoft.servers import (
    CHANGE_MAIL,
    GRAPH_API,
    LASTING,
    MICROSOFT,
    SEND_MAIL,
    WHO,
    missing,
)
from integrations.providers.microsoft.session import GraphSession
from integrations.providers.microsoft.trial import check_user, who_is
from integrations.providers.microsoft_mail.answers import FolderSaid
from integrations.providers.microsoft_mail.mails import ROLES
from integrations.providers.signed_in.servers import service
from integrations.providers.signed_in.trial import explained, token_of
from integrations.providers.trial_slots import slots

SCOPES = (CHANGE_MAIL, SEND_MAIL, WHO, LASTING)
HOST = "graph.microsoft.com"


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A sign-in that worked, and what there is."""

    servers: dict[str, Any]
    mails: int
    abilities: tuple[Ability, ...]


def try_account(found: Tokens, *, address: str, api: str = GRAPH_API) -> Tried:
    """Raises ProviderError with a sentence for people: also where somebody else signed in, or did
    not agree to all."""
    if missing(SCOPES, found.scopes):
        raise Rejected(
            "You did not allow Remit to read, change and send the mail. Begin again, and agree to "
            "all of it."
        )
    session = GraphSession(api, token_of(found, MICROSOFT), slot=slots())
    folders: dict[str, FolderSaid] = {}
    with explained(
        MICROSOFT,
        "Microsoft does not show this mailbox. Does this user have one there, and does the "
        "organisation let its users agree to this?",
    ):
        who = who_is(session)
        for role, name in ROLES.items():
            with suppress(NotFound):  # not every mailbox has an archive
                folders[role] = parse(FolderSaid, session.get(f"/me/mailFolders/{name}"))
        if missed := [one for one in ("inbox", "drafts", "sent") if one not in folders]:
            raise NotFound(f"no {missed[0]}")
    check_user(who, address)
    ids = {role: one.id for role, one in folders.items()}
    return Tried(
        servers=service(api, ends_at=found.ends_at) | {"folders": ids},
        mails=folders["inbox"].mails,
        abilities=tuple(_abilities()),
    )


def _abilities() -> Iterator[Ability]:
    looked = "Remit writes down what it is about to do, and Microsoft shows what became of it."
    rows = (
        ("Read and search", "A", "Reading changes nothing there."),
        ("Mark as read", "B", looked),
        ("Label", "B", f"{looked} Labels are categories."),
        ("Archive and move", "B", looked),
        ("Put into the trash", "B", looked),
        (
            *("Write drafts and take them back", "C"),
            "A draft carries a mark, and is found again by it.",
        ),
        (
            *("Send, answer and forward", "B"),
            "A mail is sent from a draft that carries a mark. If the answer is lost, the sent mail "
            "or the draft shows what became of it; nothing is ever sent twice.",
        ),
        (
            *("Know who really sent a mail", ""),
            "Microsoft's servers do not sign what they found out with their name.",
        ),
    )
    for what, grade, why in rows:
        yield Ability(what=what, grade=grade, why=why)
