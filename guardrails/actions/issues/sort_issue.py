"""Sort one issue of a listed project: a component or label where it has none, its priority, which
issue it repeats. What it says and where it stands stays."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import model_validator

from guardrails.actions.base import Arguments, Call, Difference, Inverse, Outcome, in_words
from guardrails.actions.issues.issues import IN_PROJECT, Priority, project_of, titled
from guardrails.actions.kinds import IssuesAction
from guardrails.facts.classes import Is
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import joined, phrase
from guardrails.facts.targets import Target
from guardrails.facts.text import Line, ObjectId, TargetId, quote
from integrations.ports.issues import IssuesWriter

Name = Annotated[Line, Is("text")]
# By argument: what the tracker calls it, and whether an issue has several.
FIELDS = {
    "component": ("components", True),
    "label": ("labels", True),
    "priority": ("priority", False),
    "duplicate_of": ("duplicate_of", False),
}


class SortIssueArguments(Arguments):
    """What is absent or null stays as it is."""

    issue_key: ObjectId
    component: Name | None = None
    label: TargetId | None = None
    priority: Priority | None = None
    duplicate_of: Name | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not self.changes():
            raise ValueError("name at least one thing to set")
        if self.duplicate_of == self.issue_key:
            raise ValueError("an issue cannot repeat itself")
        return self

    def changes(self) -> dict[str, Any]:
        """As the tracker takes them."""
        return {
            field: [value] if is_many else value
            for name, (field, is_many) in FIELDS.items()
            if (value := getattr(self, name)) is not None
        }


class SortIssue(IssuesAction[SortIssueArguments]):
    name = "sort_issue"
    operation = "change_issue"
    resource_type = "issue"
    title = "Sort an issue"
    description = (
        "Give one issue of a listed project a component, a listed label or a priority, or say "
        "which issue it repeats. Nothing else of it changes."
    )
    needs = frozenset({"projects"})
    takes = ("project", "label")
    needs_targets = True
    object_kind = "issue"
    object_field = "issue_key"
    arguments = SortIssueArguments

    def targets(self, arguments: SortIssueArguments) -> tuple[Target, ...]:
        if arguments.label is None:
            return ()
        return (Target(path="label", kind="label", value=arguments.label),)

    def implied(self, arguments: SortIssueArguments, facts: Facts) -> tuple[Target, ...] | None:
        return project_of(facts)

    def unfit(self, arguments: SortIssueArguments, facts: Facts) -> tuple[str, str] | None:
        """What a person or another program gave it stays."""
        before = _before(facts)
        for name in ("components", "labels"):
            wanted = arguments.changes().get(name)
            if wanted and before.get(name) and before[name] != wanted:
                return "already_sorted", f"It has {joined(before[name])} ({name})."
        return None

    def effects(self, arguments: SortIssueArguments, facts: Facts) -> tuple[Effect, ...]:
        return IN_PROJECT

    def undo(self, arguments: SortIssueArguments, facts: Facts) -> str:
        was = "; ".join(f"{name} to “{one}”" for name, one, _ in self.differences(arguments, facts))
        return f"Set back {was}."

    def differences(
        self, arguments: SortIssueArguments, facts: Facts, removals: Sequence[str] = ()
    ) -> tuple[Difference, ...]:
        before = _before(facts)
        return tuple(
            (name, in_words(before.get(name)), in_words(value))
            for name, value in arguments.changes().items()
        )

    def inverse(
        self, arguments: SortIssueArguments, facts: Facts, removals: Sequence[str]
    ) -> Inverse | None:
        if facts.issue is None:
            return None
        before, names = _before(facts), list(arguments.changes())
        if "priority" in names and before["priority"] is None:
            return None  # an issue cannot be without a priority again
        return Inverse(
            action_type="restore_issue",
            arguments={
                "issue_key": arguments.issue_key,
                "names": names,
                **{name: before[name] for name in names},
            },
        )

    def describe(self, arguments: SortIssueArguments, facts: Facts) -> str:
        said = joined(
            f"{name.replace('_', ' ')} {quote(getattr(arguments, name))}"
            for name in FIELDS
            if getattr(arguments, name) is not None
        )
        return phrase(
            "Sort %(key)s (%(changes)s): %(title)s",
            key=arguments.issue_key,
            changes=said,
            title=titled(facts),
        )

    def already_so(
        self, arguments: SortIssueArguments, facts: Facts, removals: Sequence[str]
    ) -> bool:
        before = _before(facts)
        return all(before.get(name) == one for name, one in arguments.changes().items())

    def perform(
        self, writer: IssuesWriter, arguments: SortIssueArguments, call: Call
    ) -> dict[str, Any]:
        return writer.change_issue(
            arguments.issue_key, arguments.changes(), revision=call.revision, key=call.key
        )

    def outcome(self, arguments: SortIssueArguments, answer: Mapping[str, Any]) -> Outcome:
        return {"task_key": arguments.issue_key}, ()


def _before(facts: Facts) -> dict[str, Any]:
    return facts.issue.model_dump(mode="json") if facts.issue else {}
