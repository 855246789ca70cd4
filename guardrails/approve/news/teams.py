"""What waits, as an Adaptive Card for a webhook of Teams (Workflows: “When a Teams webhook request
is received”).

https://adaptivecards.io/explorer: a TextRun is not Markdown, so nobody's words are a link; a whole
message may have 28 KB.
"""

from typing import Any

from django.utils.translation import gettext

from guardrails.approve import card_mail
from guardrails.contracts.cards import QuestionCard
from integrations.network import outgoing

CARD = "application/vnd.microsoft.card.adaptive"
MOST_BLOCK = 2_000


def send(address: str, question: QuestionCard | None) -> None:
    """Raises ProviderError. Without a question: a message that asks nothing."""
    outgoing.send_json(address, payload(question))


def payload(question: QuestionCard | None) -> dict[str, Any]:
    body: list[dict[str, Any]] = [_text(card_mail.subject(question), weight="bolder")]
    for text, link in card_mail.sections(question):
        body += [_text(line) for line in card_mail.cut(text, most=MOST_BLOCK).splitlines()]
        if link:
            action = {"type": "Action.OpenUrl", "title": gettext("Log in and decide"), "url": link}
            body.append({"type": "ActionSet", "actions": [action]})
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
    }
    return {
        "type": "message",
        "attachments": [{"contentType": CARD, "contentUrl": None, "content": card}],
    }


def _text(text: str, **style: str) -> dict[str, Any]:
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, **style}]}
