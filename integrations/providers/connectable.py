"""What a provider brings so that people connect accounts of their own there, as one value: what is
asked for, in its words, how it is tried, how it is looked at afterwards, and what may be wrong
there. It is `CONNECTABLE` in the `connectable` module of the provider's folder."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from integrations.contracts import AccountRef
from integrations.contracts.events import ItemEvent
from integrations.contracts.servers import Server
from integrations.credentials.oauth import AuthorizationServer, Tokens
from integrations.ports.evidence import Ability

# Where anybody may ask for a trial, Remit knocks at doors of such servers alone.
MAIL_PORTS = frozenset({25, 143, 465, 587, 993, 2525})
WEB_PORTS = frozenset({443, 8443})
What = Literal["mailbox", "calendar", "address book", "folder", "tracker"]
Name = Literal["user_name", "url", "imap", "smtp", "projects", "readers"]


@dataclass(frozen=True, kw_only=True)
class Given:
    """What somebody gave. What is empty is looked for, or there is none. `readers`: who else reads
    it; None: nobody said so."""

    address: str
    user_name: str
    secret: str
    url: str = ""
    imap: Server | None = None
    smtp: Server | None = None
    projects: tuple[str, ...] = ()
    readers: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Found:
    """A sign-in that worked: at which host, what is there and what can be done. `mails` are those
    of an inbox, `calendars`, `books`, `folders` and `projects` names. `servers` is for the
    provider."""

    host: str
    abilities: tuple[Ability, ...]
    servers: dict[str, Any]
    mails: int | None = None
    calendars: tuple[str, ...] | None = None
    books: tuple[str, ...] | None = None
    folders: tuple[str, ...] | None = None
    projects: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One that is ready to begin, and the ports it would knock at."""

    ports: tuple[int, ...]
    run: Callable[[], Found]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One thing that is asked for. `missing` is said where it is needed and not given; empty: it
    may be left out."""

    name: Name
    label: str
    hint: str = ""
    placeholder: str = ""
    missing: str = ""


@dataclass(frozen=True, kw_only=True)
class Secret:
    """What is kept sealed: a password or a token. `hint` says where it is made."""

    label: str
    hint: str


class Looked(Protocol):
    """What happened at an account, or a part of it: events with names of their own, the same
    however often they are seen. `keep` stores how far it was looked at; in one transaction with
    the events."""

    @property
    def events(self) -> tuple[tuple[str, ItemEvent], ...]: ...
    def keep(self) -> None: ...


class Look(Protocol):
    """Looks for what is new, step by step; each is kept before the next. `seen_at`: until when all
    that was new has been seen. Raises ProviderError."""

    def __call__(self, account: AccountRef, *, seen_at: datetime | None) -> Iterable[Looked]: ...


@dataclass(frozen=True, kw_only=True)
class Consent:
    """Where its users sign in themselves, what for, and how long that lasts, in words. `try_it`
    has what they agreed to, and the address."""

    server: AuthorizationServer
    scopes: tuple[str, ...]
    how_long: str
    try_it: Callable[[Tokens, str], Found]


USER_NAME = Asked(
    name="user_name", label="User name", hint="At the server, where it is not the address."
)
PASSWORD = Secret(
    label="Password",
    hint="Most providers want an app password, made in the security settings of the account there. "
    "It is sealed: this page cannot show it again.",
)
USERS_ADDRESS = "The user's mail address."


@dataclass(frozen=True, kw_only=True)
class Connectable:
    """`first` is asked for beside address and secret, `more` behind a fold with the title `fold`.
    `begin` reads what was given, and asks no server of the account yet; it raises ProviderError
    with a sentence, and so does its trial. With a `consent`, nothing is asked for and its trial
    counts alone. `port_kind` and `command`: where another port than those of `ports` is refused,
    and who may use it. `about` has a place for the organisation. `over` names the protocol, where
    there is more than one way to the same thing. `calls`: who can be asked to call Remit when
    something changes; empty: nobody."""

    what: What
    title: str
    about: str
    in_short: str
    look: Look
    trouble: Mapping[str, str]
    begin: Callable[[Given], Trial] | None = None
    consent: Consent | None = None
    first: tuple[Asked, ...] = ()
    more: tuple[Asked, ...] = (USER_NAME,)
    fold: str = "Server, if it is not found"
    secret: Secret = PASSWORD
    address_hint: str = ""
    has_display_name: bool = True
    note: str = ""
    over: str = ""
    calls: str = ""
    ports: frozenset[int] = field(default=WEB_PORTS)
    port_kind: str = "web"
    command: str = ""

    @property
    def asked(self) -> dict[Name, Asked]:
        return {one.name: one for one in (*self.first, *self.more)}


def port_of(url: str) -> int:
    return urlsplit(url).port or 443


def host_of(url: str) -> str:
    return urlsplit(url).hostname or ""
