"""Whether a second yes is that of another person. Pure.

Who says something is known by several names: as an operator, as a user of the agent, or as both.
Two who share a name are taken for one person.
"""

from collections.abc import Set
from typing import Literal

Doubt = Literal["", "unknown", "same", "requester"]


def doubt_second(who: Set[str], *, first: Set[str], requesters: Set[str]) -> Doubt:
    """Why this is not the second of two people; empty: it is. `first` said yes before, and
    `requesters` are those whose account it is and who asked for the action. Nobody is known by no
    name: that is never another person."""
    if not (who and first):
        return "unknown"
    if who & first:
        return "same"
    return "requester" if who & requesters else ""
