"""What a model is given of an action: what became of it, and nothing that it said itself."""

from typing import Any
from uuid import UUID

from agents.tools.acting import to_observation
from guardrails.contracts import ActionResult
from guardrails.facts.reasons import SENTENCES

ACTION, APPROVAL = UUID(int=1), UUID(int=2)


def observed(status: Any, **fields: Any) -> dict[str, Any]:
    known = {"action_type": "archive", "action_id": ACTION, "arguments": {"email_id": "m"}}
    return to_observation(ActionResult(status=status, **{**known, **fields})).wire()


def test_what_waits_says_that_it_is_not_done() -> None:
    found = observed("pending", description="Archive “Lunch”", approval_id=APPROVAL)
    assert found["data"] == {
        "status": "pending_confirmation",
        "id": str(APPROVAL),
        "description": "Archive “Lunch”",
        "sentence": "Not done. It waits for the user's button.",
    }


def test_what_was_done_has_its_result_and_no_id_of_ours() -> None:
    found = observed("succeeded", description="Archive “Lunch”", result={"draft_id": "d"})
    assert found["data"] == {
        "status": "executed",
        "description": "Archive “Lunch”",
        "result": {"draft_id": "d"},
    }


def test_a_draft_whose_receivers_nobody_was_asked_about_says_so() -> None:
    marked = {"draft_id": "d", "marked": ["ann@client.com"], "left_out": ["eve@evil.example"]}
    found = observed("succeeded", action_type="draft", result=marked)

    assert found["data"]["sentence"] == (
        "Its subject says that nobody was asked about ann@client.com. Its first line says that "
        "eve@evil.example was left out of the receivers, because nobody was asked."
    )


def test_a_wrong_id_is_looked_for_and_only_what_is_not_permitted_is_given_up() -> None:
    """FINDINGS A4: a wrong id said “Do not try it again”, and trying again worked."""
    wrong, unknown, not_permitted = (
        observed("refused", reason=reason, sentence=SENTENCES[reason], **more)["error"]
        for reason, more in (
            ("object_unknown", {}),
            ("unknown_action", {"action_type": "archiv"}),
            ("not_permitted", {}),
        )
    )
    assert (wrong["code"], wrong["recoverable"]) == ("NOT_FOUND", True)
    assert wrong["suggested_action"] == "Search for it, or ask the user which one is meant."
    assert (unknown["code"], unknown["recoverable"]) == ("NOT_FOUND", True)
    assert (not_permitted["code"], not_permitted["recoverable"]) == ("PERMISSION_DENIED", False)
    assert not_permitted["suggested_action"].startswith("Do not try it again.")


def test_a_provider_that_is_silent_is_tried_later_and_not_at_once() -> None:
    error = observed(
        "refused", reason="facts_unavailable", sentence=SENTENCES["facts_unavailable"]
    )["error"]
    assert error["code"] == "NETWORK_ERROR"
    assert error["message"].endswith("Try again later.")
    assert error["suggested_action"] == (
        "Go on without it, and say that it can be tried again later."
    )
