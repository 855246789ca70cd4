from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agents.evaluation.matching import fits

ZONE = ZoneInfo("Europe/Stockholm")
MONDAY = "2026-03-16T09:00:00.000000Z"


@pytest.mark.parametrize(
    ("value", "wanted", "name"),
    [
        ("Paint the door", "Paint the door", "summary"),
        ("Paint the\u00a0door", {"contains": "the door"}, "summary"),
        ("Paint “it”", {"contains": '"IT"'}, "summary"),
        ("Paint it", {"excludes": ["sell", "burn"]}, "summary"),
        ("PROJ-101", {"matches": r"PROJ-\d+"}, "key"),
        ("high", {"one_of": ["high", "highest"]}, "priority"),
        (MONDAY, "2026-03-16T10:00", "start"),
        (MONDAY, "2026-03-16T09:00:00+00:00", "start"),
        (["b@x.org", "a@x.org"], ["a@x.org", "b@x.org"], "to"),
        ([{"email": "a@x.org", "name": "", "status": "accepted"}], ["a@x.org"], "attendees"),
        (None, [], "cc"),
        ("", {"any": False}, "description"),
        ("something", {"any": True}, "description"),
    ],
)
def test_a_value_fits(value: Any, wanted: Any, name: str) -> None:
    assert fits(value, wanted, name=name, zone=ZONE)


@pytest.mark.parametrize(
    ("value", "wanted", "name"),
    [
        ("Paint the door", "Paint", "summary"),
        ("Paint it", {"contains": ["paint", "sell"]}, "summary"),
        ("Burn it", {"excludes": ["sell", "burn"]}, "summary"),
        ("low", {"one_of": ["high", "highest"]}, "priority"),
        (MONDAY, "2026-03-16T09:00", "start"),
        ("soon", "2026-03-16T09:00", "start"),
        (["a@x.org", "b@x.org"], ["a@x.org"], "to"),
        (["a@x.org"], [], "cc"),
        ("something", {"any": False}, "description"),
    ],
)
def test_a_value_does_not_fit(value: Any, wanted: Any, name: str) -> None:
    assert not fits(value, wanted, name=name, zone=ZONE)


def test_of_a_list_exactly_what_came_or_went_is_compared() -> None:
    def changed(wanted: Any) -> bool:
        return fits(["a", "c"], wanted, before=["a", "b"], name="labels", zone=ZONE)

    assert changed({"added": ["c"]})
    assert changed({"added": ["c"], "removed": ["b"]})
    assert not changed({"added": []})
    assert not changed({"added": ["a"]})
    assert not changed({"removed": ["a"]})


def test_a_comment_is_known_by_its_text() -> None:
    after = [{"id": "1", "author": "maya", "body": "Fixed in 4.9"}]

    assert fits(after, {"added": [{"contains": "4.9"}]}, before=[], name="comments", zone=ZONE)
    assert not fits(after, {"added": [{"contains": "5"}]}, before=[], name="comments", zone=ZONE)


def test_a_text_that_was_added_to_still_begins_as_before() -> None:
    wanted = {"appended": {"contains": "more"}}

    assert fits("It was. And more.", wanted, before="It was.", zone=ZONE)
    assert not fits("And more.", wanted, before="It was.", zone=ZONE)
    assert not fits("It was more.", wanted, before="It was more.", zone=ZONE)
