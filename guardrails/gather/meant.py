"""Which object the user's own words mean, by the guard's own look-up: “my first meeting on Friday”,
“Tom's overdue tasks”, “lunch with Lena tomorrow”. Bounded; nothing but structured fields is looked
at, and titles: of the user's events, and of issues that somebody of the organisation reported."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial

from guardrails.contracts import ActionRequest
from guardrails.facts import phrases, targets
from guardrails.facts.facts import ObjectKind
from guardrails.facts.people import Person
from guardrails.facts.text import visible
from guardrails.gather import directory
from guardrails.gather.lookups import MAX_PAGES, PAGE
from guardrails.words import issue_queries, issue_titles, queries
from guardrails.words.event_titles import find_titled, is_one_of, says_title
from guardrails.words.heard import hear
from guardrails.words.moments import zone_of
from guardrails.words.typed import spoken, without_links
from integrations.contracts import AnyItem, Email, Event, Issue, Page
from integrations.exceptions import NotFound
from integrations.ports.account import Reader
from integrations.ports.calendar import CalendarReader
from integrations.ports.issues import IssuesReader
from integrations.ports.mail import MailReader

MAIL_DAYS = 30  # older mail than the last so many days is not asked about in such words


def meant_by(
    request: ActionRequest,
    reader: Reader,
    *,
    kind: ObjectKind | None,
    object_id: str | None,
    title: str,
    event: Event | None,
    now: datetime,
    people: Iterable[Person],
) -> str:
    """How the user's words mean this object with this title, in words; empty where they do not, or
    where more would have to be read than `MAX_PAGES` pages. `event` is the object where it is one.
    Raises ProviderError."""
    words = without_links(hear(request.origin).words)
    zone, said_at = request.origin.time_zone, request.origin.said_at
    if not (object_id and zone and said_at):
        return ""
    if kind == "issue" and isinstance(reader, IssuesReader):
        return _issue_meant_by(request, reader, words, key=object_id, now=now)
    if kind == "event" and isinstance(reader, CalendarReader):
        if not (queries.EVENT.search(words) or says_title(words, title)):
            return ""
        phrase, ids = _events(request, reader, words, at_hand=event, now=now, people=people)
    elif kind == "email" and isinstance(reader, MailReader):
        phrase, ids = _mails(request, reader, words, now=now, people=people)
    else:
        return ""
    if object_id not in ids:
        return ""
    kinds = "“%(words)s” means this mail", "“%(words)s” means this event"
    return phrases.phrase(kinds[kind != "email"], words=visible(phrase))


def _events(
    request: ActionRequest,
    reader: CalendarReader,
    words: str,
    *,
    at_hand: Event | None,
    now: datetime,
    people: Iterable[Person],
) -> tuple[str, tuple[str, ...]]:
    """The phrase that asks for an event, and which it is: “my first meeting on Friday”, or its
    title. Where both stand apart, they may be two."""
    zone, said_at = request.origin.time_zone, request.origin.said_at
    days = queries.days_of(spoken(words), said_at=said_at, zone=zone)
    if days is None:
        return "", ()
    first = min(days, default=now.date()) - timedelta(days=1)
    since = datetime(first.year, first.month, first.day, tzinfo=now.tzinfo)
    # No event of another day is meant where one is named; it is not asked for then.
    last = max(days) + timedelta(days=2) if days else None
    until = datetime(last.year, last.month, last.day, tzinfo=now.tzinfo) if last else None
    listing = partial(reader.items_in_window, since=since, until=until)
    events = [one for one in _pages(listing) if isinstance(one, Event)]
    title = find_titled(words, events, days=days, now=now, zone=zone)
    asked = queries.EVENT.search(words)
    if title and (asked is None or (asked.start() < title.end and title.start < asked.end())):
        phrase = words[title.start : title.end]
        if not title.event.recurrence:
            return phrase, (title.event.id,)
        # One of a series, on the day that is named.
        if at_hand and is_one_of(at_hand, title.event, days, zone):
            return phrase, (at_hand.id,)
        return "", ()
    if title or asked is None:
        return "", ()
    query = queries.event_query(spoken(words), said_at=said_at, zone=zone, people=people)
    if query is None:
        return "", ()
    return query.phrase, queries.select_events(query, events, now=now, zone=zone)


def _mails(
    request: ActionRequest,
    reader: MailReader,
    words: str,
    *,
    now: datetime,
    people: Iterable[Person],
) -> tuple[str, tuple[str, ...]]:
    """The phrase that asks for mails of one sender, and which those are."""
    if not queries.MAIL.search(words):
        return "", ()
    zone, said_at = request.origin.time_zone, request.origin.said_at
    query = queries.mail_query(spoken(words), said_at=said_at, zone=zone, people=people)
    if query is None:
        return "", ()
    since = now - timedelta(days=MAIL_DAYS)
    mails = [one for one in _pages(partial(reader.items, since=since)) if isinstance(one, Email)]
    return query.phrase, queries.select_mails(query, mails, zone=zone)


def asks_for(kind: ObjectKind | None, words: str) -> bool:
    """Whether these words may mean a mail or event by its people: only then they are looked up."""
    said = {"event": queries.EVENT, "email": queries.MAIL}.get(kind or "")
    return said is not None and said.search(without_links(words)) is not None


def _issue_meant_by(
    request: ActionRequest, reader: IssuesReader, words: str, *, key: str, now: datetime
) -> str:
    """The same for an issue: sorted out by its fields, or called by its title. Whose title would
    be a stranger's words: then the reporter must be of the organisation."""
    account = request.account
    zone, said_at = request.origin.time_zone, request.origin.said_at
    where, own = zone_of(zone), targets.address_or_none(account.address)
    if where is None or own is None:
        return ""
    people = directory.look_up(account.organisation_id, [own], words=issue_queries.spoken_of(words))
    query = issue_queries.issue_query(
        spoken(words), said_at=said_at, zone=zone, people=people.people, own=own
    )
    try:
        if query is None and not issue_titles.called(words, [reader.issue(key)]):
            return ""
    except NotFound:
        return ""
    found = list(_pages(partial(reader.items, since=None)))
    issues = [one for one in found if isinstance(one, Issue)]
    if query is not None:
        today = now.astimezone(where).date()
        keys = issue_queries.select_issues(query, issues, today=today)
        if key not in keys:
            return ""
        return phrases.phrase("“%(words)s” means this issue", words=visible(query.phrase))
    called = issue_titles.called(words, issues)
    reporter = next((one.reporter for one in issues if one.key == key), None)
    if [*called] != [key] or not _is_inside(request, reporter):
        return ""
    return phrases.phrase(
        "“%(words)s” is the title of this issue alone", words=visible(called[key])
    )


def _is_inside(request: ActionRequest, text: str | None) -> bool:
    address, account = targets.address_or_none(text or ""), request.account
    if address is None:
        return False
    return address == targets.address_or_none(account.address) or directory.look_up(
        account.organisation_id, [address]
    ).is_inside(address)


def _pages(listing: Callable[..., Page[AnyItem]]) -> Iterator[AnyItem]:
    """All that is listed; nothing where that is too much to read."""
    found: list[AnyItem] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = listing(cursor=cursor, limit=PAGE)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            yield from found
            return
