"""delegate_to_specialist: hand a part of the work to a specialist, with the items it needs."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from agents.contracts import ToolResult
from agents.models import Turn
from agents.prompts import LIMIT_SENTENCES, untrusted_block
from agents.steps import Stop
from agents.tools.base import Arguments, Tool, ToolContext
from knowledge import retrieval
from knowledge.contracts import FoundItem

MAX_ITEMS = 10


class Delegate(Arguments):
    specialist: Literal["task"]
    task: str = Field(min_length=1, max_length=4000)
    context_ids: list[UUID] = Field(
        default_factory=list, max_length=MAX_ITEMS, description="Ids of retrieved items."
    )


def run(context: ToolContext, arguments: Delegate) -> ToolResult:
    items = retrieval.get_items(
        account_ids=tuple(account.id for account in context.person.accounts),
        ids=tuple(arguments.context_ids),
    )
    ending = context.delegate(
        arguments.specialist, arguments.task, [_block(item) for item in items], context.call
    )
    actions = Turn.objects.values_list("actions", flat=True).get(id=context.lease.turn_id)
    pending = [
        {"id": a["id"], "type": a["type"], "description": a["description"]}
        for a in actions
        if a["status"] == "pending"
    ]
    return ToolResult(
        success=True,
        data={
            "specialist": arguments.specialist,
            "result": LIMIT_SENTENCES[ending.limit] if isinstance(ending, Stop) else ending.text,
            "pending_actions": pending,
        },
        untrusted=True,
        suspends=ending == Stop(limit="asks"),
    )


def _block(item: FoundItem) -> str:
    lines = [f"[{item.source.upper()}] {item.title}"]
    if item.sender_address:
        lines.append(f"From: {item.sender_name} <{item.sender_address}>")
    lines += [f"Date: {item.occurred_at.isoformat()}", f"Content: {item.text}"]
    return untrusted_block(id=str(item.id), lines=lines)


TOOL = Tool(
    name="delegate_to_specialist",
    description="Delegate to a specialist (task: find, extract and prepare Jira tasks).",
    arguments=Delegate,
    run=run,
    acts=True,
)
