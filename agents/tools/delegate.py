"""delegate_to_specialist: hand a part of the work to a specialist, with the items it needs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from agents.answer import citations
from agents.context import clock
from agents.context.prompts import LIMIT_SENTENCES, render_block
from agents.contracts import ToolResult
from agents.journal import journal
from agents.journal.steps import Stop
from agents.models import Turn
from agents.tools.base import Arguments, ItemId, Tool, ToolContext
from agents.tools.open_item import no_such_item
from agents.tools.retrieve_context import number_items
from knowledge.contracts import FoundItem
from knowledge.search import retrieval

MAX_ITEMS = 10


class Delegate(Arguments):
    specialist: Literal["email", "document", "task"]
    task: str = Field(min_length=1, max_length=4000)
    context_ids: list[ItemId] = Field(
        default_factory=list, max_length=MAX_ITEMS, description="The items it needs."
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
    note=": larger work, with its items",
    acts=True,
    delegates=True,
)


def hand_over(
    context: ToolContext, *, agent: str, task: str, item_ids: Sequence[str]
) -> ToolResult:
    """Run the agent with the task and these items of the user, and return its answer, what it
    cites and what waits for a person. It cites by the numbers of the conversation, and only
    what it was shown itself."""
    accounts = [account.id for account in context.person.accounts]
    found = retrieval.find_items(item_ids, account_ids=accounts)
    if unknown := [name for name in item_ids if name not in found]:
        return no_such_item(", ".join(unknown))
    items = list({item.id: item for item in found.values()}.values())
    given = number_items(context, items)
    zone = context.person.time_zone
    blocks = [_block(n, item, zone=zone) for n, item in zip(given, items, strict=True)]
    ending = context.delegate(agent, task, blocks, context.call)
    bound = _bound(context, ending.text, given, items) if not isinstance(ending, Stop) else None
    actions = Turn.objects.values_list("actions", flat=True).get(id=context.lease.turn_id)
    pending = [
        {"id": a["id"], "type": a["type"], "description": a["description"]}
        for a in actions
        if a["status"] == "pending"
    ]
    said = LIMIT_SENTENCES[ending.limit] if isinstance(ending, Stop) else ending.text
    data: dict[str, Any] = {"result": bound.text if bound else said, "pending_actions": pending}
    if bound and bound.citations:
        data["citations"] = [dict(item) for item in bound.citations]
    return ToolResult(
        success=True, data=data, untrusted=True, suspends=ending == Stop(limit="asks")
    )


def _bound(
    context: ToolContext, text: str, given: Sequence[int], items: Sequence[FoundItem]
) -> citations.Bound:
    turn_id = context.lease.turn_id
    steps = journal.load_steps([turn_id]).get((turn_id, context.call.id), [])
    observed = citations.list_results(steps) | {
        (n, str(item.id)) for n, item in zip(given, items, strict=True)
    }
    return citations.bind_citations(
        text, citations.list_citable(journal.load_context(turn_id), observed)
    )


def _block(n: int, item: FoundItem, *, zone: str) -> str:
    lines = [f"[{item.source.upper()}] {item.title}", f"Cite as: [{n}]"]
    if item.sender_address:
        lines.append(f"From: {item.sender_name} <{item.sender_address}>")
    lines += [f"Date: {clock.show(item.occurred_at, zone)}", f"Content: {item.text}"]
    return render_block(id=str(item.id), lines=lines)
