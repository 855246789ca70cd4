"""open_item: one item whole, part by part where it is long."""

from typing import Any

from pydantic import Field

from agents.context import facts
from agents.contracts import ToolResult, failure
from agents.tools.base import Arguments, ItemId, Tool, ToolContext
from agents.tools.retrieve_context import number_items
from knowledge.contracts import FoundItem
from knowledge.search import retrieval

PART_CHARS = 6_000
MOST_CHARS = 1_000_000


class OpenItem(Arguments):
    item_id: ItemId
    part: int = Field(default=1, ge=1, le=200, description="Which part of a long text.")


def run(context: ToolContext, arguments: OpenItem) -> ToolResult:
    """Its facts and one part of its text, the texts of its attachments behind its own."""
    item = find(context, arguments.item_id, chars=MOST_CHARS)
    if item is None:
        return no_such_item(arguments.item_id)
    start = (arguments.part - 1) * PART_CHARS
    parts = max(1, -(-len(item.text) // PART_CHARS))
    if arguments.part > parts:
        return failure("NOT_FOUND", f"The item has {parts} parts.", recoverable=True)
    [n] = number_items(context, [item])
    data: dict[str, Any] = {
        "n": n,
        **facts.describe(item, person=context.person, names=context.names),
        "text": item.text[start : start + PART_CHARS],
    }
    if parts > 1:
        data["part"] = f"{arguments.part} of {parts}"
    return ToolResult(success=True, data=data, untrusted=True)


def find(context: ToolContext, name: str, *, chars: int) -> FoundItem | None:
    """The user's item of this name, with so many characters of its text. One query."""
    accounts = [account.id for account in context.person.accounts]
    return retrieval.find_items([name], account_ids=accounts, chars=chars).get(name)


def no_such_item(name: str) -> ToolResult:
    """What every tool says of an item that is none of the user's."""
    return failure(
        "NOT_FOUND",
        f"There is no item {name[:100]}.",
        recoverable=True,
        suggested_action="Use the id of an item in a result, or an issue's key. Search for it.",
    )


TOOL = Tool(
    name="open_item",
    description="Read one item whole, by its id in a result or an issue's key.",
    arguments=OpenItem,
    run=run,
    repeats=True,
)
