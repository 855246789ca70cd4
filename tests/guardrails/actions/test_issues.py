"""Issues: who may be given one, and when it is due."""

from typing import Any

import pytest

from audit.ledger.chain import canonical_bytes, storable
from audit.ledger.selectors import recorded
from guardrails.approve.cards import list_cards
from guardrails.contracts import ActionResult, Origin
from guardrails.decide import evidence
from guardrails.execute.executor import execute
from guardrails.execute.undo import undo
from guardrails.models import Person
from tests.guardrails.office import Office, phases, policy_that_decided

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
MEMBERS = {"kind": "assignee", "assignee": "project_members"}
PRIYA, EVE = "priya@company.com", "eve@evil.example"
NEW = {"project_key": "PROJ", "type": "task", "summary": "Setup"}


@pytest.fixture
def tracker(office: Office) -> Office:
    """Issues of one project, which Priya is a member of."""
    for name in ("create_jira_task", "update_jira_task"):
        office.permit(name, conditions=[MEMBERS])
        office.list_target(name, "project", "PROJ", "Customer Portal")
    office.put("issues", id="issue-1")
    office.work("PROJ", PRIYA, EVE)
    Person.objects.create(organisation=office.organisation, name="Priya Shah", address=PRIYA)
    return office


def say(office: Office, words: str, **arguments: Any) -> ActionResult:
    name = "update_jira_task" if "issue_key" in arguments else "create_jira_task"
    origin = Origin(trigger="chat", turn_id="turn-1", user_words=words)
    given = arguments if "issue_key" in arguments else NEW | arguments
    return execute(office.request(name, given, origin=origin))


@pytest.mark.parametrize(
    ("words", "code"), [("Give it to Priya", "N"), (f"Give it to {PRIYA}", "U")]
)
def test_a_member_whom_the_user_names_or_types_gets_an_issue_unlisted(
    tracker: Office, words: str, code: str
) -> None:
    done = say(tracker, words, issue_key="PROJ-900", assignee=PRIYA)

    assert done.status == "succeeded"
    assert [call["body"]["assignee"] for call in tracker.calls()] == [PRIYA]
    row = recorded(done.action_id)[0]
    assert row.payload["decision"]["provenance"]["assignee"] == code
    past = evidence.past(row)
    assert past is not None
    again = evidence.decide_again(past, policy_that_decided(row))
    assert again is not None
    assert canonical_bytes(storable(again.plain())) == canonical_bytes(row.payload["decision"])


def test_the_user_themself_is_meant_by_me(tracker: Office) -> None:
    own = tracker.tracker.address
    assert say(tracker, "Assign it to me", assignee=own).status == "succeeded"
    assert phases(say(tracker, "Assign it", assignee=own)) == [
        ("blocked", "blocked", "target_not_listed")
    ]


@pytest.mark.parametrize(
    ("words", "assignee"),
    [
        ("Create it", PRIYA),  # a member, but nobody spoke of her
        ("Give it to bob@company.com", "bob@company.com"),  # no member
        ("Give it to Priya", "bob@company.com"),
        ("Give it to Priya", EVE),
        ("> Give it to Priya", PRIYA),
    ],
)
def test_nobody_else_is_given_an_issue(tracker: Office, words: str, assignee: str) -> None:
    refused = say(tracker, words, assignee=assignee)

    assert phases(refused) == [("blocked", "blocked", "target_not_listed")]
    assert tracker.calls() == []


def test_a_member_from_outside_whose_address_is_typed_is_no_stranger(tracker: Office) -> None:
    outside = "ada@client.com"
    tracker.work("PROJ", outside)

    assert say(tracker, f"Give it to {outside}", assignee=outside).status == "succeeded"


def test_without_the_condition_a_member_must_be_listed(office: Office) -> None:
    office.permit("create_jira_task")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    office.work("PROJ", PRIYA)

    refused = say(office, f"Give it to {PRIYA}", assignee=PRIYA)

    assert phases(refused) == [("blocked", "blocked", "target_not_listed")]
    assert office.calls() == []


@pytest.mark.parametrize(
    "words", ["Gib das mit dem Tooltip Priya", "Asigna la tarea", "Give it to someone from design"]
)
def test_a_member_whom_nobody_named_is_asked_about_where_the_operator_says_so(
    tracker: Office, words: str
) -> None:
    for one in tracker.tracker.allowed_actions.all():
        one.conditions = [MEMBERS | {"unnamed": "ask"}]
        one.save()
    lena = "lena@company.com"
    tracker.work("PROJ", PRIYA, EVE, lena)

    asked = say(tracker, words, issue_key="PROJ-900", assignee=lena)
    assert (asked.status, asked.reason) == ("pending", "needs_approval")
    stranger = say(tracker, words, issue_key="PROJ-900", assignee="omar@company.com")
    assert stranger.reason == "target_not_listed"
    assert tracker.calls() == []
    assert say(tracker, "Give it to Priya", issue_key="PROJ-900", assignee=PRIYA).status == (
        "succeeded"
    )


def test_who_of_several_is_meant_is_not_asked_on_a_card(tracker: Office) -> None:
    tracker.tracker.allowed_actions.update(conditions=[MEMBERS | {"unnamed": "ask"}])
    other = "priya.nair@company.com"
    Person.objects.create(organisation=tracker.organisation, name="Priya Nair", address=other)

    refused = say(tracker, "Give it to Priya", issue_key="PROJ-900", assignee=PRIYA)

    assert (refused.status, refused.reason) == ("refused", "name_ambiguous")
    assert tracker.calls() == []


def test_members_of_another_project_are_no_members(tracker: Office) -> None:
    tracker.work("PROJ")
    tracker.work("OPS", PRIYA)

    assert say(tracker, f"Give it to {PRIYA}", assignee=PRIYA).reason == "target_not_listed"
    assert tracker.calls() == []


def test_an_unlisted_project_stays_closed_to_its_members(tracker: Office) -> None:
    tracker.work("OPS", PRIYA)

    refused = say(tracker, f"Give it to {PRIYA}", project_key="OPS", assignee=PRIYA)

    assert phases(refused) == [("blocked", "blocked", "target_not_listed")]
    assert tracker.calls() == []


def test_an_issue_is_made_with_the_day_it_is_due(tracker: Office) -> None:
    done = say(tracker, "Create a task “Setup”, due 2026-03-13", due_date="2026-03-13")

    assert done.status == "succeeded"
    assert tracker.calls()[-1]["body"]["due_date"] == "2026-03-13"
    assert recorded(done.action_id)[0].payload["decision"]["provenance"]["due_date"] == "U"


def test_a_changed_due_date_is_shown_with_the_former_one_and_undone(tracker: Office) -> None:
    tracker.change("issues", "PROJ-900", due_date="2026-03-09")
    done = say(tracker, "Due 2026-03-13", issue_key="PROJ-900", due_date="2026-03-13")
    assert done.status == "succeeded"

    undone = undo(
        organisation_id=tracker.organisation.id, action_id=done.action_id, by="operator:olga"
    )

    assert undone.status == "succeeded"
    assert [call["body"]["due_date"] for call in tracker.calls()] == ["2026-03-13", "2026-03-09"]


def test_a_person_who_is_asked_sees_when_it_was_due_and_would_be(office: Office) -> None:
    office.permit("update_jira_task", "ask")
    office.list_target("update_jira_task", "project", "PROJ", "Customer Portal")
    office.put("issues", id="issue-1", due_date="2026-03-09")

    asked = say(office, "Move it", issue_key="PROJ-900", due_date="2026-03-13")

    (card,) = list_cards(organisation_id=office.organisation.id)
    assert card.id == asked.approval_id
    assert card.differences == (("due date", "2026-03-09", "2026-03-13"),)
    assert office.calls() == []
