"""A draft is taken back only while it is, letter by letter, what Remit wrote."""

from typing import Any
from uuid import uuid4

import pytest

from guardrails.actions.base import Call
from guardrails.actions.mail.withdraw_draft import WithdrawDraft
from guardrails.facts.facts import Facts
from integrations.contracts.outgoing import Draft
from tests.guardrails.values import ME, NOW, decide, inbound, policy_of, request

WRITTEN, OTHER = "a" * 64, "b" * 64
ARGUMENTS = {"draft_id": "d1", "digest": WRITTEN}
DRAFT = Draft(id="d1", revision="1", thread_id="t", to=("ada@client.com",), subject="", body="")


@pytest.mark.parametrize(
    ("digest", "expected", "reason"),
    [
        (WRITTEN, "1", "allowed"),
        (WRITTEN, None, "allowed"),
        (WRITTEN, "0", "changed_since_done"),  # changed, and changed back
        (OTHER, "1", "changed_since_done"),
        (OTHER, None, "changed_since_done"),  # where the provider keeps no revisions
    ],
)
def test_what_somebody_changed_is_no_more_remits(
    digest: str, expected: str | None, reason: str
) -> None:
    origin = inbound(undoes=str(uuid4()), expects_revision=expected)

    decision = decide(
        request=request("withdraw_draft", ARGUMENTS, origin),
        policy=policy_of(),
        facts=Facts(own_address=ME, draft=DRAFT, draft_digest=digest),
        now=NOW,
    )

    assert decision.reason == reason


def test_the_provider_gets_the_revision_that_was_compared() -> None:
    """What somebody changes from then on is theirs: the provider refuses."""
    deleted = []

    class Writer:
        def delete_draft(self, draft_id: str, **given: Any) -> dict[str, Any]:
            deleted.append((draft_id, given))
            return {}

    action = WithdrawDraft()
    action.perform(Writer(), action.parse(ARGUMENTS), Call(key="k", revision="7"))  # type: ignore[arg-type]  # only what it calls

    assert deleted == [("d1", {"revision": "7", "key": "k"})]
