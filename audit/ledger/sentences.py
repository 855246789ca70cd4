"""A row of the ledger as people read it. Pure; `verify.py` says the same, on its own."""

import re
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
COLON = re.compile(r"\A([^“]*?): (?=[“(])")  # before what the action is about
# How a sentence ends that says its state twice, and what is left of that.
AGAIN: Mapping[str, tuple[str, str]] = {
    "succeeded": (". Done.", "."),
    "noop": (". Nothing to do: it is already like this.", "."),
    "failed": ("; nothing was done.", "."),
    "blocked": (", so nothing was done.", "."),
    "unknown": (
        ". Nobody could find out whether the provider did this: please check.",
        ". Please check.",
    ),
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
    what = COLON.sub(r"\1 ", what)
    sentence = f"{STATES.get(status, status)}: {what}.{why and f' {why}'}"
    again, left = AGAIN.get(status, ("", ""))
    return about, sentence.removesuffix(again) + left if sentence.endswith(again) else sentence
