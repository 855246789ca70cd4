"""Create one issue in a listed project."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from guardrails.actions.base import Arguments, Call, Outcome, artifact
from guardrails.actions.issues.issues import IN_PROJECT, Day, IssueType, Priority
from guardrails.actions.kinds import IssuesAction
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Address, Target
from guardrails.facts.text import Line, TargetId, Unmentioning, quote
from integrations.ports.issues import IssuesWriter


class CreateJiraTaskArguments(Arguments):
    project_key: TargetId
    summary: Line
    type: IssueType
    description: Unmentioning = ""
    priority: Priority | None = None
    labels: Annotated[tuple[TargetId, ...], Field(strict=False, max_length=20)] = ()
    assignee: Address | None = None
    due_date: Day | None = None


class CreateJiraTask(IssuesAction[CreateJiraTaskArguments]):
    name = "create_jira_task"
    operation = "create_issue"
    resource_type = "issue"
    title = "Create a Jira task"
    description = (
        "Create one issue in a listed project. Every label must be listed, an assignee listed or a "
        "member of the project. due_date is a day, such as 2026-03-02."
    )
    needs = frozenset({"projects"})
    takes = ("project", "label", "assignee")
    needs_targets = True
    arguments = CreateJiraTaskArguments

    def targets(self, arguments: CreateJiraTaskArguments) -> tuple[Target, ...]:
        found = [
            Target(
                path="project_key",
                kind="project",
                value=arguments.project_key,
                catalogue="projects",
            )
        ]
        found += [
            Target(path=f"labels[{index}]", kind="label", value=label)
            for index, label in enumerate(arguments.labels)
        ]
        if arguments.assignee is not None:
            found.append(Target(path="assignee", kind="assignee", value=arguments.assignee))
        return tuple(found)

    def effects(self, arguments: CreateJiraTaskArguments, facts: Facts) -> tuple[Effect, ...]:
        return IN_PROJECT

    def describe(self, arguments: CreateJiraTaskArguments, facts: Facts) -> str:
        return phrase(
            "Create a %(type)s in %(project)s: %(title)s",
            type=phrase(arguments.type),
            project=arguments.project_key,
            title=quote(arguments.summary),
        )

    def perform(
        self, writer: IssuesWriter, arguments: CreateJiraTaskArguments, call: Call
    ) -> dict[str, Any]:
        return writer.create_issue(
            project_key=arguments.project_key,
            type=arguments.type,
            summary=arguments.summary,
            description=arguments.description,
            priority=arguments.priority,
            labels=arguments.labels,
            assignee=arguments.assignee,
            due_date=arguments.due_date,
            key=call.key,
        )

    def outcome(self, arguments: CreateJiraTaskArguments, answer: Mapping[str, Any]) -> Outcome:
        result = {"task_key": str(answer["key"])} if answer.get("key") else {}
        if answer.get("url"):
            result["url"] = str(answer["url"])
        return result, artifact("issue", answer)
