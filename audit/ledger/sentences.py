"""A row of the ledger as people read it. Pure; `verify.py` says the same, on its own."""

from collections.abc import Mapping
from typing import Any

STATES: Mapping[str, str] = {
    "pending": "Begun",
    "succeeded": "Done",
    "noop": "Already so",
    "failed": "Not done",
    "blocked": "Refused",
    "denied": "Refused",
    "waiting": "Waiting",
    "recorded": "Noted",
    "unknown": "Nobody can tell whether it was done",
}


def name_action(action_type: str) -> str:
    """The code of an action as words."""
    return action_type.replace("_", " ").replace(".", " ")


def say(action_type: str, status: str, payload: Mapping[str, Any]) -> tuple[str, str]:
    """What a row is about, in the words that were used when it was written, and the row as a
    sentence. Both are made of what its payload keeps, so they stay the same whatever is renamed
    later; where that was erased, the sentence has no names."""
    texts = [payload.get(name) for name in ("description", "name", "sentence")]
    called, name, why = (text if isinstance(text, str) else "" for text in texts)
    about = called or name
    what = (about or name_action(action_type)).removesuffix(".")
    sentence = f"{STATES.get(status, status)}: {what}."
    return about, f"{sentence} {why}" if why else sentence
