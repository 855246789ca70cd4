"""What the records say, in the user's language: the lines that Remit itself adds to an answer.

They are made from codes and parameters with Django's translations (`locale/`), so that the ledger
stays in the one language that it is proved in. What has no translation is said in English.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from agents.answer.claims import DONE, NOT_DONE, Action
from guardrails.actions.registry import BY_NAME
from guardrails.facts.reasons import NO_ROOM, SENTENCES
from integrations.web.languages import speaking

LISTED = 20  # actions listed in a text
STATUS_WORDS = {
    "succeeded": "done",
    "noop": "was already like that",
    "pending": "waits for a confirmation, not done",
    "held": "held, not done yet",
    "refused": "refused, not done",
    "failed": "failed, not done",
    "unknown": "not known whether it happened",
}
COUNTED = (
    ("%(number)d done", DONE),
    ("%(number)d waiting for a decision", frozenset({"pending"})),
    ("%(number)d held", frozenset({"held"})),
    ("%(number)d refused", frozenset({"refused"})),
    ("%(number)d failed", frozenset({"failed"})),
    ("%(number)d of unknown outcome", frozenset({"unknown"})),
)
CORRECTION, RECORD = "Correction from the records", "From the records"
NOTHING_DONE = "nothing was sent, created or changed in this turn."
MORE = "and %(number)d more"
NO_ACTION, ACTIONS = "No action was carried out.", "Actions: %(counts)s."
LATE = "What you decided came too late"
NOT_AS_SHOWN = (
    "Nothing was decided, because it was changed or handed on since it was shown. Look at it again."
)
BUTTONS = "This waits for you. Please decide with its button:"
_NAMES = ("summary", "title", "name", "subject")  # arguments that people know a thing by
_QUOTED = re.compile(r"“([^”]*)”")


def say(sentence: str, *, language: str) -> str:
    """One of Remit's own sentences in a language."""
    with speaking(language):
        return gettext(sentence)


def _title(action: Action) -> str:
    known = BY_NAME.get(action["type"])
    return gettext(known.title) if known else _one_line(action["type"])


def describe(action: Action) -> str:
    """The action in one line: as the record has it, or in another language what it is and what
    it is done to."""
    recorded = _one_line(action.get("description") or action["type"])
    known = BY_NAME.get(action["type"])
    if known is None or (title := gettext(known.title)) == known.title:
        return recorded
    params = action.get("params") or {}
    named = next((params[name] for name in _NAMES if isinstance(params.get(name), str)), "")
    quoted = _QUOTED.search(recorded)
    about = named or (quoted.group(1) if quoted else "")
    return f"{title}: “{_one_line(about)}”" if about else title


def fold(actions: Sequence[Action]) -> list[tuple[Action, int]]:
    """The actions, each with how many it stands for: those that found no room for one more
    question are one line for each type, however many they are."""
    found: dict[object, tuple[Action, int]] = {}
    for at, action in enumerate(actions):
        key = (action["type"], action["reason"]) if action.get("reason") in NO_ROOM else at
        first, times = found.get(key, (action, 0))
        found[key] = first, times + 1
    return list(found.values())


def sentence_of(action: Action) -> str:
    """Why it came out as it did. What belongs to this case alone follows as it was recorded."""
    recorded = str(action.get("sentence") or "")
    known = SENTENCES.get(str(action.get("reason")), "")
    if known and recorded.startswith(known):
        return gettext(known) + recorded[len(known) :]
    return gettext(recorded) if recorded else ""


def render_correction(actions: Sequence[Action], *, contradicts: bool) -> str:
    """What the records say, item by item, in words for people."""
    head = gettext(CORRECTION if contradicts else RECORD)
    if not actions:
        return f"{head}: {gettext(NOTHING_DONE)}"
    folded = fold(actions)
    lines = [f"- {_line(action, times=times)}" for action, times in folded[:LISTED]]
    more = len(folded) - LISTED
    return "\n".join(
        [f"{head}:", *lines, *([f"- {gettext(MORE) % {'number': more}}"] if more > 0 else [])]
    )


def render_late(decisions: Sequence[Mapping[str, Any]]) -> str:
    """What the user decided about what had been decided before, and what is true of it; empty
    where nothing came too late."""
    late = [one for one in decisions if one.get("late")]
    lines = [f"- {_line(one, handled=True)}" for one in late[:LISTED]]
    return "\n".join([f"{gettext(LATE)}:", *lines]) if late else ""


def render_buttons(waiting: Sequence[str]) -> str:
    """Where to decide about what waits."""
    return "\n".join([gettext(BUTTONS), *(f"- {_one_line(one)}" for one in waiting[:LISTED])])


def render_record(actions: Sequence[Action]) -> str:
    """How many actions are how far: one sentence that every answer carries."""
    if not actions:
        return gettext(NO_ACTION)
    counts = [
        gettext(words) % {"number": number}
        for words, statuses in COUNTED
        if (number := sum(action["status"] in statuses for action in actions))
    ]
    return gettext(ACTIONS) % {"counts": ", ".join(counts)}


def _line(action: Action, *, handled: bool = False, times: int = 1) -> str:
    """“Archive “A”: refused, not done. Why.”"""
    status = str(action["status"])
    why = ""
    if handled and status == "pending":
        why = gettext(NOT_AS_SHOWN)
    elif handled:
        why = f"{_one_line(action.get('handled') or '')}."
    elif status in NOT_DONE:
        why = _one_line(sentence_of(action))
    what = describe(action) if times == 1 else f"{_title(action)} ({times}x)"
    said = f"{what}: {gettext(STATUS_WORDS.get(status, status))}."
    return f"{said} {why}".rstrip() if why.strip(".") else said


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:199]}…"
