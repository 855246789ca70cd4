"""What an answer says was done, held against what the records say was done.

The records decide, not the words: refusals and failures that an answer leaves out are added,
whatever language it is in. A claim of something done is looked for by its verbs in a few
languages (`agents.answer.deeds`); a claim in other words stands beside the records, which every
answer carries.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from agents.answer.deeds import find_claims, find_denials
from agents.answer.verbs import ANYTHING, EVERY_KIND

DONE = frozenset({"succeeded", "noop"})
NOT_DONE = frozenset({"refused", "failed", "unknown"})

Action = Mapping[str, Any]


def has_unsupported(text: str, done_types: Collection[str]) -> bool:
    """Whether the text claims something of which no action of a fitting type was done."""
    return any(not kind.types & set(done_types) for kind in find_claims(text))


def denies(text: str, actions: Sequence[Action]) -> bool:
    """Whether the text says that nothing was done, or nothing of a kind, where something was."""
    done = {action["type"] for action in actions if action["status"] == "succeeded"}
    if not done or find_claims(text):
        return False
    return any(
        kind is EVERY_KIND or (kind.types - {ANYTHING}) & done for kind in find_denials(text)
    )


def list_done_types(actions: Sequence[Action]) -> frozenset[str]:
    return frozenset(action["type"] for action in actions if action["status"] in DONE)


def omits_refusals(
    text: str, actions: Sequence[Action], *, why: Callable[[Action], str] = lambda action: ""
) -> bool:
    """Whether something was refused or failed and the text does not say so in the words of
    the record, or in those that `why` has for it."""
    said = _plain(text)
    return not all(
        any(words and _plain(words) in said for words in (action.get("sentence"), why(action)))
        for action in list_not_done(actions)
    )


def list_not_done(actions: Sequence[Action]) -> tuple[Action, ...]:
    """What was refused or failed and was not made up for: a corrected attempt is no gap."""
    return tuple(
        action
        for place, action in enumerate(actions)
        if action["status"] in NOT_DONE
        and not any(_corrects(later, action) for later in actions[place + 1 :])
    )


def _corrects(later: Action, action: Action) -> bool:
    """Whether it is the same wish in other words: of the arguments that either has, most are the
    same."""
    if later["type"] != action["type"] or later["status"] in NOT_DONE:
        return False
    before, after = action.get("params") or {}, later.get("params") or {}
    if not before or not after:
        return bool(later.get("description") == action.get("description"))
    same = sum(name in after and after[name] == value for name, value in before.items())
    return bool(2 * same >= len(before.keys() | after.keys()))


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).casefold().strip()
