"""The times at which stored events take place, kept so that a span of time finds them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q, QuerySet

from integrations.contracts.field_types import find_zone
from knowledge.ingest import write_counts
from knowledge.models import Item, Occurrence
from knowledge.times.recurrence import Rest, Timetable, occurrences
from knowledge.times.recurrence_rules import NotExpandable

BACK = AHEAD = timedelta(days=400)
LOOKED_AT_AGAIN = timedelta(days=30)
AT_ONCE = 200  # a sweep
NOT_EXPANDED = "recurrence_not_expanded"
CANCELLED = "cancelled"
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)

_SERIES = "SELECT pg_advisory_xact_lock(%s)"


def place_occurrences(row: Item, *, now: datetime) -> None:
    """Keep when this event takes place: of a series whatever lies within 400 days of `now`. A
    series whose rules are broken or too much takes place at its first time, and its metadata
    says so. Call it in the transaction that wrote the row, after `lock_series`; what is no event
    is left alone.

    One of a series that is an event of its own (moved, or cancelled) takes the place of the one
    it names, or of all from it on, whichever of them arrives first.
    """
    if row.content_type != "event":
        return
    _place(row, now=now)
    for other in _parts(row):
        _place(other, now=now)


def remove_occurrences(row: Item) -> None:
    """The event is gone: call it in the transaction that empties the row, before it does. The
    series that it was one of is looked at again soon."""
    Occurrence.objects.filter(item=row).delete()
    if row.content_type == "event":
        _parts(row).update(occurrences_until=LONG_AGO)


def look_ahead(*, now: datetime) -> int:
    """Go on with series whose known occurrences come to an end; how many."""
    due = Item.objects.filter(occurrences_until__lt=now + AHEAD - LOOKED_AT_AGAIN)
    ids = list(due.order_by("occurrences_until").values_list("pk", flat=True)[:AT_ONCE])
    for pk in ids:
        with transaction.atomic():
            rows = Item.objects.defer("search", "text").filter(pk=pk)
            for seen in rows:
                lock_series(account_id=seen.account_id, series=find_series(seen))
            row = rows.select_for_update().first()
            if row is not None and row.deleted_at is None:
                place_occurrences(row, now=now)
                write_counts.count_writes([row])
    return len(ids)


def lock_series(*, account_id: UUID, series: str) -> None:
    """Until the transaction ends nobody else places this series or one of it: taken in at once they
    must see each other. Call it before a row of them is locked, or two wait for each other."""
    digest = sha256(f"{account_id}:{series}".encode()).digest()
    with connection.cursor() as cursor:
        cursor.execute(_SERIES, [int.from_bytes(digest[:8], "big", signed=True)])


def find_series(row: Item) -> str:
    """The id of the series that it is, or is one of."""
    series_id = row.metadata.get("series_id")
    return series_id if isinstance(series_id, str) and series_id else row.source_id


def _parts(row: Item) -> QuerySet[Item]:
    """The series and the changes to the rest of it, without `row` itself."""
    series = find_series(row)
    rest = _of(series) & Q(metadata__this_and_future=True)
    return _rows(row).filter(Q(source_id=series) | rest).exclude(pk=row.pk)


def _of(series: str) -> Q:
    return Q(identifiers__contains=[series.lower()], metadata__series_id=series)


def _rows(row: Item) -> QuerySet[Item]:
    return Item.objects.defer("search", "text").filter(
        account_id=row.account_id, source=row.source, content_type="event", deleted_at=None
    )


def _place(row: Item, *, now: datetime) -> None:
    until: datetime | None = None
    metadata = {name: value for name, value in row.metadata.items() if name != NOT_EXPANDED}
    timetable = _timetable(row)
    if timetable is None:
        found = []
    elif not timetable.recurrence:
        found = occurrences(timetable, since=timetable.start, until=_after(timetable.start))
    else:
        try:
            found = occurrences(timetable, since=now - BACK, until=now + AHEAD)
            until = now + AHEAD
        except NotExpandable as reason:
            metadata[NOT_EXPANDED] = str(reason)
            first = _once(row)
            found = occurrences(first, since=first.start, until=_after(first.start))
    Occurrence.objects.filter(item=row).delete()
    Occurrence.objects.bulk_create(
        [
            Occurrence(
                item=row,
                account_id=row.account_id,
                starts_at=one.starts_at,
                ends_at=one.ends_at,
            )
            for one in found
        ]
    )
    if (row.metadata, row.occurrences_until) != (metadata, until):
        row.metadata, row.occurrences_until = metadata, until
        row.save(update_fields=["metadata", "occurrences_until"])


def _timetable(row: Item) -> Timetable | None:
    """None: it takes place at no time."""
    once = _once(row)
    if row.metadata.get("status") == CANCELLED:
        return None
    if row.metadata.get("this_and_future") is True:
        return _rest(row, once)
    if not row.metadata.get("recurrence"):
        return once
    singles, changes = _others(row, row.source_id)
    return replace(
        once,
        recurrence=row.metadata["recurrence"],
        except_at=singles,
        before=min(changes, default=None),
    )


def _rest(row: Item, once: Timetable) -> Timetable | None:
    """Of the series whose rest `row` is, that rest. Without its series it is one event."""
    series = _rows(row).filter(source_id=find_series(row)).first()
    whole = _once(series) if series else None
    if series is None or whole is None or not series.metadata.get("recurrence"):
        return once
    if series.metadata.get("status") == CANCELLED:
        return None
    instead_of = _moment(row.metadata["original_start"])
    singles, changes = _others(row, series.source_id)
    return replace(
        whole,
        recurrence=series.metadata["recurrence"],
        except_at=singles,
        before=min((moment for moment in changes if moment > instead_of), default=None),
        rest=Rest(instead_of=instead_of, start=once.start, end=once.end, all_day=once.all_day),
    )


def _others(row: Item, series: str) -> tuple[list[datetime], list[datetime]]:
    """When those of a series would have begun that are events of their own: the single ones, and
    the ones from which on the rest was changed."""
    singles: list[datetime] = []
    changes: list[datetime] = []
    others = _rows(row).filter(_of(series)).exclude(pk=row.pk)
    for metadata in others.values_list("metadata", flat=True):
        if isinstance(text := metadata.get("original_start"), str):
            (changes if metadata.get("this_and_future") is True else singles).append(_moment(text))
    return singles, changes


def _once(row: Item) -> Timetable:
    """Its own time alone, in its own zone."""
    fields = row.metadata
    start, end = _moment(fields["start"]), _moment(fields["end"])
    zone = find_zone(fields.get("time_zone") or "") or start.tzinfo or UTC
    all_day = fields.get("all_day") is True
    if not all_day:
        start, end = start.astimezone(zone), end.astimezone(zone)
    return Timetable(
        start=start,
        end=end,
        all_day=all_day,
        all_day_zone=(find_zone(row.account.time_zone) if all_day else None) or UTC,
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _after(moment: datetime) -> datetime:
    return moment + timedelta(days=2)
