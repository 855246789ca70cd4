"""What waits, as a message of a Slack incoming webhook.

https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks: Block Kit, with at most
150 characters in a header and 3,000 in a section. All text is plain, so nobody's words are a link
or call for somebody; a button that leads to a page needs no app that listens.
"""

from typing import Any

from django.utils.translation import gettext

from guardrails.approve import card_mail
from guardrails.contracts.cards import QuestionCard
from integrations.network import outgoing

MOST_HEADER, MOST_SECTION = 150, 3_000


def send(address: str, question: QuestionCard | None) -> None:
    """Raises ProviderError. Without a question: a message that asks nothing."""
    outgoing.send_json(address, payload(question))


def payload(question: QuestionCard | None) -> dict[str, Any]:
    title = card_mail.subject(question)
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": _plain(title, most=MOST_HEADER)},
    ]
    for text, link in card_mail.sections(question):
        blocks.append({"type": "section", "text": _plain(text, most=MOST_SECTION)})
        if link:
            button = {"type": "button", "text": _plain(gettext("Log in and decide")), "url": link}
            blocks.append({"type": "actions", "elements": [button]})
    return {"text": title, "blocks": blocks, "unfurl_links": False, "unfurl_media": False}


def _plain(text: str, *, most: int = 75) -> dict[str, Any]:
    return {"type": "plain_text", "text": card_mail.cut(text, most=most), "emoji": False}
