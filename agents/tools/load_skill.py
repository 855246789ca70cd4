"""load_skill: read a skill's full text. It advises; it grants nothing."""

from pydantic import Field

from agents.contracts import ToolResult, failure
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
    return ToolResult(
        success=True, data={"name": skill.name, "version": skill.version, "content": skill.content}
    )


TOOL = Tool(
    name="load_skill",
    description="Load the full text of one of the listed skills.",
    arguments=LoadSkill,
    run=run,
    note=": the text of a listed skill",
)
