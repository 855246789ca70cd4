"""load_skill: read a skill's full text. It advises; it grants nothing.

Who reads a mail has no tool to look into the calendar. Where the skill that it follows speaks of
time, it is given when the user's is taken, and nothing else of what stands there.
"""

from typing import Any

from django.utils import timezone
from pydantic import Field

from agents.context import busy, people
from agents.contracts import Person, ToolResult, failure
from agents.tools.base import Arguments, Tool, ToolContext
from guardrails.learn import skills


class LoadSkill(Arguments):
    name: str = Field(min_length=1, max_length=100)


def run(context: ToolContext, arguments: LoadSkill) -> ToolResult:
    found = (skills.load(one, name=arguments.name) for one in context.person.accounts)
    skill = next((one for one in found if one is not None), None)
    if skill is None:
        return failure(
            "NOT_FOUND",
            "There is no skill of this name.",
            recoverable=True,
            suggested_action="Use a name of the list of skills, as it stands there.",
        )
    data: dict[str, Any] = {
        "name": skill.name,
        "version": skill.version,
        "content": skill.content,
    }
    if context.mail is not None and (user := _load_user(context)) is not None:
        taken = busy.find_taken(user, skill.content, timezone.now())
        if taken is not None:
            data[f"taken_in_the_next_{busy.DAYS}_days"] = taken
    return ToolResult(success=True, data=data)


def _load_user(context: ToolContext) -> Person | None:
    """With all their accounts: the mail's reader has the mailbox alone."""
    return people.load_person(
        organisation_id=context.person.organisation_id,
        external_user_id=context.person.external_user_id,
    )


TOOL = Tool(
    name="load_skill",
    description="Load the full text of one of the listed skills.",
    arguments=LoadSkill,
    run=run,
    note=": the text of a listed skill",
)
