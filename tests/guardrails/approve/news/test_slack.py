"""What Slack and Teams are sent, as it arrives: the mail's card, and a button that only leads."""

import pytest
from django.utils import timezone

from guardrails.approve import card_links, card_text
from guardrails.approve.card_mail import cut, inert
from guardrails.approve.cards import list_cards
from guardrails.approve.news.news import announce, try_out
from guardrails.models import Approval
from tests.guardrails.approvals import ask
from tests.guardrails.approve.news.conftest import Receiver
from tests.guardrails.approve.news.recipients import add
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
BAIT = "<!channel> <https://evil.example|here> [x](https://evil.example) @everyone"


@pytest.fixture
def approval(office: Office) -> Approval:
    """A mail whose subject is a stranger's."""
    anybody = {"kind": "recipient", "relation": ["typed"], "novel": "ask"}
    office.permit("send_email", "ask", conditions=[anybody])
    return ask(
        office,
        "send_email",
        {"to": ["ada@client.com"], "subject": BAIT, "body": "Hello"},
    )


def link(office: Office) -> str:
    [card] = list_cards(organisation_id=office.organisation.id)
    return f"https://remit.company.com{card_links.path(card)}"


def words(office: Office) -> str:
    [card] = list_cards(organisation_id=office.organisation.id)
    return inert(card_text.render(card))


def test_slack_gets_plain_text_and_a_button(
    office: Office, receiver: Receiver, approval: Approval
) -> None:
    add(office, receiver.url, "slack")
    announce(now=timezone.now())

    title = "Remit asks a person: Send a mail"
    button = {
        "type": "button",
        "text": {"type": "plain_text", "text": "Log in and decide", "emoji": False},
        "url": link(office),
    }
    said = {"type": "plain_text", "text": words(office), "emoji": False}
    header = {"type": "plain_text", "text": title, "emoji": False}
    assert receiver.taken == [
        {
            "text": title,
            "blocks": [
                {"type": "header", "text": header},
                {"type": "section", "text": said},
                {"type": "actions", "elements": [button]},
            ],
            "unfurl_links": False,
            "unfurl_media": False,
        }
    ]
    assert "https[:]//evil[.]example" in words(office)


def test_teams_gets_a_card_of_runs_of_text(
    office: Office, receiver: Receiver, approval: Approval
) -> None:
    add(office, receiver.url, "teams")
    announce(now=timezone.now())

    [message] = receiver.taken
    [attachment] = message["attachments"]
    assert message["type"] == "message"
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    head, *lines, last = attachment["content"]["body"]
    assert head["inlines"][0]["text"] == "Remit asks a person: Send a mail"
    assert {one["type"] for one in (head, *lines)} == {"RichTextBlock"}
    assert [one["inlines"][0]["text"] for one in lines] == words(office).splitlines()
    action = {"type": "Action.OpenUrl", "title": "Log in and decide", "url": link(office)}
    assert last == {"type": "ActionSet", "actions": [action]}


def test_what_does_not_fit_is_on_the_page() -> None:
    assert cut("a" * 200, most=100) == "a" * 74 + "… The rest is on its page."
    assert cut("a" * 100, most=100) == "a" * 100


def test_a_trial_asks_nothing(office: Office, receiver: Receiver) -> None:
    row = add(office, receiver.url, "slack")
    try_out(row.id, now=timezone.now())

    [message] = receiver.taken
    assert [block["type"] for block in message["blocks"]] == ["header", "section"]
    assert message["text"] == "Remit will ask here"
