"""Where somebody's Jira is, as a credential keeps it, and which of the two kinds it is. Pure."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from integrations.providers.trackers.addresses import read_address


@dataclass(frozen=True, kw_only=True)
class JiraServer:
    """`base` is what all paths stand behind. `me` is what the user is called there: an account id
    in the cloud, a name in a data center. Only the projects in `only` count; empty: all."""

    base: str
    is_cloud: bool = False
    me: str = ""
    only: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        return urlsplit(self.base).hostname or ""

    @property
    def api(self) -> str:
        return f"{self.base}/rest/api/{3 if self.is_cloud else 2}"

    @property
    def id_field(self) -> str:
        """By what people are named."""
        return "accountId" if self.is_cloud else "name"

    def to_json(self) -> dict[str, Any]:
        found = {"base": self.base, "is_cloud": self.is_cloud, "me": self.me}
        return {**found, "only": list(self.only)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "JiraServer":
        return cls(
            base=str(data["base"]),
            is_cloud=bool(data["is_cloud"]),
            me=str(data["me"]),
            only=tuple(map(str, data.get("only", ()))),
        )

    def counts(self, project: str) -> bool:
        return not self.only or project.upper() in {one.upper() for one in self.only}


def read_base(text: str) -> str:
    """From a host or an address, with the path that a data center may have. Raises Rejected."""
    wrong = "Name the Jira. Its address looks like https://acme.atlassian.net."
    host, place, path = read_address(text, otherwise=wrong)
    return f"https://{place}{'' if host.endswith('.atlassian.net') else path.rstrip('/')}"
