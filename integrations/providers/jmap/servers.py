"""Where a mailbox is that speaks JMAP. Pure."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Scheme = Literal["basic", "bearer"]


@dataclass(frozen=True, kw_only=True)
class JmapServer:
    """`session` is the address of the session resource, `scheme` how the secret is given: as a
    password beside the user's name, or as a token. `checks_as` is the name under which the server
    writes down whom it believes (Authentication-Results, RFC 8601); without it no sender is
    believed."""

    session: str
    scheme: Scheme = "basic"
    checks_as: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "JmapServer":
        return cls(**data)
