import pytest
from django.utils import timezone

from integrations.contracts import Issue
from integrations.exceptions import CursorExpired
from tests.integrations.providers.jira.box import Box
from tests.jira_world import PROJECT
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db


def listed(box: Box, **asked: object) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = box.reader.items(since=asked.get("since"), cursor=cursor, limit=2)  # type: ignore[arg-type]
        found += [one.key for one in page.items if isinstance(one, Issue)]
        if page.next_cursor is None:
            return found
        cursor = page.next_cursor


def test_all_issues_are_read_whatever_is_changed_between_pages(box: Box) -> None:
    wanted = [box.jira.put(PROJECT, f"Plan {number}") for number in range(5)]
    first = box.reader.items(since=None, cursor=None, limit=2)
    box.jira.change(wanted[0], summary="Changed")

    assert listed(box) == wanted
    following = box.reader.items(since=None, cursor=first.next_cursor, limit=2).items
    assert [one.key for one in following if isinstance(one, Issue)] == wanted[2:4]


def test_only_what_was_changed_since_is_read_by_the_users_own_clock(box: Box) -> None:
    box.jira.now = timezone.now().replace(microsecond=0)
    box.jira.put(PROJECT, "Old")
    since = box.jira.tick(120)
    new = box.jira.put(PROJECT, "New")

    assert listed(box, since=since) == [new]


def test_a_place_in_the_list_that_jira_knows_no_more_is_said_so(box: Box) -> None:
    for number in range(3):
        box.jira.put(PROJECT, f"Plan {number}")
    cursor = box.reader.items(since=None, cursor=None, limit=2).next_cursor
    box.jira.refuse = [Refuse(400)]

    with pytest.raises(CursorExpired):
        box.reader.items(since=None, cursor=cursor, limit=2)


def test_an_issue_is_read_with_all_its_comments(box: Box) -> None:
    key = box.jira.put(PROJECT, "Plan", "By Friday, please")
    box.jira.comment(key, "First")
    box.jira.comment(key, "Second")
    every = box.jira.issues[key]["fields"]["comment"]["comments"]
    whole = box.reader.issue(key)

    assert (whole.summary, whole.description, whole.type) == ("Plan", "By Friday, please", "task")
    assert [(one.author, one.body) for one in whole.comments] == [
        ("tom@office.test", "First"),
        ("tom@office.test", "Second"),
    ]
    assert box.reader.item(whole.id) == whole
    box.jira.issues[key]["fields"]["comment"] = {"total": 2, "comments": every[:1]}
    assert box.reader.issue(key).summary == "Plan"  # the rest is asked for


def test_members_are_those_whose_address_is_shown(box: Box) -> None:
    found = [one.address for one in box.reader.members(PROJECT)]

    assert found == [box.account.address, "tom@office.test"]


def test_what_can_be_set_is_what_jira_lets_this_user_change(box: Box) -> None:
    issue = box.reader.issue(box.jira.put(PROJECT, "Plan"))
    assert box.reader.settable(issue) == {"components": None, "labels": None, "priority": None}
    box.jira.offered = {"priority": ["High", "Low"], "components": []}
    box.jira.not_editable = {"labels"}

    assert box.reader.settable(issue) == {"components": [], "priority": ["high", "low"]}
