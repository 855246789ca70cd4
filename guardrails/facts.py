"""What the guard itself looked up at the provider for one decision. Pure: the reader is
given. Nothing here comes from a model."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Literal, TypeVar

from guardrails import targets
from integrations.contracts import Correspondence, Email
from integrations.exceptions import NotFound
from integrations.ports import Reader

Need = Literal["email", "thread", "correspondence", "labels", "projects"]
MAIL_NEEDS: frozenset[Need] = frozenset({"email", "thread", "correspondence"})
T = TypeVar("T")
SENT = "SENT"  # the data service's label of mail the user sent; a stranger cannot set it


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Read for one decision. None or empty means that it was not read or does not exist:
    whoever needs it must refuse."""

    email: Email | None = None
    thread: tuple[Email, ...] | None = None
    correspondence: Correspondence | None = None
    labels: Mapping[str, str] | None = None  # id to name, as they are at the provider now
    projects: Mapping[str, str] | None = None
    own_address: str = ""

    @property
    def sender(self) -> str | None:
        """The plain address of the mail's sender; None in doubt."""
        return targets.address_or_none(self.email.sender) if self.email else None

    @property
    def sender_authenticated(self) -> bool:
        return self.email is not None and is_authenticated(self.email)

    @property
    def participants(self) -> frozenset[str]:
        """Every plain address in the headers of the thread."""
        return targets.plain_addresses(
            text for mail in self.thread or () for text in (mail.sender, *mail.to, *mail.cc)
        )

    @property
    def authenticated_participants(self) -> frozenset[str]:
        """Who provably takes part: senders that passed DMARC, and whom the user wrote to in
        this thread. Whom a stranger put into `to` or `cc` is only a claim."""
        return targets.plain_addresses(
            text
            for mail in self.thread or ()
            for text in (
                (*mail.to, *mail.cc)
                if SENT in mail.labels
                else (mail.sender,) * is_authenticated(mail)
            )
        )


def is_authenticated(mail: Email) -> bool:
    return mail.authentication.dmarc == "pass"


def gather(reader: Reader, *, email_id: str | None, needs: Set[Need], own_address: str) -> Facts:
    """Reads what `needs` names and no more. A mail that does not exist for this user is left
    out of the facts; every other ProviderError passes through."""
    email = _found(reader.email, email_id) if needs & MAIL_NEEDS else None
    sender = targets.address_or_none(email.sender) if email else None
    return Facts(
        email=email,
        thread=_found(reader.thread, email.thread_id) if email and "thread" in needs else None,
        correspondence=(
            reader.correspondence(sender) if sender and "correspondence" in needs else None
        ),
        labels={one.id: one.name for one in reader.labels()} if "labels" in needs else None,
        projects={one.id: one.name for one in reader.projects()} if "projects" in needs else None,
        own_address=own_address,
    )


def _found(read: Callable[[str], T], key: str | None) -> T | None:
    try:
        return read(key) if key else None
    except NotFound:
        return None
