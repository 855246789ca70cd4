"""“You extract tasks.”: numbered, bulleted and TODO lines become tasks."""

import json
import re

from sandbox.offline_model.language import one_line, shortened
from sandbox.offline_model.transcript import Json, Reply, Transcript

MOST_TASKS = 50
_MARKED = re.compile(
    r"\s{0,12}(?:(?:\d{1,3}[.)]|\(\d{1,3}\)|[-*•+])\s+(?P<box>\[[ xX]\]\s+)?"
    r"|(?:TODO|To do|Action item)\s?:\s*)(?P<rest>\S.*)"
)
# A hyphen or en dash divides only between spaces, so that CI/CD and sign-in stay whole.
_SEPARATOR = re.compile(r"\s+[-\u2013]\s+|\s*\u2014\s*|:\s+")
_URGENT = re.compile(r"\b(?:urgent|urgently|asap|critical|blocker|immediately)\b", re.IGNORECASE)


def extract(transcript: Transcript) -> Reply:
    tasks = tasks_in(transcript.given)
    return Reply(text=json.dumps({"tasks": tasks}, ensure_ascii=False))


def tasks_in(text: str) -> list[Json]:
    """One task a marked line, in order; ticked boxes and repeated titles are left out."""
    tasks: dict[str, Json] = {}
    for line in text.splitlines():
        task = _task(line)
        if task is not None and len(tasks) < MOST_TASKS:
            tasks.setdefault(str(task["summary"]).casefold(), task)
    return list(tasks.values())


def _task(line: str) -> Json | None:
    marked = _MARKED.match(line)
    if marked is None or "x" in (marked["box"] or "").lower():
        return None
    rest = one_line(marked["rest"])
    title, description = rest, ""
    separator = _SEPARATOR.search(rest)
    if separator is not None:
        title, description = rest[: separator.start()], rest[separator.end() :]
    title = title.strip(" *_`.;,")
    if not any(character.isalpha() for character in title):
        return None
    return {
        "summary": shortened(title, limit=200),
        "description": description.strip(" *_`"),
        "type": "task",
        "priority": "high" if _URGENT.search(rest) else "medium",
    }
