"""Which object the user's own words mean, by the guard's own look-up: “my first meeting on Friday”.
Bounded; nothing but times, people and senders is looked at."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from guardrails.contracts import ActionRequest
from guardrails.facts.facts import ObjectKind
from guardrails.facts.text import visible
from guardrails.gather import directory
from guardrails.gather.lookups import MAX_PAGES, PAGE
from guardrails.words import queries
from guardrails.words.own import own_words
from guardrails.words.queries import Query
from guardrails.words.typed import without_links
from integrations.contracts import AnyItem, Email, Event
from integrations.ports.account import Reader
from integrations.ports.calendar import CalendarReader
from integrations.ports.mail import MailReader

MAIL_DAYS = 30  # older mail than the last so many days is not asked about in such words


def meant_by(
    request: ActionRequest,
    reader: Reader,
    *,
    kind: ObjectKind | None,
    object_id: str | None,
    now: datetime,
) -> str:
    """How the user's words mean this object, in words; empty where they do not, or where more
    would have to be read than `MAX_PAGES` pages. Raises ProviderError."""
    words = without_links(own_words(request.origin.user_words))
    zone, said_at = request.origin.time_zone, request.origin.said_at
    if not (object_id and zone and said_at):
        return ""
    query: Query | None = None
    ids: tuple[str, ...] = ()
    if kind == "event" and isinstance(reader, CalendarReader) and queries.EVENT.search(words):
        people = directory.look_up(
            request.account.organisation_id, [request.account.address], words=words
        ).people
        query = queries.event_query(words, said_at=said_at, zone=zone, people=people)
        if query is not None:
            first = min(query.days, default=now.date()) - timedelta(days=1)
            since = datetime(first.year, first.month, first.day, tzinfo=now.tzinfo)
            events = [one for one in _items(reader, since, window=True) if isinstance(one, Event)]
            ids = queries.select_events(query, events, now=now, zone=zone)
    elif kind == "email" and isinstance(reader, MailReader) and queries.MAIL.search(words):
        people = directory.look_up(
            request.account.organisation_id, [request.account.address], words=words
        ).people
        query = queries.mail_query(words, said_at=said_at, zone=zone, people=people)
        if query is not None:
            since = now - timedelta(days=MAIL_DAYS)
            mails = [one for one in _items(reader, since, window=False) if isinstance(one, Email)]
            ids = queries.select_mails(query, mails, zone=zone)
    if query is None or object_id not in ids:
        return ""
    return f"“{visible(query.phrase)}” means this {'mail' if kind == 'email' else 'event'}"


def _items(reader: Reader, since: datetime, *, window: bool) -> Iterator[AnyItem]:
    """All there is since then; nothing where there are too many to read."""
    found: list[AnyItem] = []
    cursor: str | None = None
    read = reader.items_in_window if window else reader.items
    for _ in range(MAX_PAGES):
        page = read(since=since, cursor=cursor, limit=PAGE)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            yield from found
            return
