"""A mail can be recalled where its provider said that it holds it back, and only by a command."""

from uuid import uuid4

import pytest

from guardrails.actions.mail.forward_email import ForwardEmail
from guardrails.actions.mail.send_email import SendEmail
from guardrails.contracts import Origin
from guardrails.facts.facts import Facts
from tests.guardrails.values import ME, NOW, chat, decide, email, policy_of, request

ARGUMENTS = {"email_id": "mail-1", "submission_id": "S1"}
HELD = {"id": "mail-1", "submission_id": "S1", "held_until": "2026-03-02 10:01:00 UTC"}


@pytest.mark.parametrize("action", [SendEmail(), ForwardEmail()])
def test_what_the_provider_holds_back_says_how_it_is_recalled(
    action: SendEmail | ForwardEmail,
) -> None:
    found = action.inverse_of(HELD)

    assert found is not None
    how, inverse = found
    assert how == "Recall the mail. The mail server sends it at 2026-03-02 10:01:00 UTC."
    assert (inverse.action_type, inverse.arguments) == ("recall_email", ARGUMENTS)


@pytest.mark.parametrize("missing", ["id", "submission_id"])
def test_what_has_gone_out_has_no_way_back(missing: str) -> None:
    assert SendEmail().inverse_of({k: v for k, v in HELD.items() if k != missing}) is None


def test_no_agent_may_recall_and_a_persons_command_may() -> None:
    facts = Facts(own_address=ME, email=email())

    def reason(origin: Origin) -> str:
        return decide(
            request=request("recall_email", ARGUMENTS, origin),
            policy=policy_of(),
            facts=facts,
            now=NOW,
        ).reason

    assert reason(chat()) == "unknown_action"
    assert reason(Origin(trigger="operator", undoes=str(uuid4()))) == "allowed"
