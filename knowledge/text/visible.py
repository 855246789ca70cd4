"""Text as people see it, on one line or as an address. Pure."""

import re

from integrations.mail.text import clean_line, clean_text

MAX_ADDRESS = 320
# Zero width, direction marks, fillers, variation selectors, tags: they hide text from people.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """`text` without characters that nobody sees: controls, zero width, direction marks."""
    return _UNSEEN.sub("", clean_text(text))


def line(text: str, limit: int) -> str:
    """`text` on one line, visible characters only, at most `limit` of them."""
    return clean_line(visible(text))[:limit].rstrip()


def address(text: str) -> str:
    """An address as it is stored and compared: one line, lower case. Empty for one with more
    than 320 characters: half an address would be another one."""
    found = line(text.lower(), MAX_ADDRESS + 1)
    return found if len(found) <= MAX_ADDRESS else ""
