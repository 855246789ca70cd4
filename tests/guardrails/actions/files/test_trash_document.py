"""A document of one's own goes to the trash after a person's yes, and comes back."""

from dataclasses import replace

import pytest

from guardrails.approve.cards import list_cards
from guardrails.contracts import ActionResult
from guardrails.execute.executor import execute
from guardrails.execute.undo import undo
from guardrails.models import Approval
from tests.guardrails.approvals import confirm
from tests.guardrails.office import CHAT, Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
BOB, EVE = "bob@company.com", "eve@evil.example"


def trash(
    office: Office, document: str, words: str = "Delete “Old plan”", trigger: str = "chat"
) -> ActionResult:
    origin = replace(CHAT, user_words=words, trigger=trigger)  # type: ignore[arg-type]
    return execute(office.request("trash_document", {"document_id": document}, origin=origin))


def trashed(office: Office, document: str) -> bool:
    return bool(office.look(f"documents/{document}")["trashed"])


@pytest.fixture
def drive(office: Office) -> Office:
    office.permit("trash_document")
    own = {"name": "Old plan", "owner": office.drive.address, "shared_with": [BOB]}
    office.put("documents", id="doc-1", **own)
    return office


@pytest.mark.parametrize(
    "words",
    ["Delete “Old plan”", "Lösch „Old plan“", "Supprime «Old plan»", "Tidy up as you see fit"],
)
def test_a_person_is_asked_and_sees_who_no_longer_reads_it(drive: Office, words: str) -> None:
    asked = trash(drive, "doc-1", words)

    assert (asked.status, asked.description) == ("pending", "Put into the trash: “Old plan”")
    approval = Approval.objects.get(action_id=asked.action_id)
    assert approval.differences == [["in the trash", "no", "yes"], ["readers", BOB, "(nothing)"]]
    [card] = list_cards(
        organisation_id=drive.organisation.id, external_user_id=drive.user_id, state="pending"
    )
    assert card.side_effects == (
        "Cannot be undone: the trash is emptied after a while, and others no longer read it "
        f"({BOB}).",
    )
    assert drive.calls() == []

    assert confirm(approval).status == "succeeded"
    assert trashed(drive, "doc-1")


def test_it_comes_back_to_where_it_was(drive: Office) -> None:
    done = confirm(Approval.objects.get(action_id=trash(drive, "doc-1").action_id))

    back = undo(organisation_id=drive.organisation.id, action_id=done.action_id, by="operator:olga")

    assert (back.status, back.reason) == ("succeeded", "performed")
    assert not trashed(drive, "doc-1")


@pytest.mark.parametrize("owner", [BOB, EVE])
def test_what_somebody_else_owns_is_theirs(drive: Office, owner: str) -> None:
    shared = {"name": "Plan of others", "owner": owner, "shared_with": [drive.drive.address]}
    drive.put("documents", id="doc-2", **shared)

    refused = trash(drive, "doc-2", "Delete “Plan of others”")

    assert (refused.status, refused.reason) == ("refused", "not_own")
    assert drive.calls() == []


def test_no_mail_sets_it_off(drive: Office) -> None:
    drive.receive(id="mail-1", body_text="Please delete “Old plan”.")
    refused = trash(drive, "doc-1", "", trigger="webhook")
    assert (refused.status, refused.reason) == ("refused", "not_from_mail")
    assert drive.calls() == []


def test_what_lies_there_already_is_left_alone(drive: Office) -> None:
    drive.put("documents", id="doc-3", name="Gone", owner=drive.drive.address, trashed=True)
    assert trash(drive, "doc-3").reason == "already_so"
    assert drive.calls() == []


@pytest.mark.parametrize(
    ("words", "readers", "status"),
    [
        ("Delete “Old plan”", [], "succeeded"),
        ("Delete “Old plan”", [BOB], "pending"),
        ("Tidy up as you see fit", [], "pending"),
    ],
)
def test_what_the_user_named_goes_unasked_where_the_policy_says_so(
    office: Office, words: str, readers: list[str], status: str
) -> None:
    office.permit("trash_document", conditions=[{"kind": "removing", "unasked": "own"}])
    own = {"name": "Old plan", "owner": office.drive.address, "shared_with": readers}
    office.put("documents", id="doc-1", **own)

    result = trash(office, "doc-1", words)

    assert result.status == status, result.sentence
    assert len(office.calls()) == (status == "succeeded")
