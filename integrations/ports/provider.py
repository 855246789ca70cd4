"""What a provider declares about itself: which sources it has, and what can be done with each.
Pure: neither models nor readers are imported by it."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from integrations.contracts import AnyItem, ContentType, Kind, Source
from integrations.ports.evidence import Capabilities

READ_ONLY = Capabilities()
News = Literal["pushed", "listened", "looked"]


@dataclass(frozen=True, kw_only=True)
class Connector:
    """One source of accounts: what kind of data it is, and what the API calls it.

    `window` is how far back a first sync reads by default. `is_synced`: its items are read by a
    sync; others come in by an import, or nothing of them is kept. `is_writable`: actions of its
    kind can be carried out there. `is_watched`: what is new is looked for all the time, so no sync
    is begun for it. `capabilities`: what it can prove about them. `starts_turns`: a new
    item here is worked through by the agent: every mail, and a document where the policy has
    something to say about it. `news`: how Remit hears of a change: the other side calls it
    (`pushed`), says so on a connection that Remit keeps open (`listened`), or says nothing, so that
    Remit looks from time to time (`looked`). Beside the first two it looks, too. `subscribes`:
    Remit itself sets up that it is called.
    """

    source: Source
    kind: Kind
    label: str
    content_type: ContentType
    item_type: type[AnyItem]
    window: timedelta
    is_synced: bool = False
    is_writable: bool = False
    is_watched: bool = False
    capabilities: Capabilities = READ_ONLY
    starts_turns: bool = False
    news: News = "looked"
    subscribes: bool = False


@dataclass(frozen=True, kw_only=True)
class Provider:
    """One party that keeps data, and speaks one protocol. Its folder in `integrations.providers`
    has its name, and in it, each where it is needed: `open_reader` in `reader`, `open_writer` in
    `writer`, and `CONNECTABLE` in `connectable`."""

    name: str
    label: str
    connectors: tuple[Connector, ...]

    @property
    def is_asked(self) -> bool:
        """Whether there is somebody to ask: a reader."""
        return any(one.is_synced or one.is_writable for one in self.connectors)

    @property
    def is_writable(self) -> bool:
        return any(one.is_writable for one in self.connectors)

    @property
    def is_own(self) -> bool:
        """Whether people connect accounts of their own there."""
        return any(one.is_watched for one in self.connectors)

    def module(self, part: str) -> str:
        """The name of a module of its folder."""
        return f"integrations.providers.{self.name}.{part}"
