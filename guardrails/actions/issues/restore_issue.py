"""Put fields of an issue back to what they were. For undoing alone."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from guardrails.actions.base import Arguments, Call, Outcome
from guardrails.actions.issues.issues import IN_PROJECT, Day, project_of, titled
from guardrails.actions.kinds import IssuesAction
from guardrails.facts.classes import Is
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import joined, phrase
from guardrails.facts.targets import Target
from guardrails.facts.text import ObjectId
from integrations.ports.issues import IssuesWriter

Name = Annotated[
    Literal[
        "summary",
        "description",
        "type",
        "status",
        "priority",
        "labels",
        "assignee",
        "due_date",
        "components",
        "duplicate_of",
    ],
    Is("choice"),
]
Text = Annotated[str, Is("text")]
Choice = Annotated[str, Is("choice")]
Former = Annotated[str, Is("target")]


class RestoreIssueArguments(Arguments):
    """The values are the provider's own, from before. `names` says which of them count."""

    issue_key: ObjectId
    names: Annotated[tuple[Name, ...], Field(strict=False, min_length=1)]
    summary: Text = ""
    description: Text = ""
    type: Choice = ""
    status: Former = ""
    priority: Choice | None = None
    labels: Annotated[tuple[Former, ...], Field(strict=False)] = ()
    assignee: Former | None = None
    due_date: Day | None = None
    components: Annotated[tuple[Text, ...], Field(strict=False)] = ()
    duplicate_of: Text | None = None

    def changes(self) -> dict[str, Any]:
        found = self.model_dump(mode="json")
        return {name: found[name] for name in self.names}


class RestoreIssue(IssuesAction[RestoreIssueArguments]):
    name = "restore_issue"
    operation = "change_issue"
    resource_type = "issue"
    title = "Put an issue back"
    description = "Put fields of an issue back to what they were."
    needs = frozenset({"projects"})
    object_kind = "issue"
    object_field = "issue_key"
    only_undoes = True
    arguments = RestoreIssueArguments

    def implied(self, arguments: RestoreIssueArguments, facts: Facts) -> tuple[Target, ...] | None:
        return project_of(facts)

    def effects(self, arguments: RestoreIssueArguments, facts: Facts) -> tuple[Effect, ...]:
        return IN_PROJECT

    def describe(self, arguments: RestoreIssueArguments, facts: Facts) -> str:
        return phrase(
            "Put back %(names)s of %(key)s: %(title)s",
            names=joined(map(phrase, arguments.names)),
            key=arguments.issue_key,
            title=titled(facts),
        )

    def perform(
        self, writer: IssuesWriter, arguments: RestoreIssueArguments, call: Call
    ) -> dict[str, Any]:
        return writer.change_issue(
            arguments.issue_key, arguments.changes(), revision=call.revision, key=call.key
        )

    def outcome(self, arguments: RestoreIssueArguments, answer: Mapping[str, Any]) -> Outcome:
        return {"task_key": arguments.issue_key}, ()
