"""What actions on issues have in common. Everybody in the project sees them."""

from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from guardrails.facts.classes import Is
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Target
from guardrails.facts.text import quote

IssueType = Annotated[Literal["task", "bug", "story", "epic"], Is("choice")]
Priority = Annotated[Literal["lowest", "low", "medium", "high", "highest"], Is("choice")]
Status = Annotated[Literal["To Do", "In Progress", "In Review", "Done"], Is("target")]


def day(text: str) -> str:
    """A day in ISO 8601, in one form. Raises ValueError for anything else."""
    try:
        found = date.fromisoformat(text)
    except ValueError as error:
        raise ValueError("must be a day such as 2026-03-02") from error
    if text != found.isoformat():
        raise ValueError("must be a day such as 2026-03-02")
    return text


Day = Annotated[str, Field(max_length=10), AfterValidator(day), Is("time")]
IN_PROJECT = (Effect(kind="egress", because=phrase("everybody in the project sees the issue")),)


def project_of(facts: Facts) -> tuple[Target, ...]:
    """The project the issue belongs to: it must be listed, whatever the issue's key says."""
    if facts.issue is None:
        return ()
    return (
        Target(
            path="issue.project_key",
            kind="project",
            value=facts.issue.project_key,
            catalogue="projects",
        ),
    )


def titled(facts: Facts) -> str:
    """The issue's summary, quoted."""
    return quote(facts.issue.summary if facts.issue else "")
