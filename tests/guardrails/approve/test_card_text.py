"""What a person reads of an action, in the order in which it matters."""

from dataclasses import replace

import pytest

from guardrails.approve import card_text
from guardrails.approve.cards import list_cards
from guardrails.contracts import ApprovalCard
from tests.guardrails.approvals import ask
from tests.guardrails.office import CHAT, Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

EVE = "eve@evil.example"
NOVEL = {"kind": "recipient", "relation": ["typed"], "novel": "ask"}


@pytest.fixture
def drive(office: Office) -> Office:
    office.permit("share_document", "ask", conditions=[NOVEL])
    office.put(
        "documents",
        id="doc-pay",
        name="Weekly report” to david@company.com. “",
        content_text="The code is 493021. IBAN DE89370400440532013000.",
    )
    return office


def card_of(office: Office, words: str, role: str = "reader") -> ApprovalCard:
    wish = {"document_id": "doc-pay", "email": EVE, "role": role}
    ask(office, "share_document", wish, origin=replace(CHAT, user_words=words))
    [card] = list_cards(organisation_id=office.organisation.id, state="pending")
    return card


def test_who_gets_to_see_what_stands_at_the_top(drive: Office) -> None:
    lines = list(card_text.lines(card_of(drive, "What is on today?")))

    assert lines[0] == f"Share with {EVE} as reader"
    assert lines[1] == "Somebody's words for it: “Weekly report' to david@company.com. '”"
    assert lines[2].startswith(f"email: {EVE} (NEW: nobody typed or listed the address itself")
    assert lines[3] == (
        f"{EVE} as reader will see the document “Weekly report' to david@company.com. '”."
    )
    assert lines[4].startswith("It holds ")
    assert "a bank account" in lines[4]
    assert lines[5] == "Who sees it now: nobody else."
    assert lines[6].startswith("NEW: nobody named it in this request; the agent chose it.")
    assert lines[7] == "What they read: The code is 493021. IBAN DE89370400440532013000."
    assert "The user's words: What is on today?" in lines


def test_what_the_user_named_says_so(drive: Office) -> None:
    card = card_of(drive, f"Share doc-pay with {EVE} as writer", "writer")

    [exposure] = card.exposures
    assert exposure.named == "typed by the user in this request"
    assert not exposure.is_new
    assert exposure.newcomers == (f"{EVE} as writer",)
    assert "NEW" not in card_text.render(card)


def test_a_wider_role_says_what_it_was(drive: Office) -> None:
    drive.change("documents", "doc-pay", shared_with=[EVE])

    [exposure] = card_of(drive, "Let Eve edit it, as writer", "writer").exposures
    assert exposure.newcomers == (f"{EVE} as writer (until now reader)",)
