"""What waits, as a notification of a browser: on a phone, on its lock screen.

https://developer.mozilla.org/en-US/docs/Web/API/Push_API. It holds the first lines of the card,
which the other channels send as a whole, and decides nothing: who taps it comes to the card's page.
"""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from guardrails.approve import card_links, card_mail
from guardrails.contracts.cards import QuestionCard
from integrations.network import web_push

MOST_TITLE, MOST_BODY = 100, 300
LONGEST = timedelta(days=1)  # for a phone that is off; nobody hears of what has waited longer


def send(address: str, question: QuestionCard | None) -> None:
    """Raises ProviderError. Without a question: a message that asks nothing."""
    now = timezone.now()
    ends = [card.expires_at for card in question.cards if card.expires_at] if question else []
    keep = max(timedelta(0), min([LONGEST, *(end - now for end in ends)]))
    web_push.send(web_push.read(address), payload(question), now=now, keep=keep)


def payload(question: QuestionCard | None) -> dict[str, Any]:
    """What the service worker shows (templates/static/remit/push_worker.js)."""
    [text, *_] = next(iter(card_mail.sections(question)))
    return {
        "title": card_mail.cut(card_mail.subject(question), most=MOST_TITLE),
        "body": card_mail.cut(text, most=MOST_BODY),
        "url": card_links.path(question.cards[0]) if question else "",
        "tag": str(question.id) if question else "trial",
    }
