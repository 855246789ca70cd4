from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from integrations.exceptions import (
    Changed,
    NotFound,
    ProviderError,
    RateLimited,
    Rejected,
    Unavailable,
)
from integrations.models import IssueWrite
from integrations.network.gate import Gate
from integrations.ports.evidence import CannotTell, NotPerformed, Performed
from integrations.providers.jira import evidence
from tests.integrations.providers.jira.box import Box
from tests.jira_world import OTHER, PROJECT
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db


def grow_old() -> None:
    IssueWrite.objects.update(changed_at=timezone.now() - timedelta(minutes=3))


def test_a_new_issue_has_all_that_was_asked_for_and_a_property_as_its_mark(box: Box) -> None:
    text = "Steps:\n1. *Run* it\n\nSee [~tom] {code} !x.png!"

    made = box.create(
        type="bug",
        description=text,
        priority="high",
        labels=("ci",),
        assignee="tom@office.test",
        due_date="2026-12-24",
    )

    found = box.reader.issue(made["key"])
    assert (found.type, found.description, found.priority) == ("bug", text, "high")
    assert (found.labels, found.assignee, str(found.due_date)) == (
        ("ci",),
        "tom@office.test",
        "2026-12-24",
    )
    assert (found.reporter, found.status) == (box.account.address, "To Do")
    assert made == {"id": found.id, "key": found.key, "url": found.url}
    assert found.url == f"{box.jira.origin}/browse/{made['key']}"
    assert box.jira.properties == {f"issue {made['key']}": "remit-1"}


@pytest.mark.parametrize("hours", [-14, 0, 14])
@pytest.mark.parametrize("operation", ["create", "comment", "change"])
def test_a_lost_answer_is_found_again_and_nothing_is_done_twice(
    box: Box, operation: str, hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the other side's clock is in a wrong zone."""
    there = timezone.now().replace(microsecond=0) + timedelta(hours=hours)
    monkeypatch.setattr(box.jira, "now", there)
    key = box.jira.put(PROJECT, "Plan", by="nora")
    does: dict[str, Any] = {
        "create": box.create,
        "comment": lambda: box.writer.comment_issue(key, body="Yes.", revision=None, key="remit-1"),
        "change": lambda: box.change(key, summary="New plan"),
    }
    box.jira.lose = 1
    with pytest.raises(Unavailable):
        does[operation]()

    found = box.reader.evidence("remit-1")
    assert isinstance(found, Performed)
    assert does[operation]() == found.response
    assert len(box.jira.writes) == 1


def test_what_the_index_does_not_show_yet_is_not_said_to_be_missing(box: Box) -> None:
    box.jira.lose = 1
    with pytest.raises(Unavailable):
        box.create()
    (made,) = box.jira.issues
    box.jira.hidden = {made}

    early = box.reader.evidence("remit-1")
    box.jira.hidden = set()
    late = box.reader.evidence("remit-1")

    assert isinstance(early, CannotTell)
    assert isinstance(late, Performed)
    assert late.response["key"] == made


def test_what_was_not_done_is_known_after_a_while(box: Box) -> None:
    box.jira.put(PROJECT, "Another of this user's", by="nora")
    box.jira.fail = 99
    with pytest.raises(Unavailable):
        box.create(assignee=None)
    box.jira.fail = 0
    assert isinstance(box.reader.evidence("remit-1"), CannotTell)
    grow_old()
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)
    assert box.jira.writes == []


def test_what_was_not_looked_at_to_the_end_is_not_said_to_be_missing(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = box.jira.put(PROJECT, "Plan", by="nora")
    box.writer.comment_issue(key, body="Yes.", revision=None, key="remit-2")
    IssueWrite.objects.create(
        account_id=box.account.id,
        key="remit-1",
        operation="comment_issue",
        project=PROJECT,
        issue_key=key,
        state=IssueWrite.State.SENT,
    )
    grow_old()
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)

    monkeypatch.setattr(evidence, "MOST", 1)

    assert isinstance(box.reader.evidence("remit-1"), CannotTell)


def test_a_status_is_a_step_of_the_workflow(box: Box) -> None:
    key = box.jira.put(PROJECT, "Plan")

    said = box.change(key, status="In Progress", summary="Going on")

    found = box.reader.issue(key)
    assert (found.status, found.summary) == ("In Progress", "Going on")
    assert said["revision"] == found.revision
    with pytest.raises(Rejected, match="leads from here to “Done”, not to “In Review”"):
        box.change(key, key="remit-2", status="In Review")
    assert box.change(key, key="remit-3", status="In Progress")["key"] == key
    assert len(box.jira.writes) == 2


def test_a_component_is_set_and_a_repeated_issue_is_not_linked(box: Box) -> None:
    key = box.jira.put(PROJECT, "Plan")

    box.change(key, components=("Web",), priority="high")

    found = box.reader.issue(key)
    assert (found.components, found.priority) == (("Web",), "high")
    with pytest.raises(Rejected, match="links no issues at Jira"):
        box.change(key, key="remit-2", duplicate_of=f"{PROJECT}-1")
    assert len(box.jira.writes) == 1


def test_a_change_that_was_made_in_part_is_left_to_a_person(box: Box) -> None:
    key = box.jira.put(PROJECT, "Plan")
    box.jira.refuse_steps = True

    with pytest.raises(ProviderError) as half:
        box.change(key, status="Done", summary="Half")

    assert half.value.outcome_unknown
    grow_old()
    assert box.reader.evidence("remit-1") == CannotTell(ask_again_at=None)
    with pytest.raises(ProviderError) as whole:
        box.change(key, key="remit-2", status="Done")
    assert not whole.value.outcome_unknown
    assert isinstance(box.reader.evidence("remit-2"), NotPerformed)


def test_what_has_changed_meanwhile_is_left_alone(box: Box) -> None:
    key = box.jira.put(PROJECT, "Plan")
    before = box.reader.issue(key).revision
    box.jira.comment(key, "Wait!")

    with pytest.raises(Changed):
        box.writer.change_issue(key, {"status": "Done"}, revision=before, key="remit-1")
    with pytest.raises(Changed):
        box.writer.comment_issue(key, body="Go", revision=before, key="remit-2")
    assert box.jira.writes == []


def test_a_field_that_is_not_on_the_screen_is_refused_before_anything_is_changed(box: Box) -> None:
    key = box.jira.put(PROJECT, "Plan")
    box.jira.not_editable = {"duedate"}

    with pytest.raises(Rejected, match="change the due date of this issue"):
        box.change(key, summary="New", due_date="2026-12-24")
    assert box.jira.writes == []


@pytest.mark.parametrize("assignee", ["ann@office.test", "om@office.test", "Nobody"])
def test_only_one_whose_address_jira_shows_is_given_an_issue(box: Box, assignee: str) -> None:
    key = box.jira.put(PROJECT, "Plan")
    with pytest.raises(Rejected, match="shows nobody with the address"):
        box.create(assignee=assignee)
    with pytest.raises(Rejected, match="shows nobody with the address"):
        box.change(key, key="remit-2", assignee=assignee)
    assert box.jira.writes == []


def test_who_was_assigned_before_can_be_again_and_nobody_too(box: Box) -> None:
    key = box.jira.put(PROJECT, "Plan")
    box.jira.change(key, assignee=box.jira._person("shy"))
    before = box.reader.issue(key).assignee

    box.change(key, assignee=box.account.address)
    assert box.reader.issue(key).assignee == box.account.address
    box.change(key, key="remit-2", assignee=before)
    assert box.reader.issue(key).assignee == before == "Shy"
    box.change(key, key="remit-3", assignee=None)
    assert box.reader.issue(key).assignee is None


@pytest.mark.parametrize("key", ["PLAN-1/comment", "plan-1", "PLAN", "../PLAN-1", "10001"])
def test_what_is_no_key_reaches_nothing(box: Box, key: str) -> None:
    with pytest.raises(NotFound):
        box.change(key, status="Done")
    with pytest.raises(NotFound):
        box.create(project_key='PLAN" OR key > "A')
    assert (box.jira.writes, box.jira.reads) == ([], 0)


def test_projects_that_the_account_leaves_out_are_not_there(box: Box) -> None:
    key = box.jira.put(PROJECT, "Plan")
    box.jira.put(OTHER, "Other")
    box.only(OTHER)

    assert [one.id for one in box.reader.projects()] == [OTHER]
    found = box.reader.items(since=None, cursor=None, limit=10).items
    assert [getattr(one, "summary", "") for one in found] == ["Other"]
    with pytest.raises(NotFound):
        box.create()
    with pytest.raises(NotFound):
        box.change(key, status="Done")
    assert box.jira.writes == []


def test_all_processes_wait_as_long_as_jira_asks(box: Box) -> None:
    box.jira.refuse = [Refuse(429, headers={"retry-after": "77"})]

    with pytest.raises(RateLimited) as first:
        box.reader.projects()
    assert first.value.retry_after == 77
    with pytest.raises(RateLimited), Gate(f"jira_issues {box.account.id}").slot():
        raise AssertionError("nothing may be sent now")
