"""list_items: every item that fits, by what the sources say of it, listed or counted."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any, Literal

from pydantic import Field

from agents.context import clock, facts, schemas
from agents.contracts import Person, ToolResult, failure
from agents.tools.base import Arguments, Tool, ToolContext
from agents.tools.retrieve_context import number_items
from integrations.accounts.reads import mail_reader
from integrations.contracts import AccountRef, ContentType, Named
from integrations.exceptions import ProviderError
from knowledge.search import listing

SNIPPET_CHARS = 160
MOST = 50
ME = "me"


class ListItems(Arguments):
    """Filters. All that are given must fit. Dates and times are the user's; `until` is not
    included."""

    types: list[ContentType] = Field(default_factory=list)
    from_: str = Field(
        default="",
        alias="from",
        max_length=320,
        description="Sender, owner, organiser or reporter: address, @domain or name; or me.",
    )
    to: str = Field(default="", max_length=320, description="Address or name; or me.")
    since: datetime | date | None = None
    until: datetime | date | None = None
    words: str = Field(default="", max_length=200, description="All in its title or text.")
    status: str = Field(default="", max_length=60, description="As the source names it.")
    issue_type: str = Field(default="", max_length=60, description="As the source names it.")
    priority: str = Field(default="", max_length=60, description="As the source names it.")
    open_only: bool = Field(default=False, description="Not what is done or cancelled.")
    assignee: str = Field(default="", max_length=320, description="Address or name; or me.")
    due_from: date | None = None
    due_until: date | None = None
    labels: list[str] = Field(default_factory=list, max_length=5, description="Ids or names.")
    place: str = Field(
        default="",
        max_length=200,
        description="Folder, project key, channel or source, such as jira.",
    )
    unread: bool | None = None
    with_files: bool = False
    unanswered: bool = Field(
        default=False, description="Mails to the user that wait for the user's answer."
    )
    count_by: listing.Group | None = Field(default=None, description="Count instead of listing.")
    order: Literal["newest", "oldest", "due"] = "newest"
    limit: int = Field(default=20, ge=1, le=MOST)
    page: int = Field(default=1, ge=1, le=1000)


def run(context: ToolContext, arguments: ListItems) -> ToolResult:
    person = context.person
    asked = (arguments.from_, arguments.to, arguments.assignee)
    if ME in map(_plain, asked) and not any(one.address for one in person.accounts):
        return failure("INVALID_INPUT", "No address of the user is known: name one.")
    wanted = _wanted(arguments, person)
    if arguments.count_by:
        counted = listing.count_items(wanted, by=arguments.count_by)
        groups = [{"value": value or "(none)", "count": number} for value, number in counted.groups]
        data = {"total": counted.total, "groups": groups}
        return ToolResult(success=True, data=data, untrusted=True)
    found = listing.list_items(wanted, chars=SNIPPET_CHARS)
    numbers = number_items(context, found.items)
    items: list[dict[str, Any]] = [
        {
            "n": n,
            **facts.describe(item, person=person, names=context.names),
            "snippet": " ".join(item.text.split()),
        }
        for n, item in zip(numbers, found.items, strict=True)
    ]
    data = {"total": found.total, "items": items}
    if found.total > wanted.offset + len(items):
        data["next_page"] = arguments.page + 1
    return ToolResult(success=True, data=data, untrusted=True)


def _wanted(arguments: ListItems, person: Person) -> listing.Listing:
    own = tuple(dict.fromkeys(one.address.lower() for one in person.accounts if one.address))

    def who(name: str) -> tuple[str, ...]:
        if _plain(name) == ME:
            return own
        return (name,) if name.strip() else ()

    return listing.Listing(
        account_ids=tuple(one.id for one in person.accounts),
        own=own,
        content_types=tuple(arguments.types),
        senders=who(arguments.from_),
        receivers=who(arguments.to),
        words=arguments.words,
        status=arguments.status,
        issue_type=arguments.issue_type,
        priority=arguments.priority,
        open=arguments.open_only,
        assignees=who(arguments.assignee),
        due_from=arguments.due_from,
        due_until=arguments.due_until,
        labels=tuple(_label(label, person) for label in arguments.labels),
        place=arguments.place,
        unread=arguments.unread,
        with_files=arguments.with_files,
        unanswered=arguments.unanswered,
        since=clock.aware(arguments.since, person.time_zone) if arguments.since else None,
        until=clock.aware(arguments.until, person.time_zone) if arguments.until else None,
        order=arguments.order,
        limit=arguments.limit,
        offset=(arguments.page - 1) * arguments.limit,
    )


def _plain(name: str) -> str:
    return name.strip().lower()


def _label(label: str, person: Person) -> str:
    """The id of a mailbox's label that is called by its name."""
    for account in person.mailboxes:
        for known in _labels(account):
            if known.name.casefold() == label.strip().casefold():
                return known.id
    return label


def _labels(account: AccountRef) -> Sequence[Named]:
    try:
        return mail_reader(account).labels()
    except ProviderError:
        return ()


PEOPLE = ": people by name, address, @domain or me"
TOOL = Tool(
    name="list_items",
    description="List or count (count_by) all items that fit every filter. People by name, "
    "address, @domain or me; place is a folder, project, channel or source (jira); unanswered is "
    "mail that waits for the user. For topics use retrieve_context.",
    arguments=ListItems,
    run=run,
    note=f"{PEOPLE}; place: folder, project, channel or source (jira); unanswered: mail that waits "
    "for the user",
    repeats=True,
)


OF_ISSUES = frozenset(
    {"status", "issue_type", "priority", "open_only", "assignee", "due_from", "due_until"}
)
OF_MAIL = frozenset({"to", "labels", "unread", "with_files", "unanswered"})


def _without(filters: frozenset[str], *, note: str) -> Tool[ListItems]:
    """The tool for who works on a kind that these filters say nothing of."""
    schema = schemas.describe_arguments(ListItems)
    left = {name: one for name, one in schema["properties"].items() if name not in filters}
    count_by, order = left["count_by"], left["order"]
    fields = [one for one in count_by["enum"] if one not in filters | {"project"}]
    orders = [one for one in order["enum"] if f"{one}_from" not in filters]
    left |= {"count_by": count_by | {"enum": fields}, "order": order | {"enum": orders}}
    return replace(TOOL, form={**schema, "properties": left}, note=note)


FOR_MAIL = _without(
    OF_ISSUES, note=f"{PEOPLE}; place: folder; unanswered: mail that waits for the user"
)
FOR_FILES = _without(OF_ISSUES | OF_MAIL, note=f"{PEOPLE}; place: folder")
