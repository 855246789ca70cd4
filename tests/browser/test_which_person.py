"""A name that two colleagues have, in the console: Remit asks who is meant, and the one whose
button is pressed is written to."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from guardrails.models import AllowedAction, AllowedActionOption, Person
from tests.model_server import Script, calls
from tests.office import Office
from tests.stories.steps import scripted

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
ORCHESTRATOR = "You are Remit's orchestrator."
INGEST = "You summarise an item and list its entities."
ROSSI, BIANCHI = "Marco Rossi <m.rossi@company.com>", "Marco Bianchi <marco@company.com>"
PHONE = 390


@pytest.fixture
def colleagues(office: Office) -> Office:
    """Two people called Marco, and mail to whom the user named, which can be recalled."""
    account = office.account("maya", "gmail")
    for text in (ROSSI, BIANCHI):
        name, _, address = text.rstrip(">").partition(" <")
        Person.objects.create(organisation_id=account.organisation_id, address=address, name=name)
    of_send = {"account_id": account.id, "action_type": "send_email"}
    AllowedAction.objects.filter(**of_send).delete()
    AllowedActionOption.objects.filter(action_type="send_email").delete()
    AllowedAction.objects.create(
        **of_send,
        approval_mode="auto",
        conditions=[
            {"kind": "recipient", "relation": ["typed", "named"]},
            {"kind": "text", "written_by": "agent"},
        ],
    )
    return office


def tell(to: str) -> Any:
    """What the model does: it chooses one of the two."""
    return calls(("send_email", {"to": [to], "subject": "Lunch", "body": "Lunch is at noon."}))


@pytest.mark.parametrize("width", [1440, PHONE])
def test_the_pressed_one_is_written_to(
    colleagues: Office, page: Page, problems: list[str], width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    before = colleagues.calls()
    wish = tell("m.rossi@company.com")
    script: Script = {
        ORCHESTRATOR: [wish, wish, "Told him."],
        INGEST: lambda body: {"summary": "A mail.", "entities": []},  # of what was sent
    }
    with colleagues.worker(), scripted(script):
        page.goto("/console/")
        page.get_by_label("Message", exact=True).fill("Tell Marco that lunch is at noon.")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("status")).to_have_text("The agent asks a question.")
        asked = page.locator(".message.assistant:not([aria-busy])").last
        expect(asked).to_contain_text("Who do you mean by “Marco”?")
        expect(asked.get_by_role("button", name="Marco")).to_have_text([ROSSI, BIANCHI])
        assert colleagues.calls() == before
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.reload()
        page.get_by_role("button", name=ROSSI).click()

        expect(page.get_by_role("status")).to_have_text("Finished.")
        expect(page.get_by_role("region", name="Done", exact=True)).to_contain_text(
            "m.rossi@company.com"
        )
        expect(page.locator(".message.user").last).to_contain_text(ROSSI)
        assert page.evaluate("document.documentElement.scrollWidth") == width
    sent = [call["body"]["to"] for call in colleagues.calls()[len(before) :]]
    assert sent == [["m.rossi@company.com"]]
    assert problems == []
