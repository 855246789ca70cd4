import itertools
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError, connections

from integrations.contracts import AccountRef
from knowledge.contracts import SearchRequest
from knowledge.ingest import occurrences
from knowledge.ingest.ingest import forget, ingest
from knowledge.ingest.page import look_up_page
from knowledge.models import Item, Occurrence
from knowledge.search.retrieval import search
from tests.knowledge.office import NOW, account, email, event
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db

WEEKLY: dict[str, Any] = {
    "id": "standup",
    "title": "Stand-up",
    "time_zone": "Europe/Stockholm",
    "start": "2025-12-02T09:30:00",
    "end": "2025-12-02T09:45:00",
    "recurrence": "RRULE:FREQ=WEEKLY",
}
# NOW is Tuesday, 2026-03-10, 13:00 in Stockholm.
MOVED: dict[str, Any] = {
    "id": "standup-moved",
    "title": "Stand-up",
    "series_id": "standup",
    "original_start": "2026-03-10T08:30:00Z",
    "start": "2026-03-12T08:30:00Z",
    "end": "2026-03-12T08:45:00Z",
}


@pytest.fixture
def diary(model: ScriptedModel) -> AccountRef:
    return account(source="calendar")


def take(owner: AccountRef, **fields: Any) -> str:
    item = event(**fields)
    return ingest(account=owner, source_id=item.id, item=item, now=NOW).state


def found(
    owner: AccountRef, query: str = "What is on today?", **more: Any
) -> list[tuple[str, str]]:
    request = SearchRequest(
        account_ids=(owner.id,),
        query=query,
        time_zone="Europe/Stockholm",
        **({"time_filter": "today"} | more),
    )
    items = search(request, now=NOW).items
    return [(item.source_id, item.occurred_at.astimezone(UTC).isoformat()) for item in items]


TODAY = [("standup", "2026-03-10T08:30:00+00:00")]


def test_a_series_is_found_by_the_one_of_it_that_takes_place_today(diary: AccountRef) -> None:
    take(diary, **WEEKLY)
    take(diary, id="far", start="2026-05-10T15:00:00Z", end="2026-05-10T16:00:00Z")

    assert found(diary) == TODAY
    assert found(diary, "stand-up") == TODAY
    assert found(diary, "meetings", sources=("calendar",)) == TODAY
    assert found(diary, time_filter="yesterday") == []


@pytest.mark.parametrize(
    "query",
    [
        *("events", "meetings on Wednesday", "Besprechungen am Mittwoch"),
        *("réunions de mercredi", "¿Qué reuniones hay el miércoles?", ""),
        *("Che riunioni ho mercoledì?", "meetings on 11 March", "meetings on March 11th, 2026"),
        *("Termine am 11.3.2026 um 12:00", "reuniones del 11 de marzo", "events on 2026-03-11"),
    ],
)
@pytest.mark.parametrize("narrow", [{"content_types": ("event",)}, {"sources": ("calendar",)}])
def test_what_the_filters_say_already_leaves_out_no_event(
    diary: AccountRef, query: str, narrow: dict[str, Any]
) -> None:
    """FINDINGS A2: the missed one was the conflict."""
    for name in ("Budget", "Lunch with Ann", "Portal"):
        take(diary, id=name, title=name, start="2026-03-11T11:00:00Z", end="2026-03-11T12:00:00Z")
    wednesday = {
        "since": datetime(2026, 3, 11, tzinfo=UTC),
        "until": datetime(2026, 3, 12, tzinfo=UTC),
    }

    told = [name for name, _ in found(diary, query, time_filter="custom", **wednesday, **narrow)]

    assert sorted(told) == ["Budget", "Lunch with Ann", "Portal"]


def test_without_a_span_a_series_has_the_time_of_its_first(diary: AccountRef) -> None:
    take(diary, **WEEKLY)

    assert found(diary, "stand-up", time_filter=None) == [("standup", "2025-12-02T08:30:00+00:00")]


def test_what_began_yesterday_and_goes_on_is_on_today(diary: AccountRef) -> None:
    take(diary, **WEEKLY)
    take(diary, id="lunch", start="2026-03-10T11:00:00Z", end="2026-03-10T12:00:00Z")
    take(diary, id="conference", start="2026-03-09T08:00:00Z", end="2026-03-11T16:00:00Z")

    told = [name for name, _ in found(diary, sources=("calendar",))]

    assert sorted(told) == ["conference", "lunch", "standup"]


def test_an_agenda_beyond_the_mails_of_a_full_day_is_not_cut_off(model: ScriptedModel) -> None:
    owner = account(source="calendar")
    take(owner, **WEEKLY)
    for number in range(12):
        mail = email(id=f"m{number}", subject=f"M{number}", date=f"2026-03-10T0{number % 8}:00:00Z")
        ingest(account=owner, source_id=mail.id, item=mail, now=NOW)

    assert TODAY[0] in found(owner, limit=10)


@pytest.mark.parametrize("first", ["series", "moved"])
def test_one_that_was_moved_is_found_where_it_is_now(diary: AccountRef, first: str) -> None:
    for fields in (WEEKLY, MOVED) if first == "series" else (MOVED, WEEKLY):
        take(diary, **fields)

    assert found(diary) == []
    thursday: dict[str, Any] = {
        "time_filter": "custom",
        "since": datetime(2026, 3, 12, tzinfo=UTC),
        "until": datetime(2026, 3, 13, tzinfo=UTC),
    }
    assert found(diary, **thursday) == [("standup-moved", "2026-03-12T08:30:00+00:00")]


@pytest.mark.parametrize("first", ["series", "cancelled"])
def test_one_that_was_cancelled_does_not_take_place(diary: AccountRef, first: str) -> None:
    cancelled = MOVED | {"start": "2026-03-20T08:30:00Z", "end": "2026-03-20T08:45:00Z"}
    cancelled |= {"status": "cancelled"}
    for fields in (WEEKLY, cancelled) if first == "series" else (cancelled, WEEKLY):
        take(diary, **fields)

    assert found(diary) == []


REST: dict[str, Any] = {
    "id": "standup-later",
    "title": "Stand-up, later",
    "time_zone": "Europe/Stockholm",
    "series_id": "standup",
    "original_start": "2026-03-17T09:30:00",
    "this_and_future": True,
    "start": "2026-03-18T11:00:00",
    "end": "2026-03-18T12:00:00",
}
# The clocks change on March 29. March 24 was moved by itself; from April 7 on all is otherwise.
ALONE = MOVED | {"original_start": "2026-03-24T08:30:00Z", "start": "2026-03-26T08:30:00Z"}
ALONE |= {"end": "2026-03-26T08:45:00Z"}
AGAIN = REST | {"id": "standup-again", "original_start": "2026-04-07T09:30:00"}
AGAIN |= {"start": "2026-04-07T08:00:00", "end": "2026-04-07T08:10:00"}


def kept(owner: AccountRef, *, days: int = 49) -> list[tuple[str, str]]:
    """What takes place in the seven weeks after NOW: whose, and when in UTC."""
    rows = Occurrence.objects.filter(
        account_id=owner.id, starts_at__gte=NOW, starts_at__lt=NOW + timedelta(days=days)
    ).order_by("starts_at", "item__source_id")
    return [
        (name.removeprefix("standup-"), f"{start:%m-%d %H:%M}-{end:%H:%M}")
        for name, start, end in rows.values_list("item__source_id", "starts_at", "ends_at")
    ]


CHANGED_TWICE = [
    ("later", "03-18 10:00-11:00"),
    ("moved", "03-26 08:30-08:45"),
    ("later", "04-01 09:00-10:00"),
    ("again", "04-07 06:00-06:10"),
    ("again", "04-14 06:00-06:10"),
    ("again", "04-21 06:00-06:10"),
    ("again", "04-28 06:00-06:10"),
]


@pytest.mark.parametrize("order", list(itertools.permutations((WEEKLY, REST, ALONE, AGAIN)))[::5])
def test_the_rest_of_a_series_is_changed_whichever_part_arrives_first(
    diary: AccountRef, order: tuple[dict[str, Any], ...]
) -> None:
    for fields in order:
        take(diary, **fields)

    assert kept(diary) == CHANGED_TWICE
    last = Occurrence.objects.filter(item__source_id="standup").latest("starts_at")
    assert last.starts_at == datetime(2026, 3, 10, 8, 30, tzinfo=UTC)


def test_what_is_on_is_asked_of_the_changed_rest(diary: AccountRef) -> None:
    for fields in (WEEKLY, REST):
        take(diary, **fields)
    day: dict[str, Any] = {
        "time_filter": "custom",
        "since": datetime(2026, 4, 1, tzinfo=UTC),
        "until": datetime(2026, 4, 2, tzinfo=UTC),
    }

    assert found(diary, **day) == [("standup-later", "2026-04-01T09:00:00+00:00")]


def test_a_rest_that_was_cancelled_takes_place_no_more(diary: AccountRef) -> None:
    for fields in (WEEKLY, REST | {"status": "cancelled"}, ALONE):
        take(diary, **fields)

    assert kept(diary) == [("moved", "03-26 08:30-08:45")]


def test_a_rest_changes_with_its_series_and_ends_with_it(diary: AccountRef) -> None:
    for fields in (REST, WEEKLY):
        take(diary, **fields)
    take(diary, **WEEKLY | {"recurrence": "RRULE:FREQ=WEEKLY;INTERVAL=2"}, version=2)

    assert kept(diary, days=40) == [
        ("later", "03-18 10:00-11:00"),
        ("later", "03-25 10:00-11:00"),
        ("later", "04-08 09:00-10:00"),
    ]

    take(diary, **WEEKLY | {"status": "cancelled"}, version=3)
    assert kept(diary) == []


def test_when_the_changed_rest_is_gone_the_series_goes_on_as_it_was(diary: AccountRef) -> None:
    for fields in (WEEKLY, REST):
        take(diary, **fields)

    forget(account=diary, source_id="standup-later", at=NOW)
    assert occurrences.look_ahead(now=NOW) == 1

    assert kept(diary, days=14) == [
        ("standup", "03-17 08:30-08:45"),
        ("standup", "03-24 08:30-08:45"),
    ]


def test_when_the_series_is_gone_its_changed_rest_is_one_event(diary: AccountRef) -> None:
    for fields in (WEEKLY, REST):
        take(diary, **fields)

    forget(account=diary, source_id="standup", at=NOW)
    assert occurrences.look_ahead(now=NOW) == 1

    assert kept(diary) == [("later", "03-18 10:00-11:00")]


def test_a_rest_of_nothing_is_an_event_like_any_other(diary: AccountRef) -> None:
    take(diary, **REST | {"series_id": None})
    take(diary, **REST | {"id": "standup-odd", "series_id": "x", "original_start": None})

    assert kept(diary) == [("later", "03-18 10:00-11:00"), ("odd", "03-18 10:00-11:00")]


def test_the_rest_of_an_endless_series_is_followed_as_time_goes_on(diary: AccountRef) -> None:
    for fields in (WEEKLY, REST):
        take(diary, **fields)
    last = Occurrence.objects.latest("starts_at").starts_at

    later = NOW + timedelta(days=31)
    assert occurrences.look_ahead(now=later) >= 1
    assert occurrences.look_ahead(now=later) == 0

    assert Occurrence.objects.latest("starts_at").starts_at > last


def test_a_whole_series_that_was_cancelled_takes_place_no_more(diary: AccountRef) -> None:
    take(diary, **WEEKLY)
    take(diary, **WEEKLY, version=2, status="cancelled")

    assert found(diary) == []
    assert not Occurrence.objects.exists()


def test_when_the_moved_one_is_gone_its_old_time_counts_again(diary: AccountRef) -> None:
    take(diary, **WEEKLY)
    take(diary, **MOVED)

    forget(account=diary, source_id="standup-moved", at=NOW)
    occurrences.look_ahead(now=NOW)

    assert found(diary) == TODAY


def test_a_series_that_was_deleted_is_on_no_more(diary: AccountRef) -> None:
    take(diary, **WEEKLY)

    forget(account=diary, source_id="standup", at=NOW)

    assert found(diary) == []
    assert not Occurrence.objects.exists()
    assert occurrences.look_ahead(now=NOW) == 0


def test_a_moved_one_of_another_account_changes_nothing_here(diary: AccountRef) -> None:
    take(diary, **WEEKLY)
    take(account(source="calendar"), **MOVED)

    assert found(diary) == TODAY


def test_a_changed_rule_counts_at_once_though_the_text_is_read_once(
    diary: AccountRef, model: ScriptedModel
) -> None:
    take(diary, **WEEKLY)
    other = WEEKLY | {"start": "2025-12-03T09:30:00", "end": "2025-12-03T09:45:00"}

    assert take(diary, **other, version=2) == "metadata"

    assert found(diary) == []


def test_a_whole_day_is_a_day_where_the_user_is(diary: AccountRef) -> None:
    take(
        diary,
        **{"id": "day", "start": "2026-03-10T00:00:00", "end": "2026-03-11T00:00:00"}
        | {"all_day": True},
    )

    assert found(diary) == [("day", "2026-03-09T23:00:00+00:00")]
    assert found(diary, time_filter="yesterday") == []


def test_hostile_rules_leave_an_event_at_its_first_time_and_say_so(diary: AccountRef) -> None:
    fields = WEEKLY | {"recurrence": "RRULE:FREQ=SECONDLY"}
    take(diary, **fields)

    row = Item.objects.get()
    assert row.metadata["recurrence_not_expanded"] == "recurs more often than daily, or never"
    assert [f"{one.starts_at:%Y-%m-%d}" for one in row.occurrences.all()] == ["2025-12-02"]
    assert look_up_page(account=diary, items=[event(**fields)]).unchanged == {"standup"}


def test_an_endless_series_is_followed_as_time_goes_on(diary: AccountRef) -> None:
    take(diary, **WEEKLY)
    last = Occurrence.objects.latest("starts_at").starts_at
    assert NOW + timedelta(days=393) < last < NOW + timedelta(days=400)

    assert occurrences.look_ahead(now=NOW + timedelta(days=29)) == 0
    assert occurrences.look_ahead(now=NOW + timedelta(days=31)) == 1

    later = Occurrence.objects.latest("starts_at").starts_at
    assert later > last
    assert occurrences.look_ahead(now=NOW + timedelta(days=31)) == 0


@pytest.mark.django_db(transaction=True)
def test_parts_of_a_series_that_change_at_once_do_not_wait_for_each_other(
    diary: AccountRef,
) -> None:
    """Each of them is stored, so that each one's change touches the other's row."""
    parts = (WEEKLY, REST, AGAIN)
    for fields in parts:
        take(diary, **fields)
    failed: list[Exception] = []

    def work(fields: dict[str, Any]) -> None:
        try:
            for version in range(2, 12):
                take(diary, **fields, version=version, location=f"Room {version}")
        except OperationalError as error:
            failed.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=(fields,)) for fields in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []
    assert [name for name, _ in kept(diary, days=27)] == ["later", "later", "later"]


@pytest.mark.django_db(transaction=True)
def test_a_series_and_one_of_it_taken_in_at_once_see_each_other(diary: AccountRef) -> None:
    barrier = threading.Barrier(2)

    def work(fields: dict[str, Any]) -> None:
        try:
            barrier.wait(30)
            take(diary, **fields)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=(fields,)) for fields in (WEEKLY, MOVED)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found(diary) == []
