"""Keeps a thread's drafts of the assistant in order, when a mail of it came or was sent."""

from agents.inbound.claims import Claimed
from guardrails.execute import tidying
from integrations.contracts import AccountRef, Email
from integrations.mail.html import html_to_text
from knowledge.text.quotes import own_words


def tidy(delivery: Claimed, account: AccountRef, email: Email) -> None:
    """Drafts that are of no use any more, and that nobody touched, go. Raises ProviderError."""
    tidying.tidy(account, email, came_at=delivery.received_at, own_words=_own_words)


def _own_words(email: Email) -> str:
    return own_words(email.body_text or html_to_text(email.body_html or ""))
