"""Where somebody's issues at GitHub are, as a credential keeps it. Pure."""

from dataclasses import dataclass
from typing import Any

from integrations.providers.trackers.addresses import read_address

USUAL = "github.com"


@dataclass(frozen=True, kw_only=True)
class GitHubServer:
    """`api` is what all paths stand behind; `login` is what the user is called there. Only the
    repositories in `only` count; empty: all that the token shows."""

    host: str
    api: str
    login: str = ""
    only: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        found = {"host": self.host, "api": self.api, "login": self.login}
        return {**found, "only": list(self.only)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "GitHubServer":
        return cls(
            host=str(data["host"]),
            api=str(data["api"]),
            login=str(data["login"]),
            only=tuple(map(str, data.get("only", ()))),
        )

    def counts(self, repository: str) -> bool:
        return not self.only or repository.lower() in {one.lower() for one in self.only}


def read_server(text: str) -> GitHubServer:
    """From nothing, a host, or an address of GitHub or of an Enterprise Server. Raises Rejected."""
    wrong = "This is no address of GitHub. One looks like github.example.org."
    host, place, _ = read_address(text.strip() or USUAL, otherwise=wrong)
    if host in (USUAL, f"www.{USUAL}", f"api.{USUAL}"):
        return GitHubServer(host=USUAL, api=f"https://api.{USUAL}")
    if host.endswith(".ghe.com"):  # Enterprise Cloud with data residency
        name = host.removeprefix("api.")
        return GitHubServer(host=name, api=f"https://api.{name}")
    return GitHubServer(host=host, api=f"https://{place}/api/v3")
