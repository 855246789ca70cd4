"""Is a value as a task wants it? Pure.

A wanted value stands for itself, or says what must hold: {contains: text or list of texts},
{excludes: …}, {matches: a regular expression}, {one_of: [values]}, {appended: value} (the text
before is still there, and what follows is so), {added: [entries]} and {removed: [entries]} (exactly
these came or went), {any: true} (there is one) or {any: false}. Several must all hold.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

UNORDERED = frozenset({"to", "cc", "bcc", "reply_to", "labels", "components", "shared_with"})
TIMES = frozenset({"start", "end"})
PLAIN = str.maketrans(
    dict.fromkeys("\u2018\u2019\u02bc", "'") | dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"')
)
# What a field that is not there counts as.
NOTHING: tuple[object, ...] = (None, "", [], {})


def fits(value: Any, wanted: Any, *, zone: ZoneInfo, before: Any = None, name: str = "") -> bool:
    """`before` is what the value was, `name` its field's name, and `zone` that of times without."""
    if isinstance(wanted, Mapping) and wanted and MATCHERS.keys() >= wanted.keys():
        return all(_matches(how, value, by, before, zone) for how, by in wanted.items())
    if wanted in NOTHING or value in NOTHING:
        return wanted in NOTHING and value in NOTHING
    if name in TIMES:
        return _moment(value, zone) == _moment(wanted, zone)
    if isinstance(wanted, date) and not isinstance(wanted, datetime):
        return bool(value == wanted.isoformat())
    if name in UNORDERED or name == "attendees":
        return sorted(map(_said, value)) == sorted(map(_said, wanted))
    return bool(value == wanted)


def fold(text: str) -> str:
    """A text as it is compared: in one case, with one kind of blanks and marks."""
    return " ".join(text.translate(PLAIN).casefold().split())


def _matches(how: str, value: Any, by: Any, before: Any, zone: ZoneInfo) -> bool:
    if how == "one_of":
        return any(fits(value, one, zone=zone) for one in by)
    if how == "appended":
        text, start = str(value or ""), str(before or "")
        return text.startswith(start) and fits(text[len(start) :], by, zone=zone)
    if how in ("added", "removed"):
        new, old = list(value or ()), list(before or ())
        more, less = (new, old) if how == "added" else (old, new)
        return _entries_fit([one for one in more if one not in less], by, zone)
    return bool(MATCHERS[how](str(value if value is not None else ""), by))


def _entries_fit(entries: Sequence[Any], wanted: Sequence[Any], zone: ZoneInfo) -> bool:
    return len(entries) == len(wanted) and all(
        any(fits(_said(entry), one, zone=zone) for entry in entries) for one in wanted
    )


def _parts(by: Any) -> list[str]:
    return [str(one) for one in (by if isinstance(by, list) else [by])]


MATCHERS: Mapping[str, Any] = {
    "contains": lambda text, by: all(fold(part) in fold(text) for part in _parts(by)),
    "excludes": lambda text, by: all(fold(part) not in fold(text) for part in _parts(by)),
    "matches": lambda text, by: bool(re.search(by, text, re.IGNORECASE | re.DOTALL)),
    "any": lambda text, by: (text not in ("", "[]", "{}")) is bool(by),
    "one_of": None,
    "appended": None,
    "added": None,
    "removed": None,
}


def _said(entry: Any) -> str:
    """An entry of a list by what it says: a comment's text, an attendee's address."""
    if isinstance(entry, Mapping):
        return str(entry.get("email") or entry.get("body") or entry)
    return str(entry)


def _moment(given: Any, zone: ZoneInfo) -> datetime | None:
    try:
        moment = given if isinstance(given, datetime) else datetime.fromisoformat(str(given))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
