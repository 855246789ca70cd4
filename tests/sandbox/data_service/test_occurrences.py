"""One of a series under an id of its own: read, changed and cancelled alone."""

import pytest

from tests.sandbox.data_service.client import Client, error

SERIES = {
    "title": "Round",
    "start": "2030-03-22T08:00:00Z",  # a Friday, in winter time
    "end": "2030-03-22T09:00:00Z",
    "recurrence": "RRULE:FREQ=WEEKLY;COUNT=4",
}


@pytest.fixture
def series(office: Client) -> str:
    created = office.post("/maya/calendar/events", SERIES)
    return str(created.json()["id"])


def test_one_of_a_series_is_read_with_its_own_times(office: Client, series: str) -> None:
    office.write("PATCH", f"/maya/calendar/events/{series}", {"location": "Room 2"})
    id = f"{series}_20300329T080000Z"

    one = office.get(f"/maya/events/{id}").json()

    assert (one["id"], one["series_id"], one["recurrence"]) == (id, series, None)
    assert (one["start"], one["end"]) == (
        "2030-03-29T08:00:00.000000Z",
        "2030-03-29T09:00:00.000000Z",
    )
    assert (one["original_start"], one["version"], one["location"]) == (one["start"], 2, "Room 2")
    assert office.get(f"/maya/events/{series}_20300329").json()["start"] == one["start"]


@pytest.mark.parametrize(
    "name",
    ["_20300328T080000Z", "_20300329T090000Z", "_20300419T080000Z", "_20309999", "_2030", ""],
)
def test_what_the_series_has_not_is_unknown(office: Client, series: str, name: str) -> None:
    path = f"{series}{name}" if name else "event-x_20300329"

    assert error(office.get(f"/maya/events/{path}")) == (404, "unknown_event")
    assert error(office.write("DELETE", f"/maya/calendar/events/{path}")) == (404, "unknown_event")


def test_one_that_is_changed_is_an_event_of_its_own(office: Client, series: str) -> None:
    path = f"/maya/calendar/events/{series}_20300329T080000Z"

    moved = {"start": "2030-03-30T08:00:00Z", "end": "2030-03-30T09:00:00Z"}
    changed = office.write("PATCH", path, moved).json()

    assert (changed["version"], changed["start"]) == (1, "2030-03-30T08:00:00.000000Z")
    assert office.get(f"/maya/events/{changed['id']}").json() == changed
    assert office.write("PATCH", path, {"title": "Late"}).json()["version"] == 2
    kept = office.get(f"/maya/events/{series}").json()
    assert (kept["recurrence"], kept["title"], kept["version"]) == (
        SERIES["recurrence"],
        "Round",
        1,
    )
    other = office.get(f"/maya/events/{series}_20300405T080000Z").json()
    assert other["title"] == "Round"


def test_one_that_is_cancelled_stays_as_cancelled_and_can_come_back(
    office: Client, series: str
) -> None:
    id = f"{series}_20300329T080000Z"
    path = f"/maya/calendar/events/{id}"

    gone = office.write("DELETE", path)
    assert (gone.status_code, gone.json()["status"]) == (200, "cancelled")
    assert office.write("DELETE", path).json() == gone.json()

    assert office.write("PATCH", path, {"status": "confirmed"}).json()["status"] == "confirmed"
    assert (
        office.get(f"/maya/events/{id}").json()["original_start"] == "2030-03-29T08:00:00.000000Z"
    )


def test_a_write_is_held_to_the_version_of_the_series(office: Client, series: str) -> None:
    path = f"/maya/calendar/events/{series}_20300329T080000Z"
    office.write("PATCH", f"/maya/calendar/events/{series}", {"title": "Circle"})

    refused = office.write("PATCH", path, {"title": "x"}, version="1")

    assert error(refused) == (412, "version_changed")
    assert office.write("DELETE", path, version="2").status_code == 200


def test_where_a_moved_one_took_the_place_the_name_means_nothing(
    office: Client, series: str
) -> None:
    moved = {
        "id": "moved",
        "created_by": "maya@company.com",
        **{name: SERIES[name] for name in ("title", "start", "end")},
        "series_id": series,
        "original_start": "2030-03-29T08:00:00Z",
    }
    office.control("POST", "/users/maya/events", {"items": [moved]})

    found = office.get(f"/maya/events/{series}_20300329T080000Z")

    assert error(found) == (404, "unknown_event")
