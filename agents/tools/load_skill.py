"""load_skill: read a skill's full text. It advises; it grants nothing.

Who reads a mail has no tool to look into the calendar. Where the skill that it loads speaks of
time, it is given when the user's is taken and when it is free, and nothing else of what stands
there. Only a published skill has this effect; no word of a mail is one.
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
    if (mail := context.mail) and not mail.list_id:  # an answer to a list is read by all of it
        calendar = busy.look_up(
            _load_user(context),
            skill=skill.content,
            mail=f"{mail.subject}\n{mail.text}",
            now=timezone.now(),
        )
        if calendar is not None:
            data["calendar"] = calendar
    return ToolResult(success=True, data=data)


def _load_user(context: ToolContext) -> Person:
    """With all their accounts: the mail's reader has the mailbox alone."""
    found = people.load_person(
        organisation_id=context.person.organisation_id,
        external_user_id=context.person.external_user_id,
    )
    return found or context.person


TOOL = Tool(
    name="load_skill",
    description="Load the full text of one of the listed skills.",
    arguments=LoadSkill,
    run=run,
    note=": the text of a listed skill",
)
