"""delegate_to_specialist: hand a part of the work to a specialist, with the items it needs."""

from dataclasses import replace
from typing import Literal
from uuid import UUID

from pydantic import Field

from agents.contracts import ToolResult
from agents.tools.base import Arguments, Tool, ToolContext
from agents.tools.delegating import hand_over

MAX_ITEMS = 10


class Delegate(Arguments):
    specialist: Literal["email", "document", "task"]
    task: str = Field(min_length=1, max_length=4000)
    context_ids: list[UUID] = Field(
        default_factory=list, max_length=MAX_ITEMS, description="Ids of retrieved items."
    )


def run(context: ToolContext, arguments: Delegate) -> ToolResult:
    result = hand_over(
        context,
        agent=arguments.specialist,
        task=arguments.task,
        item_ids=arguments.context_ids,
    )
    return replace(result, data={"specialist": arguments.specialist, **result.data})


TOOL = Tool(
    name="delegate_to_specialist",
    description="Delegate to a specialist: email (threads, replies, filing), document "
    "(find, summarise), task (find, extract and prepare Jira tasks).",
    arguments=Delegate,
    run=run,
    acts=True,
)
