"""Change one issue of a listed project."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from guardrails.actions.base import Arguments, Call, Difference, Inverse, Outcome, in_words
from guardrails.actions.issues.issues import (
    IN_PROJECT,
    Day,
    IssueType,
    Priority,
    Status,
    project_of,
    titled,
)
from guardrails.actions.kinds import IssuesAction
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import joined, phrase
from guardrails.facts.targets import Address, Target
from guardrails.facts.text import Line, ObjectId, TargetId, Unmentioning, visible
from integrations.ports.issues import IssuesWriter


class UpdateJiraTaskArguments(Arguments):
    """What is absent or null stays as it is."""

    issue_key: ObjectId
    summary: Line | None = None
    description: Unmentioning | None = None
    type: IssueType | None = None
    status: Status | None = None
    priority: Priority | None = None
    labels: Annotated[tuple[TargetId, ...], Field(strict=False, max_length=20)] | None = None
    assignee: Address | None = None
    due_date: Day | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not self.changes():
            raise ValueError("name at least one field to change")
        return self

    def changes(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_none=True, exclude={"issue_key"})


class UpdateJiraTask(IssuesAction[UpdateJiraTaskArguments]):
    name = "update_jira_task"
    operation = "change_issue"
    resource_type = "issue"
    title = "Change a Jira task"
    description = (
        "Change one issue of a listed project. What is not named stays as it is. A new status and "
        "every label must be listed, a new assignee listed or a member of the project; texts may "
        "mention nobody. due_date is a day, such as 2026-03-02."
    )
    needs = frozenset({"projects"})
    takes = ("project", "status", "label", "assignee")
    needs_targets = True
    object_kind = "issue"
    object_field = "issue_key"
    arguments = UpdateJiraTaskArguments

    def targets(self, arguments: UpdateJiraTaskArguments) -> tuple[Target, ...]:
        found = [
            Target(path=f"labels[{index}]", kind="label", value=label)
            for index, label in enumerate(arguments.labels or ())
        ]
        if arguments.status is not None:
            found.append(Target(path="status", kind="status", value=arguments.status))
        if arguments.assignee is not None:
            found.append(Target(path="assignee", kind="assignee", value=arguments.assignee))
        return tuple(found)

    def implied(
        self, arguments: UpdateJiraTaskArguments, facts: Facts
    ) -> tuple[Target, ...] | None:
        return project_of(facts)

    def effects(self, arguments: UpdateJiraTaskArguments, facts: Facts) -> tuple[Effect, ...]:
        return IN_PROJECT

    def undo(self, arguments: UpdateJiraTaskArguments, facts: Facts) -> str:
        before = facts.issue.model_dump(mode="json") if facts.issue else {}
        was = "; ".join(
            f"{name} to “{visible(str(before.get(name) or ''), limit=200)}”"
            for name in arguments.changes()
        )
        return f"Set back {was}."

    def differences(
        self, arguments: UpdateJiraTaskArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        before = facts.issue.model_dump(mode="json") if facts.issue else {}
        return tuple(
            (name, in_words(before.get(name)), in_words(value))
            for name, value in arguments.changes().items()
        )

    def inverse(
        self, arguments: UpdateJiraTaskArguments, facts: Facts, removals: Sequence[str]
    ) -> Inverse | None:
        if facts.issue is None:
            return None
        before = facts.issue.model_dump(mode="json")
        before["description"] = before["description"] or ""
        names = list(arguments.changes())
        if "priority" in names and before["priority"] is None:
            return None  # an issue cannot be without a priority again
        values = {name: before[name] for name in names}
        return Inverse(
            action_type="restore_issue",
            arguments={"issue_key": arguments.issue_key, "names": names, **values},
        )

    def describe(self, arguments: UpdateJiraTaskArguments, facts: Facts) -> str:
        assignee = arguments.assignee
        changes = joined(
            phrase("%(name)s %(who)s", name=phrase(name), who=assignee)
            if name == "assignee" and assignee
            else phrase(name)
            for name in arguments.changes()
        )
        return phrase(
            "Change %(key)s (%(changes)s): %(title)s",
            key=arguments.issue_key,
            changes=changes,
            title=titled(facts),
        )

    def already_so(
        self, arguments: UpdateJiraTaskArguments, facts: Facts, removals: Sequence[str]
    ) -> bool:
        before = facts.issue.model_dump(mode="json") if facts.issue else {}
        return all(before.get(name) == value for name, value in arguments.changes().items())

    def perform(
        self, writer: IssuesWriter, arguments: UpdateJiraTaskArguments, call: Call
    ) -> dict[str, Any]:
        return writer.change_issue(
            arguments.issue_key, arguments.changes(), revision=call.revision, key=call.key
        )

    def outcome(self, arguments: UpdateJiraTaskArguments, answer: Mapping[str, Any]) -> Outcome:
        return {"task_key": arguments.issue_key}, ()
