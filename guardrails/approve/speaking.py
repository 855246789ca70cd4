"""What Remit says to people about an action, in the language that is spoken where they look.

What was decided stays as it was, in English, and so does what digests and the ledger bind. What has
no translation (`locale/`) is said in English.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from guardrails.facts.phrases import Phrase

Wordings = Mapping[str, Mapping[str, Any]]  # guardrails.facts.phrases.wordings


def say(line: str, wordings: Wordings) -> str:
    """One of the lines that an approval or a change request has kept. Where the row does not say
    how it was made, it is somebody's words and stays as it is."""
    found = wordings.get(line)
    return _fill(found) if found else line


def spoken(line: str) -> str:
    """A line that was said just now, and is not stored."""
    return _fill(line.plain()) if isinstance(line, Phrase) else line


def fill(template: str, **values: object) -> str:
    """One of Remit's own sentences, with its values."""
    return gettext(template) % values


def _fill(line: Mapping[str, Any]) -> str:
    values = {
        name: value if isinstance(value, str) else _fill(value)
        for name, value in line["values"].items()
    }
    # Of nothing gettext makes the head of its catalogue.
    return gettext(line["template"]) % values if line["template"] else ""
