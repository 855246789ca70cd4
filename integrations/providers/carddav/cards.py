"""Whom a card of an address book names. Read in a child process: others may have written it.

A card is one person. What says that it is a group, and what has more addresses than a person has,
names nobody.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from integrations.child import Child, Unreadable
from integrations.providers.carddav.child import FOUND, Found

CHILD = Child("integrations.providers.carddav.child")
MAX_CARD_BYTES = 1024 * 1024  # photos are in it


@dataclass(frozen=True, kw_only=True)
class Card:
    """Empty for one that names nobody, or cannot be read."""

    name: str = ""
    addresses: tuple[str, ...] = ()


def read(contents: Mapping[str, bytes]) -> dict[str, Card]:
    """By path. Raises integrations.child.Ended."""
    fitting = {path: raw for path, raw in contents.items() if len(raw) <= MAX_CARD_BYTES}
    found = dict(zip(fitting, _parsed(list(fitting.values())), strict=True))
    return {path: found.get(path, Card()) for path in contents}


def _parsed(contents: list[bytes]) -> list[Card]:
    """All at once, or each by itself where one of them breaks the child."""
    try:
        said: Found = FOUND.validate_json(CHILD.ask(contents))
    except (Unreadable, ValidationError):
        if len(contents) > 1:
            return [_parsed([one])[0] for one in contents]
        return [Card()] * len(contents)
    return [Card(name=name, addresses=tuple(addresses)) for name, addresses in said]
