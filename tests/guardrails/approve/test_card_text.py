"""What a person reads of an action, in the order in which it matters."""

from dataclasses import replace

import pytest

from guardrails.approve import card_text
from guardrails.approve.cards import list_cards
from guardrails.contracts.cards import ApprovalCard
from integrations.web.languages import speaking
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


@pytest.fixture
def changed(office: Office) -> dict[str, ApprovalCard]:
    """One card of each kind of change, by action."""
    bob = {"email": "bob@company.com"}
    office.put("events", id="event-1", title="Stand-up", attendees=[bob])
    office.put("issues", id="i-1", key="PROJ-1", project_key="PROJ", summary="Old words")
    office.put("documents", id="doc-1", content_text="One.")
    office.list_target("update_calendar_event", "recipient", "bob@company.com")
    office.list_target("update_jira_task", "project", "PROJ", "Customer Portal")
    office.list_target("classify", "label", "label_fyi", "FYI")
    wishes = {
        "update_calendar_event": {"event_id": "event-1", "title": "Weekly", "attendees": []},
        "update_jira_task": {"issue_key": "PROJ-1", "summary": "New words"},
        "append_document": {"document_id": "doc-1", "content": "Two."},
        "classify": {"email_id": office.receive(labels=[]), "label_id": "label_fyi"},
    }
    for action, arguments in wishes.items():
        office.permit(action, "ask")
        ask(office, action, arguments)
    cards = list_cards(organisation_id=office.organisation.id, state="pending")
    return {card.action_type: card for card in cards}


def test_what_changes_is_said_from_what_to_what(changed: dict[str, ApprovalCard]) -> None:
    said = {
        name: [one for one in card_text.lines(card) if one.startswith("Changes ")]
        for name, card in changed.items()
    }

    assert said == {
        "update_calendar_event": [
            "Changes title: from Stand-up to Weekly",
            "Changes attendees: from bob@company.com to (nothing)",
        ],
        "update_jira_task": ["Changes summary: from Old words to New words"],
        "append_document": ["Changes end of the text: from One. to One.Two."],
        "classify": ["Changes labels: from (nothing) to FYI"],
    }


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("de", "Ändert Titel: von Stand-up zu Weekly"),
        ("fr", "Change titre : de Stand-up à Weekly"),
        ("es", "Cambia título: de Stand-up a Weekly"),
        ("it", "Cambia titolo: da Stand-up a Weekly"),
    ],
)
def test_it_is_said_in_the_language_of_who_looks(
    office: Office, changed: dict[str, ApprovalCard], language: str, line: str
) -> None:
    with speaking(language):
        cards = list_cards(organisation_id=office.organisation.id, state="pending")
        [card] = [one for one in cards if one.action_type == "update_calendar_event"]
        assert line in list(card_text.lines(card))
