"""Items by what their sources say of them: every one that fits, in order, counted if asked."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Lower
from django.db.models.lookups import GreaterThan

from knowledge.contracts import FoundItem
from knowledge.models import Item, ItemFile, Mention
from knowledge.search.retrieval import as_found

Order = Literal["newest", "oldest", "due"]
Group = Literal[
    "from", "status", "assignee", "priority", "project", "place", "type", "issue_type", "source"
]
MOST_GROUPS = 30
NO_MAIL = ("DRAFT", "TRASH", "SPAM")  # labels of what was not sent, or is of no more matter
ENDED = ("done", "closed", "resolved", "cancelled", "canceled")
# Where the sources keep what items are counted by.
FIELDS: dict[Group, str] = {
    "from": "sender_address",
    "type": "content_type",
    "status": "metadata__status",
    "assignee": "metadata__assignee",
    "priority": "metadata__priority",
    "project": "metadata__project_key",
    "place": "metadata__folder_path",
    "issue_type": "metadata__type",
    "source": "source",
}


@dataclass(frozen=True, kw_only=True)
class Listing:
    """Which items, of which accounts. What is empty does not count; `since` and `until` (aware,
    half open) are about when an item was sent, changed or begins; `own` are the user's addresses.

    People are addresses, domains with their @, or words of a name: any of them will do. `open`
    leaves out what is done or cancelled. `words` must all begin a word of the title or text.
    `place` is a folder, project, channel or source. `unanswered` are mails to the user on whose
    thread nobody has written since, least of all the user.
    """

    account_ids: tuple[UUID, ...]
    own: tuple[str, ...] = ()
    content_types: tuple[str, ...] = ()
    senders: tuple[str, ...] = ()
    receivers: tuple[str, ...] = ()
    words: str = ""
    status: str = ""
    issue_type: str = ""
    priority: str = ""
    open: bool = False
    assignees: tuple[str, ...] = ()
    due_from: date | None = None
    due_until: date | None = None
    labels: tuple[str, ...] = ()
    place: str = ""
    unread: bool | None = None
    with_files: bool = False
    unanswered: bool = False
    since: datetime | None = None
    until: datetime | None = None
    order: Order = "newest"
    limit: int = 20
    offset: int = 0


@dataclass(frozen=True, kw_only=True)
class Listed:
    """`total` is how many fit, shown or not."""

    items: tuple[FoundItem, ...]
    total: int


def list_items(wanted: Listing, *, chars: int) -> Listed:
    """The items that fit, with up to `chars` characters of their text. Two queries."""
    rows = _rows(wanted)
    order = {
        "newest": (F("occurred_at").desc(), "id"),
        "oldest": (F("occurred_at").asc(), "id"),
        "due": (F("due").asc(nulls_last=True), "id"),
    }[wanted.order]
    page = rows.order_by(*order)[wanted.offset : wanted.offset + wanted.limit]
    return Listed(items=tuple(as_found(row, chars) for row in page), total=rows.count())


@dataclass(frozen=True, kw_only=True)
class Counted:
    """How many fit by a fact, most first, at most MOST_GROUPS; `total` counts all of them."""

    groups: tuple[tuple[str, int], ...]
    total: int


def count_items(wanted: Listing, *, by: Group) -> Counted:
    """How many fit by this fact. Two queries."""
    name, _, key = FIELDS[by].partition("__")
    value = KeyTextTransform(key, name) if key else F(name)
    rows = _rows(wanted).order_by()
    found = rows.annotate(group=value).values("group")
    counted = found.annotate(number=Count("id")).order_by("-number", "group")[:MOST_GROUPS]
    groups = tuple((row["group"] or "", row["number"]) for row in counted)
    return Counted(groups=groups, total=rows.count())


def _rows(wanted: Listing) -> QuerySet[Item]:
    rows = (
        Item.objects.defer("search", "identifiers")
        .filter(account_id__in=wanted.account_ids, deleted_at=None)
        .annotate(
            due=KeyTextTransform("due_date", "metadata"),
            state=Lower(KeyTextTransform("status", "metadata")),
        )
    )
    if wanted.content_types:
        rows = rows.filter(content_type__in=wanted.content_types)
    if wanted.since:
        rows = rows.filter(occurred_at__gte=wanted.since)
    if wanted.until:
        rows = rows.filter(occurred_at__lt=wanted.until)
    for word in wanted.words.split():
        begins = _begins_with(word)
        rows = rows.filter(Q(title__iregex=begins) | Q(text__iregex=begins))
    rows = rows.filter(_people(wanted), _state(wanted), _where(wanted))
    return _unanswered(rows, wanted) if wanted.unanswered else rows


def _people(wanted: Listing) -> Q:
    return (
        _any(_sent_by(one) for one in wanted.senders)
        & _any(_is_to(one) for one in wanted.receivers)
        & _any(Q(metadata__assignee__iregex=_begins_with(one)) for one in wanted.assignees)
    )


def _any(choices: Iterable[Q]) -> Q:
    found = Q()
    for choice in choices:
        found |= choice
    return found


def _begins_with(text: str) -> str:
    """What finds a word that begins so: “Elin” is no “Zielinski”."""
    return rf"\m{re.escape(text.strip())}"


def _sent_by(person: str) -> Q:
    text = person.strip().lower()
    if text.startswith("@"):
        return Q(sender_address__endswith=text)
    if "@" in text:
        return Q(sender_address=text)
    found = Q()
    for word in text.split():
        begins = _begins_with(word)
        found &= Q(sender_name__iregex=begins) | Q(sender_address__iregex=begins)
    return found


def _is_to(person: str) -> Q:
    text = person.strip().lower()
    if "@" in text:
        return Q(identifiers__contains=[text]) & ~Q(sender_address=text)
    about = Mention.objects.filter(entity__words__contains=text.split(), role="participant")
    return Q(id__in=about.values("item_id"))


def _state(wanted: Listing) -> Q:
    found = Q()
    if wanted.status:
        found &= Q(metadata__status__iexact=wanted.status.strip())
    if wanted.issue_type:
        found &= Q(metadata__type__iexact=wanted.issue_type.strip(), content_type="issue")
    if wanted.priority:
        found &= Q(metadata__priority__iexact=wanted.priority.strip())
    if wanted.open:
        # What has no status has not ended: of NULL the database says neither yes nor no.
        found &= Q(state=None) | ~Q(state__in=ENDED)
    if wanted.due_from:
        found &= Q(due__gte=wanted.due_from.isoformat())
    if wanted.due_until:
        found &= Q(due__lt=wanted.due_until.isoformat())
    if wanted.unread is not None:
        found &= Q(metadata__is_read=not wanted.unread)
    return found


def _where(wanted: Listing) -> Q:
    found = Q()
    for label in wanted.labels:
        found &= Q(metadata__labels__contains=[label])
    if wanted.place:
        place = wanted.place.strip()
        found &= (
            Q(metadata__folder_path__icontains=place)
            | Q(metadata__project_key__iexact=place)
            | Q(metadata__channel__icontains=place)
            | Q(source__iexact=place)
        )
    if wanted.with_files:
        found &= Q(id__in=ItemFile.objects.values("item_id"))
    return found


def _unanswered(rows: QuerySet[Item], wanted: Listing) -> QuerySet[Item]:
    """The newest mail of its thread, to one of the user's addresses, from a person. What is only
    drafted, or was thrown away, neither answers nor waits."""
    if not wanted.own:
        return rows.none()
    thread = KeyTextTransform("thread_id", "metadata")
    no_mail = _any(Q(metadata__labels__contains=[one]) for one in NO_MAIL)
    later = (
        Item.objects.annotate(thread=thread)
        .filter(
            GreaterThan(F("occurred_at"), OuterRef("occurred_at")),
            account_id=OuterRef("account_id"),
            content_type="email",
            deleted_at=None,
            thread=OuterRef("thread"),
        )
        .exclude(no_mail)
    )
    to_user = _any(Q(metadata__to__icontains=address) for address in wanted.own)
    lists = Q(metadata__list_id=None) | Q(metadata__list_id="")
    return (
        rows.annotate(thread=thread)
        .filter(to_user, lists, content_type="email")
        .exclude(sender_address__in=[address.lower() for address in wanted.own])
        .exclude(no_mail)
        .filter(Q(thread="") | ~Exists(later))
    )
