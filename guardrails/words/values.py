"""Whether a value is one that the person's words name, however they write it, and how they were
read. Pure."""

import re
from datetime import date
from decimal import Decimal, InvalidOperation

from guardrails.facts import phrases
from guardrails.facts.text import visible
from guardrails.words.moments import clock_of, day_of, instant
from guardrails.words.times import Said

NUMBER = re.compile(r"(?<![\w.,+-])[+-]?\d{1,15}(?:[.,'’ \u00a0\u202f]\d{1,15}){0,5}(?![\w])")  # noqa: RUF001
GROUPED = re.compile(r"[+-]?\d{1,3}([.,'’ \u00a0\u202f])\d{3}(?:\1\d{3})*(?:[.,]\d+)?")  # noqa: RUF001
MOST_NUMBERS = 200


def time_said(value: str, said: Said) -> str:
    """How the words were read as this time or day, in ISO 8601; empty where they do not say it."""
    if at := instant(value):
        phrase = said.times.get(at)
        return _read_as(phrase, clock_of(at, said.zone)) if phrase else ""
    try:
        day = date.fromisoformat(value) if len(value) == 10 else None
    except ValueError:
        return ""
    phrase = said.days.get(day) if day else None
    return _read_as(phrase, day_of(day)) if phrase and day else ""


def number_said(value: str, words: str) -> str:
    """How the words were read as this number; empty where they do not say it."""
    wanted = _decimal(value)
    if wanted is None:
        return ""
    for count, found in enumerate(NUMBER.finditer(words)):
        if count == MOST_NUMBERS:
            break
        if wanted in _numbers(found[0]):
            return _read_as(found[0], value)
    return ""


def _read_as(phrase: str, value: str) -> str:
    return phrases.phrase("“%(words)s” read as %(value)s", words=visible(phrase), value=value)


def _numbers(text: str) -> set[Decimal | None]:
    """What a written number may mean: a comma is either end of the whole part or within it."""
    found = {_decimal(text), _decimal(text.replace(",", "."))}
    if grouped := GROUPED.fullmatch(text):
        found.add(_decimal(text.replace(grouped[1], "").replace(",", ".")))
    return found - {None}


def _decimal(text: str) -> Decimal | None:
    first = text.lstrip()[:1]
    if not (first.isdigit() or first in "+-._"):
        return None  # words, of which there are many more than numbers
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None
