"""While the sealer stands still, what cannot be taken back stops, and the rest goes on."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.ledger.selectors import recorded
from guardrails.contracts import ActionResult, Origin
from guardrails.execute.executor import execute
from guardrails.execute.releases import release_due
from guardrails.execute.undo import undo
from guardrails.gather import judgement
from guardrails.models import Approval, HeldSend
from guardrails.policies import simulation
from tests.audit import sealed
from tests.audit.entries import append_action
from tests.guardrails.approvals import confirm
from tests.guardrails.office import Office, phases

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

BOB = "bob@company.com"
MAIL = {"to": [BOB], "subject": "Hello", "body": "Hello."}
ISSUE = {"project_key": "PROJ", "summary": "Setup CI/CD", "type": "task"}
TYPED = Origin(trigger="chat", turn_id="turn-1", user_words=BOB)
SENTENCE = (
    "The ledger is not sealed, so nothing that cannot be undone is done. "
    "A record has waited to be sealed for 15 min."
)


def permit(office: Office, mode: str = "auto", **fields: Any) -> None:
    office.permit("send_email", mode, **fields)
    office.list_target("send_email", "recipient_domain", "company.com", "Us")


def permit_issues(office: Office) -> None:
    for action_type in ("create_jira_task", "update_jira_task"):
        office.permit(action_type)
        office.list_target(action_type, "project", "PROJ", "Customer Portal")


def send(office: Office) -> ActionResult:
    return execute(office.request("send_email", MAIL, origin=TYPED))


def stop_sealer(office: Office) -> None:
    """A record of the organisation has waited for a quarter of an hour."""
    with sealed.recorded_before(timedelta(minutes=15)):
        append_action(tenant_id=office.organisation.id)


@pytest.fixture
def stopped(office: Office) -> Office:
    stop_sealer(office)
    return office


def test_nothing_is_sent_while_the_ledger_is_not_sealed(stopped: Office) -> None:
    permit(stopped)

    result = send(stopped)

    assert (result.status, result.reason, result.sentence) == ("refused", "not_sealed", SENTENCE)
    assert phases(result) == [("blocked", "blocked", "not_sealed")]
    row = recorded(result.action_id)[0]
    assert (row.decision, row.error_code) == ("blocked", "")
    assert row.payload["decision"]["checks"][-1] == {
        "name": "seals",
        "passed": False,
        "detail": "A record has waited to be sealed for 15 min.",
    }
    assert stopped.calls() == []


def test_once_it_is_sealed_again_sending_goes_on(stopped: Office) -> None:
    permit(stopped)
    assert send(stopped).reason == "not_sealed"

    sealed.seal(stopped.organisation.id)

    assert send(stopped).status == "succeeded"
    assert len(stopped.calls()) == 1


def test_what_can_be_taken_back_goes_on(stopped: Office) -> None:
    email_id = stopped.receive()
    stopped.permit("archive")

    result = execute(stopped.request("archive", {"email_id": email_id}))

    assert result.status == "succeeded"
    assert "INBOX" not in stopped.email(email_id)["labels"]


def test_an_issue_is_not_made_because_the_whole_project_would_see_it(stopped: Office) -> None:
    permit_issues(stopped)

    result = execute(stopped.request("create_jira_task", ISSUE))

    assert (result.status, result.reason) == ("refused", "not_sealed")
    assert stopped.calls() == []


def test_what_is_so_already_is_a_success_all_the_same(office: Office) -> None:
    permit_issues(office)
    with sealed.recorded_before(timedelta(minutes=15)):
        made = execute(office.request("create_jira_task", ISSUE))
    same = {"issue_key": made.result["task_key"], "summary": "Setup CI/CD"}

    result = execute(office.request("update_jira_task", same))

    assert (result.status, result.reason) == ("noop", "already_so")
    assert len(office.calls()) == 1


def test_nobody_is_asked_what_could_not_be_done_then(stopped: Office) -> None:
    permit(stopped, "ask")

    assert send(stopped).reason == "not_sealed"

    assert not Approval.objects.exists()
    assert stopped.calls() == []


def test_a_word_given_meanwhile_sends_nothing(office: Office) -> None:
    permit(office, "ask", hold_seconds=300)
    with sealed.recorded_before(timedelta(minutes=15)):
        asked = send(office)

    result = confirm(Approval.objects.get(), decided_by=f"user:{office.user_id}")

    assert (result.status, result.reason) == ("refused", "not_sealed")
    assert phases(asked)[-1] == ("blocked", "blocked", "not_sealed")
    assert (Approval.objects.get().state, HeldSend.objects.count()) == ("refused", 0)
    assert office.calls() == []


def test_a_held_send_waits_on_and_is_sent_once_it_is_sealed(office: Office) -> None:
    permit(office, hold_seconds=300)
    with sealed.recorded_before(timedelta(minutes=15)):
        held = send(office)
    HeldSend.objects.update(until=timezone.now())

    release_due(now=timezone.now())

    held_send = HeldSend.objects.get()
    assert (held_send.state, held_send.outcome) == ("held", SENTENCE)
    assert phases(held) == [("control", "waiting", "held")]
    assert office.calls() == []

    sealed.seal(office.organisation.id)
    release_due(now=timezone.now())

    assert HeldSend.objects.get().state == "released"
    assert [call["idempotency_key"] for call in office.calls()] == [f"remit-{held.action_id}"]


def test_a_refusal_uses_up_no_rate(stopped: Office) -> None:
    permit(stopped, conditions=[{"kind": "rate", "max": 1, "per": "hour"}])
    assert [send(stopped).reason for _ in range(3)] == ["not_sealed"] * 3

    sealed.seal(stopped.organisation.id)

    assert send(stopped).status == "succeeded"


def test_a_person_may_take_back_what_was_done_before(office: Office) -> None:
    office.permit("draft")
    email_id = office.receive()
    wish = {"to": ["ada@client.com"], "subject": "Re", "body": "Yes.", "reply_to_id": email_id}
    with sealed.recorded_before(timedelta(minutes=15)):
        done = execute(office.request("draft", wish))
    assert done.status == "succeeded"

    result = undo(
        organisation_id=office.organisation.id,
        action_id=done.action_id,
        by=f"user:{office.user_id}",
    )

    assert result.status == "succeeded"


def test_trying_an_action_says_so_too(stopped: Office) -> None:
    permit(stopped)
    wish = simulation.wish(
        stopped.ref(stopped.mailbox), action_type="send_email", arguments=MAIL, user_words=BOB
    )
    decision = simulation.simulate(wish).decision
    assert (decision.verdict, decision.sentence) == ("refuse", SENTENCE)


def test_what_cannot_be_known_is_refused(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(tenant_id: object) -> None:
        raise RuntimeError("the ledger does not say")

    monkeypatch.setattr(judgement, "load_progress", broken)
    permit(office)

    assert send(office).reason == "guard_failed"
    assert office.calls() == []


def test_what_can_be_taken_back_asks_nothing_about_seals(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judgement, "load_progress", lambda tenant_id: pytest.fail("asked"))
    office.permit("archive")
    result = execute(office.request("archive", {"email_id": office.receive()}))
    assert result.status == "succeeded"
