"""What Remit says to people about an action, in the language that is spoken where they look.

What was decided stays as it was, in English, and so does what digests and the ledger bind. What has
no translation (`locale/`) is said in English.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import get_language, gettext

from guardrails.facts.phrases import Phrase
from guardrails.words.moments import WEEKDAYS

Wordings = Mapping[str, Mapping[str, Any]]  # guardrails.facts.phrases.wordings


def say(line: str, wordings: Wordings, *, zone: str = "") -> str:
    """One of the lines that an approval or a change request has kept, with the times in it on the
    clock of a zone, where one is given. Where the row does not say how it was made, it is
    somebody's words and stays as it is."""
    found = wordings.get(line)
    return _fill(found, zone) if found else line


def spoken(line: str) -> str:
    """A line that was said just now, and is not stored."""
    is_english = (get_language() or "en").startswith("en")
    return _fill(line.plain(), "") if isinstance(line, Phrase) and not is_english else str(line)


def fill(template: str, **values: object) -> str:
    """One of Remit's own sentences, with its values."""
    return gettext(template) % values


def moment(at: datetime, zone: str = "UTC") -> str:
    """A time on the clock of a zone, which is named."""
    return f"{at.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M} {zone}"


def on_clock(text: str, zone: str) -> str:
    """A time as the clock of a zone shows it; a day, or what is no time, as it stands."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return text
    if at.tzinfo is None:
        return text
    weekday = WEEKDAYS[at.astimezone(ZoneInfo(zone)).weekday()]
    return f"{gettext(weekday)} {moment(at, zone)}"


def _fill(line: Mapping[str, Any], zone: str) -> str:
    values = {
        name: (on_clock(value, zone) if zone else value)
        if isinstance(value, str)
        else _fill(value, zone)
        for name, value in line["values"].items()
    }
    # Of nothing gettext makes the head of its catalogue.
    return gettext(line["template"]) % values if line["template"] else ""
