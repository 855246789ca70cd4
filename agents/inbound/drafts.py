"""Keeps a thread's drafts of the assistant in order, when a mail of it came or was sent."""

from agents.inbound.thread_status import Cause
from guardrails.execute import tidying
from integrations.contracts import AccountRef, Email
from integrations.mail.html import html_to_text
from knowledge.text.quotes import own_words


def are_waiting(account: AccountRef, email: Email) -> bool:
    """Whether there is any draft that `tidy` would have to look at. One query."""
    return bool(tidying.list_drafts(account, email))


def tidy(cause: Cause, account: AccountRef, email: Email) -> None:
    """Drafts that are of no use any more, and that nobody touched, go. Raises ProviderError."""
    tidying.tidy(account, email, came_at=cause.at, own_words=_own_words, use_turn=cause.use_turn)


def _own_words(email: Email) -> str:
    return own_words(email.body_text or html_to_text(email.body_html or ""))
