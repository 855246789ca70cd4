"""One user's issues for the tests of `integrations.providers.github`."""

from dataclasses import dataclass
from typing import Any

from integrations.contracts import AccountRef
from integrations.models import Credential
from integrations.providers.github.reader import GitHubReader
from integrations.providers.github.writer import GitHubWriter
from tests.github_world import PLANS, GitHub

TOM = "tom@users.noreply.github.test"


@dataclass(frozen=True, kw_only=True)
class Box:
    """One user's issues: at GitHub, and as Remit has them."""

    github: GitHub
    account: AccountRef

    @property
    def reader(self) -> GitHubReader:
        return GitHubReader(self.account)

    @property
    def writer(self) -> GitHubWriter:
        return GitHubWriter(self.account)

    def create(self, *, key: str = "remit-1", **fields: Any) -> dict[str, Any]:
        usual = {"project_key": PLANS, "type": "task", "summary": "CI", "description": "It is red"}
        none = {"priority": None, "labels": (), "assignee": None, "due_date": None}
        return self.writer.create_issue(**{**usual, **none, **fields}, key=key)

    def change(self, issue_key: str, *, key: str = "remit-1", **changes: Any) -> dict[str, Any]:
        return self.writer.change_issue(issue_key, changes, revision=None, key=key)

    def only(self, *repositories: str) -> None:
        row = Credential.objects.get(account_id=self.account.id)
        row.servers = {**row.servers, "only": list(repositories)}
        row.save()
