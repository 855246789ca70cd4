from typing import Any

import pytest

from integrations.contracts import Document, Email, Event, Issue
from integrations.exceptions import Malformed
from integrations.providers.data_service.session import page, parse, revised

MAIL = {"id": "m1", "from": "ann@client.com", "date": "2026-03-09T09:00:00Z"}


def answer(*items: Any, **more: Any) -> dict[str, Any]:
    return {"items": list(items), "next_cursor": None, "has_more": False, **more}


@pytest.mark.parametrize(
    "broken",
    [
        {**MAIL, "id": "bad", "date": "the day before"},
        {**MAIL, "id": "bad", "date": None},
        {**MAIL, "id": "bad", "date": "0001-01-01T00:00:00Z"},
        {**MAIL, "id": "bad", "to": "ann@client.com"},
        {**MAIL, "id": "bad", "version": -1},
        {**MAIL, "id": "bad", "version": 2**63},
        {"id": "bad"},
    ],
)
def test_an_item_that_breaks_the_contract_is_rejected_alone(broken: dict[str, Any]) -> None:
    found = page(Email, answer(MAIL, broken, {**MAIL, "id": "m2"}), cursor=None)

    assert [mail.id for mail in found.items] == ["m1", "m2"]
    assert [(each.source_id, each.reason) for each in found.rejected] == [("bad", "malformed_item")]


@pytest.mark.parametrize("nameless", [None, 7, "text", [], {}, {"id": 7}, {"id": ""}, {"id": "\n"}])
def test_an_item_without_an_id_is_named_by_its_digest(nameless: object) -> None:
    found = page(Email, answer(nameless, MAIL, {"id": "x" * 501}), cursor=None)

    names = [each.source_id for each in found.rejected]
    assert len(set(names)) == 2
    assert all(name.startswith("(no id) sha256:") for name in names)
    assert [mail.id for mail in found.items] == ["m1"]


def test_what_a_database_cannot_hold_is_left_out_of_text() -> None:
    found = page(Email, answer({**MAIL, "subject": "a\x00b\ud800c"}), cursor=None)

    assert found.items[0].subject == "ab?c"


def test_a_time_without_a_zone_is_utc() -> None:
    found = page(Email, answer({**MAIL, "date": "2026-03-09T09:00:00"}), cursor=None)

    assert found.items[0].date.isoformat() == "2026-03-09T09:00:00+00:00"


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"items": {}},
        answer(next_cursor=7, has_more=True),
        answer(next_cursor="", has_more=True),
        answer(next_cursor="a\x00", has_more=True),
        answer(next_cursor=None, has_more=True),
        answer(next_cursor="here", has_more=True),
    ],
)
def test_a_page_that_cannot_be_gone_on_from_is_malformed(data: object) -> None:
    with pytest.raises(Malformed):
        page(Email, data, cursor="here")


def test_the_owner_s_documents_page_has_no_has_more() -> None:
    document = {"id": "d1", "created_at": "2026-03-01", "modified_at": "2026-03-02T00:00:00Z"}
    found = page(Document, {"items": [document], "next_cursor": "c2"}, cursor=None)

    assert (found.next_cursor, found.remaining) == ("c2", None)


@pytest.mark.parametrize(
    ("more", "remaining"),
    [
        ({"next_cursor": "c2", "has_more": True, "remaining": 40}, 40),
        ({"next_cursor": "c2", "has_more": True, "remaining": -1}, None),
        ({"next_cursor": "c2", "has_more": True, "remaining": "many"}, None),
        ({"next_cursor": None, "has_more": False}, 0),
    ],
)
def test_how_many_items_remain_is_believed_where_it_makes_sense(
    more: dict[str, Any], remaining: int | None
) -> None:
    assert page(Issue, answer(**more), cursor=None).remaining == remaining


EVENT = {"id": "e1", "start": "2026-03-29T09:00:00", "end": "2026-03-29T10:00:00"}


@pytest.mark.parametrize(
    ("fields", "start"),
    [
        ({}, "2026-03-29T09:00:00+00:00"),
        ({"time_zone": "Europe/Stockholm"}, "2026-03-29T09:00:00+02:00"),  # the day clocks change
        ({"time_zone": "Europe/Stockholm", "start": "2026-03-28"}, "2026-03-28T00:00:00+01:00"),
        (
            {"time_zone": "Europe/Stockholm", "start": "2026-03-29T09:00Z"},
            "2026-03-29T09:00:00+00:00",
        ),
        (
            {"time_zone": "no zone", "start": "2026-03-29T09:00Z", "end": "2026-03-29T10:00Z"},
            "2026-03-29T09:00:00+00:00",
        ),
    ],
)
def test_an_event_s_times_are_local_in_its_zone_unless_they_name_an_offset(
    fields: dict[str, Any], start: str
) -> None:
    found = page(Event, answer(EVENT | fields), cursor=None)

    assert [event.start.isoformat() for event in found.items] == [start]


@pytest.mark.parametrize("zone", ["W. Europe Standard Time", "../../etc/passwd", "Nowhere/City"])
def test_a_local_time_in_an_unknown_zone_is_malformed_and_never_guessed(zone: str) -> None:
    found = page(Event, answer(EVENT | {"time_zone": zone}, EVENT | {"id": "e2"}), cursor=None)

    assert [each.source_id for each in found.rejected] == ["e1"]
    assert [event.id for event in found.items] == ["e2"]


def test_rules_of_a_series_come_as_text_or_as_a_list() -> None:
    rules = ["RRULE:FREQ=WEEKLY;BYDAY=MO", "EXDATE:20260330T070000Z"]
    found = page(
        Event,
        answer(
            EVENT | {"recurrence": rules},
            EVENT | {"recurrence": rules[0]},
            EVENT | {"recurrence": []},
            EVENT | {"recurrence": None},
        ),
        cursor=None,
    )

    assert [e.recurrence for e in found.items] == ["\n".join(rules), rules[0], None, None]


@pytest.mark.parametrize(("version", "revision"), [({"version": 7}, "7"), ({}, "")])
def test_a_version_becomes_a_revision_that_is_text(version: dict[str, int], revision: str) -> None:
    assert parse(Email, MAIL | version).revision == revision


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"id": "d1", "version": 4}, {"id": "d1", "version": 4, "revision": "4"}),
        ({"id": "d1"}, {"id": "d1", "revision": "1"}),
        ({}, {}),
        (None, None),
    ],
)
def test_an_answer_to_a_write_tells_the_revision_of_what_it_leaves(
    answer: object, told: object
) -> None:
    assert revised(answer) == told
