"""The words of a mail as the mail reader is given them, cut to a number of tokens. Pure."""

from integrations.contracts import Email
from integrations.llm.completions import BYTES_IN_A_TOKEN, estimated_tokens
from integrations.mail.html import html_to_text
from knowledge.text.quotes import own_words

MAIL_TOKENS = 2_000  # of the mail at hand
EARLIER_TOKENS = 330  # of each mail of the thread before it
NO_QUOTE, CUT = "\n[The quoted part is left out.]", "\n[The rest is left out.]"


def render_text(email: Email) -> str:
    """The words a person would read in the mail."""
    if email.body_text.strip():
        return email.body_text
    return html_to_text(email.body_html) if email.body_html else email.snippet


def fit(text: str, *, max_tokens: int) -> str:
    """The text, if it is short enough; else without what it quotes, which the reader is given as
    mails of the thread; and where that is too long still, only its beginning.

    Tokens are counted as everywhere (`estimated_tokens`): rather too many, so that the limit holds
    with every model's own count of usual text.
    """
    if estimated_tokens(text) <= max_tokens:
        return text
    own = own_words(text)
    end = NO_QUOTE if own != text.strip() else ""
    if estimated_tokens(own + end) <= max_tokens:
        return own + end
    room = max_tokens * BYTES_IN_A_TOKEN - len(CUT.encode())
    return own.encode()[:room].decode(errors="ignore") + CUT
