"""ask_user: stop and ask. The call stays open until the user's next message answers it."""

from pydantic import Field

from agents.context.schemas import QUIET
from agents.contracts import ToolResult, failure
from agents.journal.steps import ASK_USER
from agents.tools.base import Arguments, Tool, ToolContext


class AskUser(Arguments):
    question: str = Field(min_length=1, max_length=1000)
    options: list[str] = Field(default_factory=list, max_length=20)
    required_for: str = Field(default="", max_length=500, json_schema_extra=QUIET)


def run(context: ToolContext, arguments: AskUser) -> ToolResult:
    """Only reached by a second question in one step: one is asked at a time."""
    return failure("TOO_MANY_CALLS", "Ask one question at a time.", recoverable=True)


TOOL = Tool(
    name=ASK_USER,
    description="Ask the user, with options where there are some.",
    arguments=AskUser,
    run=run,
)
