"""retrieve_context: search the user's own items."""

from collections.abc import Sequence
from typing import Any, Literal

from django.utils import timezone
from pydantic import Field

from agents import journal
from agents.contracts import ToolResult
from agents.tools.base import Arguments, Tool, ToolContext
from integrations.contracts import Source
from knowledge import retrieval
from knowledge.contracts import FoundItem, SearchRequest

LEFT_OUT = "Items that earlier results of this run have shown are left out here."


class RetrieveContext(Arguments):
    query: str = Field(min_length=1, max_length=1000)
    sources: list[Source] | None = None
    time_filter: Literal["today", "yesterday", "last_week", "last_month"] | None = None
    entity_filter: str | None = Field(
        default=None, max_length=320, description="A person, project or address."
    )
    limit: int = Field(default=10, ge=1, le=50)


def run(context: ToolContext, arguments: RetrieveContext) -> ToolResult:
    found = retrieval.search(
        SearchRequest(
            account_ids=tuple(account.id for account in context.person.accounts),
            query=arguments.query,
            sources=tuple(arguments.sources or ()),
            time_filter=arguments.time_filter,
            time_zone=context.person.time_zone,
            entity=arguments.entity_filter or "",
            excluded_ids=tuple(context.shown),
            limit=arguments.limit,
        ),
        now=timezone.now(),
        payer=context.payer,
    )
    items = described(context, found.items)
    entities = [
        {"type": e.kind, "name": e.name, "email": e.address, "mentions": e.mentions}
        for e in found.entities
    ]
    return ToolResult(
        success=True,
        data={"found": len(items), "items": items, "entities_found": entities}
        | ({"left_out": LEFT_OUT} if context.shown else {}),
        untrusted=True,
    )


def numbered(context: ToolContext, items: Sequence[FoundItem]) -> list[int]:
    """The numbers under which these items can be cited from now on."""
    shown = journal.add_context(
        context.lease,
        [
            {"id": str(i.id), "source": i.source, "title": i.title, "relevance": i.relevance}
            for i in items
        ],
    )
    return [entry["n"] for entry in shown]


def described(context: ToolContext, items: Sequence[FoundItem]) -> list[dict[str, Any]]:
    """Items as a model is shown them, each with the number to cite it by."""
    return [
        {"n": n, **_described(item)}
        for n, item in zip(numbered(context, items), items, strict=True)
    ]


def _described(item: FoundItem) -> dict[str, Any]:
    sender = {"name": item.sender_name, "address": item.sender_address}
    return {
        "id": str(item.id),
        "source": item.source,
        "source_id": item.source_id,
        "type": item.content_type,
        "title": item.title,
        "summary": item.summary,
        "snippet": item.snippet,
        "highlights": [list(place) for place in item.highlights],
        "from": sender if item.sender_address else None,
        "relevance": item.relevance,
        "date": item.occurred_at.isoformat(),
    }


TOOL = Tool(
    name="retrieve_context",
    description="Search the user's mail, documents, calendar and issues. Use before any action.",
    arguments=RetrieveContext,
    run=run,
)
