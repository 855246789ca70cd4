"""How subjects are compared by learned patterns. Pure."""

import re

from integrations.mail.text import normalised

NUMBER = re.compile(r"\d+")
PREFIX = re.compile(r"^(?:(?:re|fwd?|aw|wg|sv|vs)\s*:\s*)+")


def generalised(subject: str) -> str:
    """The subject without numbers, reply marks, case and spare blanks, so that “Invoice 17”
    and “invoice 18” are one. Compare it whole; empty for a subject without words."""
    folded = normalised("NFKC", subject).casefold()
    return " ".join(NUMBER.sub("#", PREFIX.sub("", " ".join(folded.split()))).split())
