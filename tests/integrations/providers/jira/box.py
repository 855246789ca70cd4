"""One user's issues for the tests of `integrations.providers.jira`."""

from dataclasses import dataclass
from typing import Any

from integrations.contracts import AccountRef
from integrations.models import Credential
from integrations.providers.jira.reader import JiraReader
from integrations.providers.jira.writer import JiraWriter
from tests.jira_world import PROJECT, Jira


@dataclass(frozen=True, kw_only=True)
class Box:
    """One user's issues: at Jira, and as Remit has them."""

    jira: Jira
    account: AccountRef

    @property
    def reader(self) -> JiraReader:
        return JiraReader(self.account)

    @property
    def writer(self) -> JiraWriter:
        return JiraWriter(self.account)

    def create(self, *, key: str = "remit-1", **fields: Any) -> dict[str, Any]:
        usual = {
            "project_key": PROJECT,
            "type": "task",
            "summary": "CI",
            "description": "It is red",
        }
        none = {"priority": None, "labels": (), "assignee": None, "due_date": None}
        return self.writer.create_issue(**{**usual, **none, **fields}, key=key)

    def change(self, issue_key: str, *, key: str = "remit-1", **changes: Any) -> dict[str, Any]:
        return self.writer.change_issue(issue_key, changes, revision=None, key=key)

    def only(self, *projects: str) -> None:
        row = Credential.objects.get(account_id=self.account.id)
        row.servers = {**row.servers, "only": list(projects)}
        row.save()
