"""What the agent wrote stays the agent's until a person has restated it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from audit.ledger.selectors import recorded
from guardrails.contracts import ActionResult
from guardrails.decide import evidence
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, Approval
from tests.guardrails.approvals import confirm
from tests.guardrails.office import CHAT, Office, policy_that_decided

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

BOB, OMAR = "bob@company.com", "omar@company.com"
NAMED = "Share doc-1 with Bob"
LATER = "2030-01-05T09:00:00+00:00"


@pytest.fixture
def drive(office: Office) -> Office:
    """A document of the user's own, and an agent that may write and share unasked."""
    office.put("documents", id="doc-1", content_text="One.", folder_id="drive_meetings")
    office.permit("append_document")
    office.permit("create_document")
    office.list_target("create_document", "folder", "drive_meetings", "/Meetings")
    office.permit("share_document")
    office.list_target("share_document", "recipient", BOB)
    return office


def do(
    office: Office, action: str, words: str = "", turn: str = "turn-1", **given: Any
) -> ActionResult:
    origin = replace(CHAT, user_words=words, turn_id=turn)
    return execute(office.request(action, given, origin=origin))


def share(office: Office, words: str = NAMED, turn: str = "turn-1") -> ActionResult:
    return do(office, "share_document", words, turn, document_id="doc-1", email=BOB)


def append(office: Office, words: str = "", content: str = "The code.") -> ActionResult:
    return do(office, "append_document", words, document_id="doc-1", content=content)


def say_yes(result: ActionResult) -> ActionResult:
    return confirm(Approval.objects.get(action_id=result.action_id))


def shared(office: Office) -> list[str]:
    return [call["path"] for call in office.calls() if call["path"].endswith("/share")]


def taint(result: ActionResult) -> str:
    [exposure] = recorded(result.action_id)[0].payload["decision"]["exposures"]
    return str(exposure["taint"])


def test_what_the_run_has_filled_waits_for_a_person_though_the_user_named_it(
    drive: Office,
) -> None:
    assert append(drive).status == "succeeded"

    result = share(drive)

    assert (result.status, taint(result)) == ("pending", "run")
    assert shared(drive) == []


def test_so_does_what_an_earlier_run_has_filled(drive: Office) -> None:
    append(drive)

    result = share(drive, turn="turn-2")

    assert (result.status, taint(result)) == ("pending", "agent")
    assert shared(drive) == []


def test_what_the_run_has_made_under_the_name_that_the_user_typed(drive: Office) -> None:
    made = do(
        drive,
        "create_document",
        name="Budget of the third quarter",
        folder_id="drive_meetings",
        content="The code.",
    )
    words = "Share Budget of the third quarter with Bob"

    result = do(
        drive,
        "share_document",
        words,
        document_id=made.result["document_id"],
        email=BOB,
    )

    assert (result.status, taint(result)) == ("pending", "run")
    assert shared(drive) == []


def test_what_the_user_typed_word_for_word_is_theirs(drive: Office) -> None:
    assert append(drive, "Add “Two.” to doc-1", content="Two.").status == "succeeded"

    result = share(drive)

    assert (result.status, taint(result)) == ("succeeded", "user")


def test_a_text_that_a_person_confirmed_is_theirs(drive: Office) -> None:
    AllowedAction.objects.filter(action_type="append_document").update(approval_mode="ask")
    assert say_yes(append(drive)).status == "succeeded"

    assert share(drive).status == "succeeded"


def test_a_person_who_saw_it_on_a_card_has_restated_it_as_it_was_then(drive: Office) -> None:
    append(drive)
    assert say_yes(share(drive)).status == "succeeded"
    drive.list_target("share_document", "recipient", OMAR)
    wish = {"document_id": "doc-1", "email": OMAR}

    again = do(drive, "share_document", NAMED, "turn-2", **wish)
    assert again.status == "succeeded"

    drive.list_target("append_document", "recipient_domain", "company.com")
    readers = f"{BOB}, {OMAR} and doc-1"
    assert append(drive, readers, content="Another code.").status == "succeeded"
    drive.list_target("share_document", "recipient", "carol@company.com")
    third = do(drive, "share_document", NAMED, **(wish | {"email": "carol@company.com"}))
    assert (third.status, taint(third)) == ("pending", "run")
    assert len(shared(drive)) == 2


def test_a_person_who_changed_it_by_hand_has_restated_it(drive: Office) -> None:
    append(drive)
    drive.change("documents", "doc-1", content_text="One. The code?", modified_at=LATER)

    assert share(drive, turn="turn-2").status == "succeeded"


def test_where_others_write_too_nobody_knows_whose_hand_it_was(drive: Office) -> None:
    drive.change("documents", "doc-1", shared_with=[BOB], roles={BOB: "writer"})
    drive.list_target("append_document", "recipient", BOB)
    assert append(drive, "Add it to doc-1").status == "succeeded"
    drive.change("documents", "doc-1", content_text="One. The code?", modified_at=LATER)
    drive.list_target("share_document", "recipient", OMAR)

    wish = {"document_id": "doc-1", "email": OMAR}
    result = do(drive, "share_document", NAMED, "turn-2", **wish)

    assert (result.status, taint(result)) == ("pending", "agent")


def test_a_share_by_hand_changes_no_text(drive: Office) -> None:
    append(drive)
    drive.change("documents", "doc-1", shared_with=[OMAR], roles={OMAR: "reader"})

    assert share(drive, turn="turn-2").status == "pending"


def test_a_replay_says_the_same(drive: Office) -> None:
    append(drive)
    row = recorded(share(drive).action_id)[0]

    past = evidence.past(row)

    assert past is not None
    again = evidence.decide_again(past, policy_that_decided(row))
    assert again is not None
    assert (again.verdict, again.reason) == ("ask", "exposure_of_agent")
    assert (
        json.loads(json.dumps(again.plain()["exposures"])) == row.payload["decision"]["exposures"]
    )
