"""One conversation with one MCP server, as values. Pure."""

from dataclasses import dataclass, field

from integrations import exceptions


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a server is and as whom it is spoken to. `token` is a secret: not shown."""

    url: str
    user_id: str = ""
    token: str = field(default="", repr=False)


@dataclass
class Sent:
    """What went over the network so far. `acting` is set before something is sent that must not
    be sent twice; `arrived` says that it may have arrived."""

    acting: bool = False
    arrived: bool = False
    read: int = 0
    failure: exceptions.ProviderError | None = None

    def fail(self, error: exceptions.ProviderError) -> exceptions.ProviderError:
        self.failure = self.failure or error
        return error
