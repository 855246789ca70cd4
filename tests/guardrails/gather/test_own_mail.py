"""What the agent sent of its own accord makes nobody a correspondent of the user, and what it filed
is no habit of the user's."""

from dataclasses import replace
from typing import Any

import pytest

from audit.ledger.selectors import recorded
from guardrails.approve import approvals
from guardrails.contracts import ActionResult
from guardrails.decide import evidence
from guardrails.execute.executor import execute
from guardrails.gather import own_mail
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.models import AgentFiling, AgentMail, AllowedAction
from integrations.exceptions import Rejected
from integrations.providers.data_service.writer import DataServiceWriter
from tests.guardrails.office import CHAT, PASSED, Office, webhook

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

EVE = "eve@evil.example"
TYPED = replace(CHAT, user_words=f"Write to {EVE} please.")


def relation(*names: str) -> list[dict[str, Any]]:
    return [{"kind": "recipient", "relation": list(names)}]


@pytest.fixture
def eves(office: Office) -> str:
    """A mail of Eve's, which provably came from her. The agent may answer participants, at whose
    domain an operator let everybody in, and forward to whom the user has written to."""
    office.permit("send_email", conditions=relation("thread_participant", "typed"))
    office.list_target("send_email", "recipient_domain", "evil.example")
    office.permit("forward_email", conditions=relation("corresponded"))
    return office.receive(**{"from": EVE}, authentication=PASSED, thread_id="t-eve")


def answer(office: Office, mail: str, **changes: Any) -> ActionResult:
    arguments = {"to": [EVE], "subject": "Re: Hello", "body": "Away.", "reply_to_id": mail}
    return execute(
        office.request("send_email", arguments, **({"origin": webhook(mail, "t-eve")} | changes))
    )


def forward(office: Office) -> ActionResult:
    mail = office.receive(subject="Secret")
    origin = replace(CHAT, user_words=f"Send {mail} on.")
    arguments = {"email_id": mail, "to": [EVE]}
    return execute(office.request("forward_email", arguments, origin=origin))


def test_an_automatic_answer_opens_nothing_for_a_stranger(office: Office, eves: str) -> None:
    assert forward(office).reason == "receiver_novel"

    assert answer(office, eves).status == "succeeded"
    assert AgentMail.objects.get().address == EVE
    sent = len(office.calls())

    assert forward(office).reason == "receiver_novel"
    assert len(office.calls()) == sent


def test_the_users_own_mail_counts_beside_the_agents(office: Office, eves: str) -> None:
    answer(office, eves)
    office.receive(**{"from": office.mailbox.address}, to=[EVE], labels=["SENT"])

    assert forward(office).status == "succeeded"


def test_what_the_user_typed_is_the_users_own(office: Office, eves: str) -> None:
    assert answer(office, eves, origin=TYPED).status == "succeeded"

    assert not AgentMail.objects.exists()
    assert forward(office).status == "succeeded"


def test_what_a_person_said_yes_to_is_a_persons(office: Office, eves: str) -> None:
    AllowedAction.objects.filter(action_type="send_email").update(approval_mode="ask")
    asked = answer(office, eves)
    assert asked.approval_id is not None
    done = approvals.decide(
        organisation_id=office.organisation.id,
        external_user_id=office.user_id,
        approval_id=asked.approval_id,
        word="confirm",
        decided_by="user",
    )

    assert done.status == "succeeded"
    assert not AgentMail.objects.exists()
    assert forward(office).status == "succeeded"


def test_a_mail_that_was_not_sent_takes_nothing_away(
    office: Office, eves: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.receive(**{"from": office.mailbox.address}, to=[EVE], labels=["SENT"])
    noted = []

    def refuse(*given: Any, **named: Any) -> None:
        noted.append(AgentMail.objects.get().address)
        raise Rejected("no")

    with monkeypatch.context() as patched:
        patched.setattr(DataServiceWriter, "send_email", refuse)
        assert answer(office, eves).status == "failed"

    assert noted == [EVE]
    assert not AgentMail.objects.exists()
    assert forward(office).status == "succeeded"


def test_what_one_mailbox_sent_counts_for_the_users_calendar(office: Office, eves: str) -> None:
    office.permit("create_calendar_event", conditions=relation("corresponded"))
    answer(office, eves)
    sent = len(office.calls())

    event = {
        "title": "Lunch",
        "start": "2026-12-01T12:00:00+00:00",
        "end": "2026-12-01T13:00:00+00:00",
        "attendees": [EVE],
    }
    result = execute(office.request("create_calendar_event", event))

    assert (result.status, result.reason) == ("refused", "receiver_novel")
    assert len(office.calls()) == sent


def test_whom_the_agent_wrote_to_takes_no_part_in_the_thread(office: Office, eves: str) -> None:
    """Eve's next mail fails DMARC: only the agent's own answer would speak for her."""
    answer(office, eves)
    sent = len(office.calls())
    failing = {"spf": "fail", "dkim": "fail", "dmarc": "fail"}
    answered = office.email(eves)["thread_id"]
    office.control("DELETE", f"/users/{office.user_id}/emails/{eves}")
    forged = office.receive(**{"from": EVE}, authentication=failing, thread_id=answered)

    assert answer(office, forged).status == "refused"
    assert len(office.calls()) == sent


def test_a_sender_whom_only_the_agent_answered_is_no_correspondent(
    office: Office, eves: str
) -> None:
    office.permit("archive", conditions=[{"kind": "sender_relation", "any_of": ["corresponded"]}])
    answer(office, eves)
    sent = len(office.calls())

    refused = execute(office.request("archive", {"email_id": eves}))
    assert (refused.status, refused.reason) == ("refused", "condition_failed")
    assert len(office.calls()) == sent

    office.receive(**{"from": office.mailbox.address}, to=[EVE], labels=["SENT"])
    assert execute(office.request("archive", {"email_id": eves})).status == "succeeded"


def test_the_decision_is_made_again_from_its_evidence(office: Office, eves: str) -> None:
    answer(office, eves)
    result = forward(office)

    past = evidence.past(recorded(result.action_id)[-1])
    assert past is not None
    assert past.facts is not None
    assert past.facts.reached_by_agent == (EVE,)
    assert past.facts.corresponded == {EVE: 0}
    again = evidence.decide_again(past, policy_snapshot(office.ref(office.mailbox)))
    assert again is not None
    assert (again.verdict, again.reason) == ("refuse", "receiver_novel")


# --- mail that it filed -------------------------------------------------------------------


def test_mail_that_the_agent_filed_is_remembered_as_its_own(office: Office) -> None:
    office.permit("archive")
    mine = [office.receive(), office.receive()]
    account = office.ref(office.mailbox)

    assert execute(office.request("archive", {"email_id": mine[0]})).status == "succeeded"

    assert own_mail.list_filings(account, mine).keys() == {mine[0]}
    assert own_mail.list_filings(office.ref(office.diary), mine) == {}


def test_mail_that_a_person_said_yes_to_is_a_persons(office: Office) -> None:
    office.permit("archive", "ask")
    mail = office.receive()
    asked = execute(office.request("archive", {"email_id": mail}))
    assert asked.approval_id is not None
    approvals.decide(
        organisation_id=office.organisation.id,
        external_user_id=office.user_id,
        approval_id=asked.approval_id,
        word="confirm",
        decided_by="user",
    )

    assert [call["status"] for call in office.calls()] == [200]
    assert own_mail.list_filings(office.ref(office.mailbox), [mail]) == {}


def test_mail_that_was_not_filed_is_nobodys(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.permit("archive")
    mail, noted = office.receive(), []

    def refuse(*given: Any, **named: Any) -> None:
        noted.append(AgentFiling.objects.get().item_id)
        raise Rejected("no")

    monkeypatch.setattr(DataServiceWriter, "archive", refuse)

    assert execute(office.request("archive", {"email_id": mail})).status == "failed"
    assert (noted, AgentFiling.objects.count()) == ([mail], 0)
