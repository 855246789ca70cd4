"""Handing an approval on, and drawing attention to it: neither decides anything."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.utils import timezone

from audit.ledger.selectors import recorded
from guardrails.approve import cards, deadlines, delegation
from guardrails.approve.approvals import ApprovalConflict, ApprovalNotFound
from guardrails.approve.cards import list_cards
from guardrails.approve.delegation import UnknownDelegate
from guardrails.models import Approval
from integrations.models import Account, Membership, Organisation
from tests.guardrails.approvals import ask, confirm, edit, reject
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def waiting(office: Office) -> Approval:
    office.permit("archive", "ask")
    return ask(office, "archive", {"email_id": office.receive()})


@pytest.fixture
def colleague(office: Office) -> str:
    name = f"omar-{uuid4().hex[:6]}"
    Account.objects.create(
        organisation=office.organisation, external_user_id=name, source="gmail", address="o@x.com"
    )
    return name


def hand(approval: Approval, to: str, **changes: Any) -> Approval:
    values: dict[str, Any] = {
        "organisation_id": approval.organisation_id,
        "approval_id": approval.id,
        "by": "token:web",
        "to": to,
        "external_user_id": approval.external_user_id,
    }
    return delegation.delegate(**(values | changes))


def test_only_who_holds_it_decides(office: Office, waiting: Approval, colleague: str) -> None:
    row = hand(waiting, f"user:{colleague}", note="I am away.")

    assert cards.card(row, zone="UTC").delegated.startswith(
        f"Delegated to {colleague} by Maya Lindqvist at "
    )
    with pytest.raises(ApprovalConflict, match="This was delegated"):
        confirm(waiting, external_user_id=waiting.external_user_id)
    assert office.calls() == []
    assert confirm(waiting, external_user_id=colleague).status == "succeeded"
    (rows, last) = recorded(waiting.action_id)[1:3]
    assert (rows.decision, rows.decision_reason, rows.approved_by) == ("none", "delegated", "")
    assert rows.payload["to"] == f"user:{colleague}"
    assert rows.payload["note"] == "I am away."
    assert rows.payload["as_user"] == waiting.external_user_id
    assert (last.decision_reason, last.actor_id) == ("approved", "token:web")
    assert last.payload["as_user"] == colleague  # on whose word, not in whose account
    decided = Approval.objects.get(pk=waiting.pk)
    assert decided.decided_as == colleague
    assert cards.handled(decided, zone="UTC").startswith(f"Confirmed by {colleague} at ")


def test_who_holds_it_finds_it_and_others_do_not(
    office: Office, waiting: Approval, colleague: str
) -> None:
    def found(user: str) -> int:
        return len(
            list_cards(
                organisation_id=office.organisation.id, external_user_id=user, state="pending"
            )
        )

    assert (found(office.user_id), found(colleague)) == (1, 0)
    hand(waiting, f"user:{colleague}")
    assert (found(office.user_id), found(colleague), found("nobody")) == (1, 1, 0)


def test_an_operator_may_always_decide(waiting: Approval, colleague: str) -> None:
    hand(waiting, f"user:{colleague}")
    assert confirm(waiting, decided_by="operator:olga").status == "succeeded"


def test_the_user_takes_it_back(waiting: Approval, colleague: str) -> None:
    hand(waiting, f"user:{colleague}")
    row = hand(waiting, f"user:{waiting.external_user_id}")

    assert (row.delegated_to, row.delegated_at) == ("", None)
    with pytest.raises(ApprovalNotFound):
        confirm(waiting, external_user_id=colleague)
    assert confirm(waiting, external_user_id=waiting.external_user_id).status == "succeeded"


def test_it_goes_to_people_who_could_decide_it(office: Office, waiting: Approval) -> None:
    other = Organisation.objects.create(slug=f"o-{uuid4().hex[:6]}", name="Other")
    Account.objects.create(
        organisation=other, external_user_id="stranger", source="gmail", address="s@x.com"
    )
    Group.objects.create(name="Desk")
    User.objects.create_user("clerk", is_staff=True)
    allowed = User.objects.create_user("olga", is_staff=True)
    allowed.user_permissions.add(Permission.objects.get(codename="change_approval"))
    Membership.objects.create(user=allowed, organisation=other)

    with pytest.raises(UnknownDelegate):
        hand(waiting, "operator:olga")  # who could not see it
    Membership.objects.create(user=allowed, organisation=office.organisation)

    for to in ("user:stranger", "user:", "operator:clerk", "operator:x", "group:x", "olga", ""):
        with pytest.raises(UnknownDelegate):
            hand(waiting, to)
    assert hand(waiting, "operator:olga").delegated_to == "operator:olga"
    assert hand(waiting, "group:Desk").delegated_to == "group:Desk"
    assert hand(waiting, "group:Desk").delegated_to == "group:Desk"  # again: nothing happens
    reasons = [row.decision_reason for row in recorded(waiting.action_id)]
    assert reasons.count("delegated") == 2


def test_what_was_decided_is_not_handed_on(waiting: Approval, colleague: str) -> None:
    confirm(waiting, external_user_id=waiting.external_user_id)

    with pytest.raises(ApprovalConflict, match="no longer waiting: confirmed by"):
        hand(waiting, f"user:{colleague}")
    with pytest.raises(ApprovalNotFound):
        hand(waiting, f"user:{colleague}", external_user_id="somebody-else")
    assert "delegated" not in [row.decision_reason for row in recorded(waiting.action_id)]


def test_a_change_stays_with_who_holds_it(office: Office, colleague: str) -> None:
    office.permit("create_jira_task", "ask")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    wish = {"project_key": "PROJ", "summary": "User Auth", "type": "task"}
    approval = ask(office, "create_jira_task", wish)
    hand(approval, f"user:{colleague}")

    edit(approval, {"summary": "Single sign-on"}, external_user_id=colleague)

    revision = Approval.objects.get(revises=approval)
    assert revision.delegated_to == f"user:{colleague}"
    with pytest.raises(ApprovalConflict, match="This was delegated"):
        confirm(revision, external_user_id=office.user_id)
    assert confirm(revision, external_user_id=colleague).status == "succeeded"


def test_escalation_marks_once_and_approves_nothing(office: Office, waiting: Approval) -> None:
    given: dict[str, Any] = {
        "organisation_id": waiting.organisation_id,
        "approval_id": waiting.id,
        "by": "token:web",
    }
    first = delegation.escalate(**given, reason="Urgent.")
    again = delegation.escalate(**given)

    assert first.escalated_at == again.escalated_at
    assert Approval.objects.get(pk=waiting.pk).state == "pending"
    escalated = [r for r in recorded(waiting.action_id) if r.decision_reason == "escalated"]
    assert [(r.decision, r.payload["person_said"]) for r in escalated] == [("none", "Urgent.")]
    assert office.calls() == []
    confirm(waiting, external_user_id=waiting.external_user_id)
    with pytest.raises(ApprovalConflict):
        reject(waiting)


def test_the_clock_escalates_what_waits_too_long(
    office: Office, waiting: Approval, settings: Any
) -> None:
    later = timezone.now() + timedelta(hours=5)
    assert deadlines.escalate_overdue(now=later) == 0  # by hand alone
    settings.APPROVAL_ESCALATE_HOURS = 4

    assert deadlines.escalate_overdue(now=timezone.now()) == 0
    assert deadlines.escalate_overdue(now=later) == 1
    assert deadlines.escalate_overdue(now=later) == 0

    row = Approval.objects.get(pk=waiting.pk)
    assert (row.state, row.escalated_by) == ("pending", "expiry")
    last = recorded(waiting.action_id)[-1]
    assert (last.decision_reason, last.actor_type) == ("escalated", "system")
    assert office.calls() == []
