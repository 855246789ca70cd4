import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connections

from integrations.contracts import AccountRef
from knowledge import occurrences
from knowledge.beforehand import unchanged
from knowledge.contracts import SearchRequest
from knowledge.ingest import forget, ingest
from knowledge.models import Item, Occurrence
from knowledge.retrieval import search
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
    assert unchanged(account=diary, items=[event(**fields)]) == {"standup"}


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
