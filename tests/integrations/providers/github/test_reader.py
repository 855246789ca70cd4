from datetime import UTC, datetime

import pytest

from integrations.contracts import Issue
from integrations.exceptions import NotFound
from tests.github_world import LOGIN, OTHER, PLANS
from tests.integrations.providers.github.box import TOM, Box

pytestmark = pytest.mark.django_db


def listed(box: Box, *, since: datetime | None = None, limit: int = 2) -> list[str]:
    found, cursor = [], None
    while True:
        page = box.reader.items(since=since, cursor=cursor, limit=limit)
        found += [one.key for one in page.items if isinstance(one, Issue)]
        if page.next_cursor is None:
            return found
        cursor = page.next_cursor


def test_all_issues_are_read_however_many_share_a_second(box: Box) -> None:
    wanted = [box.github.put(PLANS, f"Plan {number}") for number in range(7)]
    for one in wanted[2:6]:
        box.github.issue(one)["updated_at"] = box.github.issue(wanted[5])["updated_at"]

    assert set(listed(box)) == set(wanted)


def test_what_is_changed_while_pages_are_read_is_passed_over_by_none(box: Box) -> None:
    wanted = [box.github.put(PLANS, f"Plan {number}") for number in range(5)]
    first = box.reader.items(since=None, cursor=None, limit=2)
    box.github.change(wanted[0], title="Changed")

    rest, cursor = [], first.next_cursor
    while cursor:
        page = box.reader.items(since=None, cursor=cursor, limit=2)
        rest += [one.id for one in page.items]
        cursor = page.next_cursor
    assert {*(one.id for one in first.items), *rest} == set(wanted)


def test_only_what_was_changed_since_is_read(box: Box) -> None:
    box.github.put(PLANS, "Old")
    since = box.github.tick(10)
    new = box.github.put(OTHER, "New")

    assert listed(box, since=since.astimezone(UTC)) == [new]


def test_an_issue_is_read_with_its_people_and_what_they_said(box: Box) -> None:
    key = box.github.put(PLANS, "Plan", "By *Friday*\r\nplease", by=LOGIN)
    box.github.change(key, assignees=["tom"], labels=["bug"], state="closed")
    box.github.comment(key, "Done. <!-- remit:remit-9 -->", by="tom")

    found = box.reader.issue(key)

    assert (found.summary, found.description) == ("Plan", "By *Friday*\nplease")
    assert (found.status, found.labels, found.assignee) == ("Done", ("bug",), TOM)
    assert (found.reporter, found.priority, found.due_date) == (box.account.address, None, None)
    assert [(one.author, one.body) for one in found.comments] == [(TOM, "Done.")]
    assert box.reader.item(found.id) == found


def test_a_revision_changes_within_a_second(box: Box) -> None:
    key = box.github.put(PLANS, "Plan")
    before = box.reader.issue(key).revision
    box.github.issue(key)["title"] = "Another"

    assert box.reader.issue(key).revision != before


def test_members_are_those_who_may_be_given_an_issue(box: Box) -> None:
    found = [one.address for one in box.reader.members(PLANS)]

    assert found == [box.account.address, TOM, "ann@users.noreply.github.test"]
    with pytest.raises(NotFound):
        box.reader.members("octo/nowhere")


def test_labels_alone_can_be_set_and_only_by_who_sorts_issues_there(box: Box) -> None:
    own, other = (box.reader.issue(box.github.put(one, "Plan")) for one in (PLANS, OTHER))

    assert box.reader.settable(own) == {"labels": None}
    assert box.reader.settable(other) == {}
