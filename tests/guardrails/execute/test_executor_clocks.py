"""Clocks that are wrong by an hour, or are set while actions wait: nothing is done twice, nothing
that ended begins again, and no rate is given a second time for a clock that went back."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.ledger.selectors import recorded
from audit.verification.verify import verify
from guardrails.approve import deadlines
from guardrails.contracts import ActionResult, Origin
from guardrails.execute.executor import execute
from guardrails.execute.held_sends import recall
from guardrails.execute.releases import release_due
from guardrails.models import Approval, HeldSend, Usage
from tests.clocks import HOUR, JUMPS, clock_off
from tests.guardrails.approvals import ask, confirm
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

BOB = "bob@company.com"
MAIL = {"to": [BOB], "subject": "Hello", "body": "Hello."}
TYPED = Origin(trigger="chat", turn_id="turn-1", user_words=BOB)
RATE = {"kind": "rate", "max": 2, "per": "hour"}
TASK = {"project_key": "PROJ", "summary": "User Auth", "type": "task"}


def archive(office: Office) -> ActionResult:
    return execute(office.request("archive", {"email_id": office.receive()}))


def send_later(office: Office) -> ActionResult:
    office.permit("send_email", "auto", hold_seconds=300)
    office.list_target("send_email", "recipient_domain", "company.com", "Us")
    result = execute(office.request("send_email", MAIL, origin=TYPED))
    assert result.status == "held"
    return result


@pytest.fixture
def waiting(office: Office, settings: Any) -> Approval:
    settings.APPROVAL_HOURS = 24
    office.permit("create_jira_task", "ask")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    return ask(office, "create_jira_task", TASK)


def test_a_clock_that_goes_back_gives_no_rate_again(office: Office) -> None:
    office.permit("archive", conditions=[RATE])
    assert [archive(office).status for _ in range(3)] == ["succeeded", "succeeded", "refused"]

    for by in (-HOUR, -24 * HOUR, timedelta()):
        with clock_off(by):
            assert archive(office).status == "refused"
    assert len(office.calls()) == 2


def test_what_was_counted_by_a_clock_that_was_ahead_still_counts(office: Office) -> None:
    office.permit("archive", conditions=[RATE])
    with clock_off(HOUR):
        assert [archive(office).status for _ in range(3)] == ["succeeded", "succeeded", "refused"]

    assert archive(office).status == "refused"
    assert len(office.calls()) == 2
    assert Usage.objects.filter(counted_at__gt=timezone.now()).count() == 2


def test_a_held_send_leaves_once_however_its_clock_is_set(office: Office) -> None:
    result = send_later(office)

    with clock_off(-HOUR):
        assert release_due(now=timezone.now()) == 0
        assert office.calls() == []
    with clock_off(HOUR):
        assert release_due(now=timezone.now()) == 1
    for by in JUMPS:
        with clock_off(by):
            assert release_due(now=timezone.now()) == 0

    assert len(office.calls()) == 1
    assert [row.phase for row in recorded(result.action_id)] == ["control", "attempt", "outcome"]


def test_a_held_send_is_recalled_while_the_clock_is_behind_and_stays_so(office: Office) -> None:
    send_later(office)
    row = HeldSend.objects.get()

    with clock_off(-HOUR):
        recall(organisation_id=office.organisation.id, held_send_id=row.id, by="operator:olga")
    for by in JUMPS:
        with clock_off(by):
            assert release_due(now=timezone.now()) == 0

    assert HeldSend.objects.get().state == HeldSend.State.RECALLED
    assert office.calls() == []


def test_an_approval_that_expired_by_a_clock_that_was_ahead_stays_so(
    office: Office, waiting: Approval
) -> None:
    for by in (25 * HOUR, *JUMPS):
        with clock_off(by):
            result = confirm(waiting, digest=waiting.digest)
            assert (result.status, result.reason) == ("refused", "approval_expired")

    assert Approval.objects.get().state == Approval.State.EXPIRED
    assert office.calls() == []


def test_a_confirmation_counts_once_however_the_clock_is_set(
    office: Office, waiting: Approval
) -> None:
    with clock_off(-HOUR):
        assert confirm(waiting, digest=waiting.digest).status == "succeeded"
    for by in JUMPS:
        with clock_off(by):
            assert confirm(waiting, digest=waiting.digest).status == "succeeded"  # the same one
            assert deadlines.expire_overdue(now=timezone.now()) == 0
            assert deadlines.finish_confirmed(older_than_seconds=60, now=timezone.now()) == 0

    assert len(office.calls()) == 1


def test_the_ledger_is_sound_over_a_clock_that_jumps(office: Office) -> None:
    """Its order, and what waits for its seal, are the database's."""
    office.permit("archive")
    for by in JUMPS:
        with clock_off(by):
            assert archive(office).status == "succeeded"

    [verified] = verify([office.organisation.id])
    assert (verified.actions, verified.findings) == (len(JUMPS), ())
