"""Which values of free arguments, whose meaning only somebody else's tool knows, name people. Pure.

A value that is nothing but one plain address is a receiver. One that is nothing but addresses in
any other form (several, with names, with letters that resemble others) is refused: what would be
compared is not what would be sent. An address within other words is text.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from guardrails.facts.targets import address_or_none
from guardrails.facts.text import is_hidden
from integrations.mail.text import normalised

# Loose on purpose: whatever some reader of addresses could take for one.
_ADDRESS = (
    r"(?:\"[^\"]*\"|[^\s<>()@,;:\"]+)@(?:[^\s<>()@,;:/?#\".\u3002]+[.\u3002])+[^\W\d_]{2,}\.?"
)
_SIGNS = frozenset("@\uff20\ufe6b")
_ENTRY = re.compile(
    rf"(?:\"[^\"]*\"|[^<>@,;\"])*<\s*(?:mailto:)?{_ADDRESS}[^<>]*>"
    rf"|(?:mailto:)?{_ADDRESS}(?:\?\S*)?"
)
_BETWEEN = re.compile(r"(?:[\s,;]|\([^()]*\))*")
_GROUP = re.compile(r"(?!mailto:)[^:@]{0,64}:(?=.)")


def check(text: str) -> None:
    """Raises ValueError for addresses in any form but one plain address."""
    if not _SIGNS.intersection(text) or address_or_none(text) == text:
        return
    folded = normalised("NFKC", text)
    seen = (one for one in folded if one.isspace() or not is_hidden(one))
    if _is_all_addresses("".join(" " if one.isspace() else one for one in seen)):
        raise ValueError("holds an address that is not by itself in plain form, as ada@company.com")


def _is_all_addresses(text: str) -> bool:
    """Read from the start and given up at the first other word, so that no text takes long."""
    group = _GROUP.match(text)
    at, found = (group.end() if group else 0), False
    while (at := _end(_BETWEEN, text, at)) < len(text):
        entry = _ENTRY.match(text, at)
        if entry is None:
            return False
        at, found = entry.end(), True
    return found


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def people(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every address of a value that passed `check`, with its path."""
    if isinstance(value, str):
        if address_or_none(value) == value:
            yield path, value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from people(one, f"{path}.{name}")
    elif isinstance(value, list | tuple):
        for index, one in enumerate(value):
            yield from people(one, f"{path}[{index}]")
