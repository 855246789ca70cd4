"""Comment on one issue of a listed project."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from guardrails.actions.base import Arguments, Call, Outcome
from guardrails.actions.issues.issues import IN_PROJECT, project_of, titled
from guardrails.actions.kinds import IssuesAction
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Target
from guardrails.facts.text import ObjectId, Unmentioning
from integrations.ports.issues import IssuesWriter


class CommentJiraTaskArguments(Arguments):
    issue_key: ObjectId
    body: Annotated[Unmentioning, Field(min_length=1)]


class CommentJiraTask(IssuesAction[CommentJiraTaskArguments]):
    name = "comment_jira_task"
    operation = "comment_issue"
    resource_type = "issue"
    title = "Comment on a Jira task"
    description = (
        "Write one comment under an issue of a listed project. A comment may mention nobody."
    )
    needs = frozenset({"projects"})
    takes = ("project",)
    needs_targets = True
    object_kind = "issue"
    object_field = "issue_key"
    arguments = CommentJiraTaskArguments

    def implied(
        self, arguments: CommentJiraTaskArguments, facts: Facts
    ) -> tuple[Target, ...] | None:
        return project_of(facts)

    def effects(self, arguments: CommentJiraTaskArguments, facts: Facts) -> tuple[Effect, ...]:
        return IN_PROJECT

    def undo(self, arguments: CommentJiraTaskArguments, facts: Facts) -> str:
        return "Delete the comment. Who was notified has read it."

    def describe(self, arguments: CommentJiraTaskArguments, facts: Facts) -> str:
        return phrase("Comment on %(key)s: %(title)s", key=arguments.issue_key, title=titled(facts))

    def perform(
        self, writer: IssuesWriter, arguments: CommentJiraTaskArguments, call: Call
    ) -> dict[str, Any]:
        return writer.comment_issue(
            arguments.issue_key, body=arguments.body, revision=call.revision, key=call.key
        )

    def outcome(self, arguments: CommentJiraTaskArguments, answer: Mapping[str, Any]) -> Outcome:
        result = {"task_key": arguments.issue_key}
        if answer.get("id"):
            result["comment_id"] = str(answer["id"])
        return result, ()
