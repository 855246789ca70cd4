"""The times at which stored events take place, kept so that a span of time finds them."""

from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import sha256
from zoneinfo import ZoneInfo

from django.db import connection, transaction
from django.db.models import QuerySet

from knowledge import stamps
from knowledge.models import Item, Occurrence
from knowledge.recurrence import NotExpandable, Timetable, occurrences

BACK = AHEAD = timedelta(days=400)
LOOKED_AT_AGAIN = timedelta(days=30)
AT_ONCE = 200  # a sweep
NOT_EXPANDED = "recurrence_not_expanded"
CANCELLED = "cancelled"
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)

_SERIES = "SELECT pg_advisory_xact_lock(%s)"


def place(row: Item, *, now: datetime) -> None:
    """Keep when this event takes place: of a series whatever lies within 400 days of `now`. A
    series whose rules are broken or too much takes place at its first time, and its metadata
    says so. Call it in the transaction that wrote the row; what is no event is left alone.

    One of a series that is an event of its own (moved, or cancelled) takes the place of the one
    it names, whichever of both arrives first.
    """
    if row.content_type != "event":
        return
    series_id = row.metadata.get("series_id")
    series = series_id if isinstance(series_id, str) and series_id else row.source_id
    _one_after_the_other(row, series)
    _place(row, now=now)
    if series != row.source_id:
        for whole in _rows(row, source_id=series):
            _place(whole, now=now)


def displace(row: Item) -> None:
    """The event is gone: call it in the transaction that empties the row, before it does. The
    series that it was one of is looked at again soon."""
    Occurrence.objects.filter(item=row).delete()
    if series := row.metadata.get("series_id"):
        _rows(row, source_id=series).update(occurrences_until=LONG_AGO)


def look_ahead(*, now: datetime) -> int:
    """Go on with series whose known occurrences come to an end; how many."""
    due = Item.objects.filter(occurrences_until__lt=now + AHEAD - LOOKED_AT_AGAIN)
    ids = list(due.order_by("occurrences_until").values_list("pk", flat=True)[:AT_ONCE])
    for pk in ids:
        with transaction.atomic():
            row = Item.objects.defer("search", "text").select_for_update().filter(pk=pk).first()
            if row is not None and row.deleted_at is None:
                place(row, now=now)
                stamps.written([row])
    return len(ids)


def _one_after_the_other(row: Item, series: str) -> None:
    """A series and one of it, taken in at once, must see each other."""
    digest = sha256(f"{row.account_id}:{series}".encode()).digest()
    with connection.cursor() as cursor:
        cursor.execute(_SERIES, [int.from_bytes(digest[:8], "big", signed=True)])


def _rows(row: Item, **which: str) -> QuerySet[Item]:
    return Item.objects.defer("search", "text").filter(
        account_id=row.account_id,
        source=row.source,
        content_type="event",
        deleted_at=None,
        **which,
    )


def _place(row: Item, *, now: datetime) -> None:
    until: datetime | None = None
    metadata = {name: value for name, value in row.metadata.items() if name != NOT_EXPANDED}
    timetable = _timetable(row)
    since = now - BACK
    if metadata.get("status") == CANCELLED:
        found = []
    elif not timetable.recurrence:
        found = occurrences(timetable, since=timetable.start, until=_after(timetable.start))
    else:
        try:
            found = occurrences(timetable, since=since, until=now + AHEAD)
            until = now + AHEAD
        except NotExpandable as reason:
            metadata[NOT_EXPANDED] = str(reason)
            first = Timetable(
                start=timetable.start,
                end=timetable.end,
                all_day=timetable.all_day,
                all_day_zone=timetable.all_day_zone,
            )
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


def _timetable(row: Item) -> Timetable:
    fields = row.metadata
    start, end = _moment(fields["start"]), _moment(fields["end"])
    zone = _zone(fields.get("time_zone") or "") or start.tzinfo or UTC
    all_day = fields.get("all_day") is True
    recurrence = fields.get("recurrence") or ""
    moved = []
    if recurrence:
        others = Item.objects.filter(
            account_id=row.account_id,
            source=row.source,
            deleted_at=None,
            identifiers__contains=[row.source_id.lower()],
            metadata__series_id=row.source_id,
        ).exclude(pk=row.pk)
        moved = [
            _moment(text)
            for text in others.values_list("metadata__original_start", flat=True)
            if isinstance(text, str)
        ]
    if not all_day:
        start, end = start.astimezone(zone), end.astimezone(zone)
    return Timetable(
        start=start,
        end=end,
        all_day=all_day,
        all_day_zone=(_zone(row.account.time_zone) if all_day else None) or UTC,
        recurrence=recurrence,
        except_at=moved,
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _after(moment: datetime) -> datetime:
    return moment + timedelta(days=2)


def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, ValueError, OSError):
        return None
