"""“You are Remit's issue reader.”: what a new issue is to be given, and which one it repeats.

A component or label fits where its name stands in the summary or text; the priority is highest
where the issue tells of an outage; an issue is repeated where all words of its summary are the
same. No instruction in the issue is followed.
"""

import re

from sandbox.offline_model.transcript import (
    Call,
    Reply,
    Transcript,
    as_object,
    as_objects,
    as_text,
    marked_line,
)

_WORD = re.compile(r"[^\W\d_]{3,}")
_URGENT = re.compile(
    r"\b(?:outage|data loss|crash(?:es|ed)?|down for|security hole)\b", re.IGNORECASE
)


def next_reply(transcript: Transcript) -> Reply:
    item = as_object(marked_line(transcript.request, "item"))
    offer = transcript.offer("suggest_triage")
    if not offer or not item:
        return Reply(text="I could not read the issue, so I left it for the person.")
    summary = as_text(item.get("summary"))
    said = f"{summary} {as_text(item.get('text'))}"
    found = {
        "component": _named(offer.choices("component"), said),
        "label": _named(offer.choices("label"), said),
        "priority": offer.choice("priority", "highest") if _URGENT.search(said) else None,
        "duplicate_of": _same(as_objects(item.get("may_repeat")), summary),
    }
    arguments = {name: value for name, value in found.items() if value}
    if not arguments:
        return Reply(text="Nothing about the issue is clear enough to be suggested.")
    if remaining := transcript.remaining((Call(name="suggest_triage", arguments=arguments),)):
        return Reply(calls=remaining)
    return Reply(text="I suggested what the issue is to be given.")


def _named(choices: tuple[str, ...], said: str) -> str | None:
    """The one choice whose name is said."""
    fitting = [one for one in choices if _words(one) and _words(one) <= _words(said)]
    return fitting[0] if len(fitting) == 1 else None


def _same(candidates: tuple[dict[str, object], ...], summary: str) -> str | None:
    for one in candidates:
        if _words(as_text(one.get("summary"))) == _words(summary):
            return as_text(one.get("key"))
    return None


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}
