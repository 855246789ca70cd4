"""Where somebody's tickets are, as a credential keeps it. Pure."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from integrations.providers.trackers.addresses import read_address

API = "/REST/2.0"


@dataclass(frozen=True, kw_only=True)
class RequestTracker:
    """`base` is what all paths stand behind, `me` what the user is called there. Only the queues in
    `only` count; empty: all that the token shows."""

    base: str
    me: str = ""
    only: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        return urlsplit(self.base).hostname or ""

    def to_json(self) -> dict[str, Any]:
        return {"base": self.base, "me": self.me, "only": list(self.only)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "RequestTracker":
        return cls(
            base=str(data["base"]),
            me=str(data["me"]),
            only=tuple(map(str, data.get("only", ()))),
        )

    def counts(self, queue: str) -> bool:
        return not self.only or queue.lower() in {one.lower() for one in self.only}


def read_base(text: str) -> str:
    """From a host or an address, with the path that RT may have there. Raises Rejected."""
    wrong = "Name the Request Tracker. Its address looks like https://rt.example.org."
    _, place, path = read_address(text, otherwise=wrong)
    return f"https://{place}{path.rstrip('/').removesuffix(API)}"
