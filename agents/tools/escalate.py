"""escalate: hand the conversation to a person, with why and what was tried. It ends the turn."""

from pydantic import Field

from agents.answer import escalations, links
from agents.contracts import ToolResult
from agents.journal.steps import ESCALATE
from agents.tools.base import Arguments, Tool, ToolContext


class Escalate(Arguments):
    reason: str = Field(min_length=1, max_length=2000, description="What for, in full.")
    tried: str = Field(default="", max_length=4000, description="What was done and found.")


def run(context: ToolContext, arguments: Escalate) -> ToolResult:
    row = escalations.hand_over(
        turn_id=context.lease.turn_id,
        call_id=context.call.id,
        reason=links.deaden(arguments.reason),
        tried=links.deaden(arguments.tried),
    )
    return ToolResult(success=True, data={"escalation": str(row.id), "state": row.state})


TOOL = Tool(
    name=ESCALATE,
    description="Hand the conversation to a person of the organisation, when the user asks for "
    "one or neither you nor the user can decide or know it. It ends your turn.",
    arguments=Escalate,
    run=run,
    note=": hand over to a person; ends your turn",
    timeout_seconds=10,
)
