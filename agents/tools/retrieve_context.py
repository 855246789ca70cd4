"""retrieve_context: search the user's own items."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from django.utils import timezone
from pydantic import Field, model_validator

from agents.context import clock, facts
from agents.context.schemas import QUIET, TAUGHT
from agents.contracts import Person, ToolResult
from agents.journal import journal
from agents.tools.base import Arguments, Tool, ToolContext
from integrations.contracts import ContentType
from integrations.ports.registry import KnownSource
from knowledge.contracts import FoundItem, SearchRequest, TimeFilter
from knowledge.search import retrieval

PASSAGES_CHARS = 2_000  # of one result
PASSAGE_CHARS = 1_200
SNIPPET_CHARS = 120  # of an item whose passage has no room
LEFT_OUT = "Items that earlier results of this run have shown are left out here."


class RetrieveContext(Arguments):
    """What to search for. A time without a zone is the user's own."""

    query: str = Field(
        default="", max_length=1000, description="Words. Without any, the newest are found."
    )
    sources: list[KnownSource] | None = Field(default=None, json_schema_extra=QUIET)
    types: list[ContentType] | None = Field(
        default=None, description="Kinds of items.", json_schema_extra=TAUGHT
    )
    time_filter: TimeFilter | None = Field(default=None, json_schema_extra=QUIET)
    since: datetime | None = None
    until: datetime | None = Field(default=None, description="Not included.")
    entity_filter: str | None = Field(
        default=None, max_length=320, description="A person, project or address."
    )
    limit: int = Field(default=10, ge=1, le=50)

    @model_validator(mode="after")
    def _custom(self) -> Self:
        named = self.time_filter not in (None, "custom")
        if self.time_filter == "custom" and not (self.since or self.until):
            raise ValueError("`custom` needs since or until")
        if named and (self.since or self.until):
            raise ValueError("time_filter stands for since and until: give one of them")
        return self

    def request(self, person: Person, *, excluded: Collection[UUID] = ()) -> SearchRequest:
        """It as a search in this person's accounts alone."""
        return SearchRequest(
            account_ids=tuple(account.id for account in person.accounts),
            query=self.query,
            sources=tuple(self.sources or ()),
            content_types=tuple(self.types or ()),
            time_filter="custom" if self.since or self.until else self.time_filter,
            since=clock.aware(self.since, person.time_zone) if self.since else None,
            until=clock.aware(self.until, person.time_zone) if self.until else None,
            time_zone=person.time_zone,
            entity=self.entity_filter or "",
            excluded_ids=tuple(excluded),
            limit=self.limit,
        )


def run(context: ToolContext, arguments: RetrieveContext) -> ToolResult:
    found = retrieval.search(
        arguments.request(context.person, excluded=context.observed),
        now=timezone.now(),
        payer=context.payer,
        deadline=context.deadline,
    )
    data: dict[str, Any] = {"items": describe_items(context, found.items)}
    if context.observed and len(found.items) < arguments.limit:
        data["left_out"] = LEFT_OUT
    return ToolResult(success=True, data=data, untrusted=True)


def number_items(context: ToolContext, items: Sequence[FoundItem]) -> list[int]:
    """The numbers under which these items can be cited from now on."""
    entries = journal.add_context(
        context.lease,
        [
            {"id": str(i.id), "source": i.source, "title": i.title, "relevance": i.relevance}
            for i in items
        ],
    )
    return [entry["n"] for entry in entries]


def describe_items(context: ToolContext, items: Sequence[FoundItem]) -> list[dict[str, Any]]:
    """Items as a model is shown them, each with the number to cite it by. Of the best ones it reads
    the passage that fits, so that it need not open each; of the others what they are about."""
    described, room = [], PASSAGES_CHARS
    for n, item in zip(number_items(context, items), items, strict=True):
        passage = item.text[:PASSAGE_CHARS]
        fits = len(passage) <= room
        room -= len(passage) if fits else 0
        described.append(
            {
                "n": n,
                **facts.describe(item, person=context.person, names=context.names),
                **({"text": passage} if fits else {"snippet": item.snippet[:SNIPPET_CHARS]}),
            }
        )
    return described


TOOL = Tool(
    name="retrieve_context",
    description="Search all items by topic; entity_filter: a person, project or address.",
    arguments=RetrieveContext,
    run=run,
)
