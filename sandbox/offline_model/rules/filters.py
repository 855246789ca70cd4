"""The words of a request as filters of list_items. Pure.

What no filter takes is left over: who counts must look at that, or the number would be that of
something else.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox.offline_model.language import word_set
from sandbox.offline_model.rules import dates
from sandbox.offline_model.rules.asked import KIND_WORDS, Asked
from sandbox.offline_model.rules.concepts import concepts_of

_NAME = (
    r"(?P<name>[^\W\d_][\w.'\u2019@+-]*"
    r"(?:\s+(?:van\s+|de\s+|von\s+)*[^\W\d_a-z][\w.'\u2019-]*){0,3})"
)
_ME = word_set("me i my myself mine mir mich ich meine meinen")
# What a request says, and the filter it is.
_PEOPLE: tuple[tuple[str, str], ...] = (
    ("assignee", rf"\b(?i:assigned to|responsible for|zugewiesen an)\s+{_NAME}"),
    ("assignee", rf"\b{_NAME}\s+(?i:zugewiesen)\b"),
    (
        "from_",
        r"\b(?i:reported|opened|filed|raised|created|sent|written|gemeldet|geschickt|angelegt)\s+"
        rf"(?i:by|from|von)\s+{_NAME}",
    ),
    # What was got counts only with its sender: mail of a day is also what the user sent.
    ("from_", rf"\b(?i:get|receive|received)\s+(?i:from)\s+{_NAME}"),
    ("from_", rf"\b(?i:from)\s+{_NAME}\s+(?i:did|have)\s+I\s+(?i:get|got|receive|received)\b"),
    ("from_", rf"\b(?i:von)\s+{_NAME}\s+(?i:bekommen|erhalten)\b"),
    ("from_", rf"\b(?i:from|by|von|vom)\s+{_NAME}"),
    (
        "from_",
        rf"\b(?i:did|has|have|hat|haben)\s+{_NAME}\s+(?i:send|sent|write|written|report|reported|"
        r"open|opened|geschickt|geschrieben|gesendet|gemeldet)\b",
    ),
    ("to", rf"\b(?i:to|an)\s+{_NAME}"),
    ("has", rf"\b{_NAME}\s+(?i:has|hat)\b"),
    ("has", rf"\b(?i:does|do|hat|has|have|habe)\s+{_NAME}(?:\s+(?i:have|has|got)\b)?"),
)
_PLACE = (
    r"\b(?i:in|of|for|does|im|in der|von|hat)\s+(?i:the\s+|dem\s+)?(?i:project\s+|projekt\s+)?"
    r"(?P<value>[A-Z][A-Z0-9]{1,9})\b"
)
_PROJECT = r"\b(?i:project|projekt)\s+(?P<value>[A-Z][A-Z0-9]{1,9})\b"
_OPEN = r"\b(?i:open|unfinished|not done|unresolved|offene?[nrs]?|unerledigte?[nrs]?)\b"
_DUE = r"\b(?i:due|deadline|fällig|frist)\b"
_OVERDUE = r"\b(?i:overdue|überfällig(?:e[nrs]?)?)\b"
_OF_MAIL: tuple[tuple[str, str], ...] = (
    ("unread", r"\b(?i:unread|new mails?|ungelesene?[nrs]?)\b"),
    (
        "unanswered",
        r"\b(?i:unanswered|wait(?:s|ing)? for (?:my|an?) (?:reply|answer)|"
        r"needs? (?:my|an?) (?:reply|answer)|unbeantwortete?[nrs]?|"
        r"warten auf (?:meine )?antwort)\b",
    ),
    ("with_files", r"\b(?i:with (?:an )?(?:attachments?|files?)|mit anh(?:ang|ängen))\b"),
)
_PRIORITY = (
    r"\b(?P<value>(?i:critical|highest|high|medium|lowest|low|trivial|blocker|kritisch\w*|"
    r"hohe[rn]?|niedrige[rn]?))(?i:[\s-]+(?:priority|priorität))?\b"
)
_STATUS = (
    r"\b(?P<value>(?i:closed|resolved|done|reopened|in progress|in review|cancelled|blocked|to do|"
    r"geschlossene?[nrs]?|geschlossen|erledigte?[nrs]?|erledigt|in arbeit|in bearbeitung))\b"
)
_BY = (
    r"\b(?i:by|per|for each|je|pro|nach)\s+"
    r"(?P<value>(?i:status|priority|assignee|sender|project|type|priorität))\b"
)
_IN_ENGLISH = {
    "geschlossen": "closed",
    "erledigt": "done",
    "in arbeit": "in progress",
    "in bearbeitung": "in progress",
    "kritisch": "critical",
    "hohe": "high",
    "niedrig": "low",
    "sender": "from",
    "priorität": "priority",
}
_REST = word_set(
    """have has had does do did are is be there in of the my me mine with priority priorität status
    project projekt projekts assigned reported sent send written write wrote list show find which
    what all any many currently now exist exists due got please tell give count number gibt es sind
    zugewiesen gemeldet geschickt zeig zeige liste nenne waiting waits wait reply answer need needs
    came come arrived kam kamen sort sorted to created opened filed raised by from for items item"""
)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The filters of a request. A `priority` is no filter of the tool; `by` is what to count by;
    `left` are words that nothing here takes."""

    filters: dict[str, Any]
    priority: str
    by: str
    left: tuple[str, ...]

    @property
    def says_something(self) -> bool:
        return bool(set(self.filters) - {"types"} or self.priority or self.by)


class _Reader:
    """Takes one filter after another out of a request."""

    def __init__(self, asked: Asked) -> None:
        self.rest = asked.text
        self.filters: dict[str, Any] = {"types": list(asked.types)}

    def take(self, how: str) -> re.Match[str] | None:
        found = re.search(how, self.rest)
        if found:
            self.rest = f"{self.rest[: found.start()]} {self.rest[found.end() :]}"
        return found

    def value(self, how: str) -> str:
        """What stood there, in English; nothing where it is not said."""
        found = self.take(how)
        plain = found["value"].casefold() if found else ""
        known = (english for german, english in _IN_ENGLISH.items() if plain.startswith(german))
        return next(known, plain)

    def take_of_mail(self) -> None:
        for name, how in _OF_MAIL:
            if self.take(how):
                self.filters |= {name: True, "types": ["email"]}

    def take_state(self) -> None:
        if status := self.value(_STATUS):
            self.filters["status"] = status
        if self.take(_OPEN):
            self.filters["open_only"] = True
        if {"status", "open_only"} & self.filters.keys():
            self.filters["types"] = self.filters["types"] or ["issue"]

    def take_days(self, now: datetime) -> None:
        span = dates.span_in(self.rest, now=now)
        if span:
            self.rest = self.rest.replace(span.said, " ")
        if self.take(_OVERDUE):
            day = now.date().isoformat()
            self.filters |= {"due_until": day, "open_only": True, "order": "due"}
        elif self.take(_DUE):
            if span:
                self.filters |= {
                    "due_from": span.since.isoformat(),
                    "due_until": span.until.isoformat(),
                    "order": "due",
                }
        elif span:
            self.filters |= {"since": span.since.isoformat(), "until": span.until.isoformat()}

    def take_place(self) -> None:
        if found := self.take(_PROJECT) or self.take(_PLACE):
            self.filters["place"] = found["value"]

    def take_people(self) -> None:
        for name, how in _PEOPLE:
            found = re.search(how, self.rest)
            person = _person(found["name"]) if found else ""
            if found is None or not person or (name == "has" and self._has_people()):
                continue
            self.rest = f"{self.rest[: found.start()]} {self.rest[found.end() :]}"
            which = name
            if name == "has":
                which = "assignee" if self.filters["types"] in ([], ["issue"]) else "to"
            # What is the user's beside tasks is all there is.
            if which == "assignee" or person != "me":
                self.filters.setdefault(which, person)
        is_mine = re.search(r"\b(?i:my|meine[nr]?)\b", self.rest)
        if is_mine and "issue" in self.filters["types"] and not self._has_people():
            self.filters["assignee"] = "me"

    def _has_people(self) -> bool:
        return bool({"assignee", "from_", "to"} & self.filters.keys())


def read(asked: Asked, *, now: datetime) -> Wanted:
    """What of a request are filters."""
    reader = _Reader(asked)
    priority = reader.value(_PRIORITY)
    reader.take_of_mail()
    reader.take_state()
    reader.take_days(now)
    by = reader.value(_BY)
    reader.take_place()
    reader.take_people()
    left = tuple(one.word for one in concepts_of(reader.rest, without=KIND_WORDS | _REST))
    return Wanted(filters=reader.filters, priority=priority, by=by, left=left)


def _person(name: str) -> str:
    """A name or an address; me for the user; nothing for what is none."""
    bare = re.sub(r"['\u2019]s?$", "", name.rstrip(".?!"))
    if bare.casefold() in _ME:
        return "me"
    is_name = bare[:1].isupper() or "@" in bare
    return bare if is_name and bare.casefold().split()[0] not in KIND_WORDS else ""
