"""propose_skill: suggest a better text for a skill. Nobody loads it before a person approves."""

from pydantic import Field

from agents.contracts import ToolResult, failure
from agents.tools.base import Arguments, Tool, ToolContext
from guardrails.learn import skills
from guardrails.policies.changes import Author


class ProposeSkill(Arguments):
    name: str = Field(min_length=1, max_length=100)
    description: str = Field(min_length=1, max_length=300, description="When to use it.")
    content: str = Field(min_length=1, max_length=20_000, description="The whole new text.")
    reason: str = Field(default="", max_length=500)


def run(context: ToolContext, arguments: ProposeSkill) -> ToolResult:
    account = context.mail.account if context.mail else context.person.accounts[0]
    proposed = skills.propose(
        account,
        name=arguments.name,
        description=arguments.description,
        content=arguments.content,
        reason=arguments.reason,
        proposed_by="chat" if context.trigger == "chat" else "webhook",
        author=Author(name=f"agent:{context.agent}", door="agent"),
    )
    if proposed.status in ("crowded", "invalid"):
        return failure("INVALID_INPUT", proposed.sentence, recoverable=True)
    return ToolResult(
        success=True, data={"version": proposed.version, "sentence": proposed.sentence}
    )


TOOL = Tool(
    name="propose_skill",
    description="Propose a skill or a better text of one. An operator approves it first.",
    arguments=ProposeSkill,
    run=run,
)
