"""What actions on issues have in common. Everybody in the project sees them."""

from typing import Annotated, Literal

from guardrails.facts.classes import Is
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.targets import Target
from guardrails.facts.text import quote

IssueType = Annotated[Literal["task", "bug", "story", "epic"], Is("choice")]
Priority = Annotated[Literal["lowest", "low", "medium", "high", "highest"], Is("choice")]
Status = Annotated[Literal["To Do", "In Progress", "In Review", "Done"], Is("target")]
IN_PROJECT = (Effect(kind="egress", because="everybody in the project sees the issue"),)


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
