from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agents.evaluation import state
from agents.evaluation.tasks import Change

ZONE = ZoneInfo("Europe/Stockholm")
MAIL = {"id": "m1", "subject": "Lift", "labels": ["INBOX", "UNREAD"], "version": 1}
ISSUE = {"id": "i1", "summary": "Paint", "assignee": None, "due_date": None}


def office(*, emails: Any = (MAIL,), issues: Any = (), user: str = "maya") -> state.State:
    return {user: {"emails": list(emails), "issues": list(issues)}}


def expected(**fields: Any) -> Change:
    return Change.model_validate(fields)


def judged(after: state.State, *changes: Change) -> tuple[int, list[str]]:
    """How many changes are missing, and which were not wanted."""
    found = state.find_differences(office(), after)
    missing, wrong = state.match(found, changes, user="maya", zone=ZONE)
    return len(missing), [f"{one.kind} {one.collection}/{one.id}" for one in wrong]


def test_nothing_differs_where_only_what_follows_from_it_does() -> None:
    later = {**MAIL, "labels": ["UNREAD", "INBOX"], "version": 2, "updated_at": "now"}

    assert state.find_differences(office(), office(emails=[later])) == []


@pytest.mark.parametrize(
    ("after", "wrong"),
    [
        (office(emails=[]), ["deleted emails/m1"]),
        (office(emails=[MAIL | {"subject": "?"}]), ["changed emails/m1"]),
        (office(issues=[ISSUE]), ["created issues/i1"]),
        ({**office(), "omar": {"emails": [MAIL]}}, ["created emails/m1"]),
    ],
)
def test_whatever_else_came_about_is_not_wanted(after: state.State, wrong: list[str]) -> None:
    assert judged(after) == (0, wrong)


def test_a_change_is_as_wanted_with_exactly_these_fields() -> None:
    archived = MAIL | {"labels": ["UNREAD"]}
    change = expected(change="emails/m1", **{"with": {"labels": {"removed": ["INBOX"]}}})

    assert judged(office(emails=[archived]), change) == (0, [])
    assert judged(office(), change) == (1, [])
    both = office(emails=[archived | {"subject": "Other"}])
    assert judged(both, change) == (1, ["changed emails/m1"])


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, []),
        ({"summary": "Sell"}, ["created issues/i1"]),
        ({"assignee": "eve@x.org"}, ["created issues/i1"]),
        ({"due_date": "2026-03-12"}, ["created issues/i1"]),
    ],
)
def test_a_new_object_reaches_nobody_whom_the_task_does_not_name(
    fields: Mapping[str, Any], wrong: list[str]
) -> None:
    change = expected(create="issues", **{"with": {"summary": "Paint"}})

    assert judged(office(issues=[{**ISSUE, **fields}]), change) == (len(wrong), wrong)


def test_one_new_object_does_not_count_for_two() -> None:
    change = expected(create="issues", **{"with": {"summary": "Paint"}})

    assert judged(office(issues=[ISSUE]), change, change) == (1, [])
    assert judged(office(issues=[ISSUE, ISSUE | {"id": "i2"}]), change) == (
        0,
        ["created issues/i2"],
    )


def test_what_others_did_is_no_difference() -> None:
    before = office()
    after = office(emails=[MAIL | {"subject": "New"}], issues=[ISSUE])

    base = state.with_changes_of_others(before, before, after)

    assert state.find_differences(base, after) == []
    assert [str(one) for one in state.find_differences(base, before)] == [
        "changed emails/m1 of maya (subject: Lift)",
        "deleted issues/i1 of maya",
    ]
