"""Every line of Remit's own that people read on a card or in a change request, as its template."""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args

from audit.ledger import people
from guardrails.actions.files.share_document import ShareDocumentArguments
from guardrails.actions.issues.issues import IssueType
from guardrails.actions.registry import ACTIONS
from guardrails.approve import card_text, cards, change_request_rows, change_requests, exposed
from guardrails.decide.checks.asking import WRITTEN
from guardrails.decide.conditions.base import Condition
from guardrails.decide.conditions.vocabulary import CONDITIONS
from guardrails.decide.provenance import IN_WORDS
from guardrails.facts.effects import IN_WORDS as EFFECTS
from guardrails.facts.exposure import TAINTS
from guardrails.facts.targets import TargetKind
from guardrails.policies.differences import CARDINALITIES, HELD, MODES
from guardrails.words.moments import MONTHS, WEEKDAYS

ROOT = Path(__file__).parents[2] / "guardrails"
SAYING = frozenset({"phrase", "fill", "gettext", "gettext_noop", "reaching"})
CALLED = re.compile(rf"\b(?:{'|'.join(sorted(SAYING))})\b")
HOLE = re.compile(r"%\(\w+\)s")
COUNTED = ("mail", "receiver", "new receiver", "thing", "time")  # by conditions
UNITS = ("day", "hour", "minute", "second")
# What argument names do not say: what changes, and whom something reaches by facts alone.
BESIDE = {
    *("in the inbox", "read", "in the trash", "on the calendar", "folder", "readers", "draft"),
    *("end of the text", "event people", "issue project key", "document readers"),
    *("folder readers", "document owner", "mailbox"),
}
KINDS = {"document", "event", "email", "mail", "issue"}
ROLES = {"reader", "commenter", "writer", "owner", "attendee", "receiver"}


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def written_in(folder: Path) -> Iterator[str]:
    """What is written out where a line is made."""
    for path in folder.rglob("*.py"):
        code = path.read_text("utf-8")
        if not CALLED.search(code):  # most; reading all as code takes a second
            continue
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Call) and _called(node) in SAYING:
                for given in node.args[:2]:
                    if isinstance(given, ast.Constant) and isinstance(given.value, str):
                        yield given.value


def _in_words_of(condition: type[Condition]) -> Mapping[str, str]:
    """What a kind of condition has words for in a table."""
    found: Mapping[str, str] = vars(sys.modules[condition.__module__]).get("IN_WORDS", {})
    return found


@cache
def on_cards() -> set[str]:
    found = {line for line in written_in(ROOT) if re.search("[a-zA-Z]", HOLE.sub("", line))}
    plain: Any = ShareDocumentArguments.model_fields["role"].annotation
    assert set(get_args(plain)) <= ROLES
    return {
        *found,
        *BESIDE,
        *KINDS,
        *ROLES,
        *(name.replace("_", " ") for one in ACTIONS for name in one.arguments.model_fields),
        *get_args(get_args(IssueType)[0]),
        *(f"the {kind} %(title)s" for kind in ("document", "event", "email")),
        *(f"1 {unit}" for unit in UNITS),
        *(f"%(number)s {unit}s" for unit in UNITS),
        *(kind.replace("_", " ").capitalize() for kind in get_args(TargetKind)),
        *(f"%(name)s {verb}: %(sides)s" for verb in ("added", "changed", "removed")),
        *("“%(words)s” means this mail", "“%(words)s” means this event"),
        *("one time code", "iban", "card", "token", "operator", "group"),
        people.COMMAND,
        *IN_WORDS.values(),
        *EFFECTS.values(),
        *TAINTS.values(),
        *(line for one in CONDITIONS for line in _in_words_of(one).values()),
        *(f"1 {noun}" for noun in COUNTED),
        *(f"%(number)s {noun}s" for noun in COUNTED),
        *WRITTEN.values(),
        *MODES.values(),
        *CARDINALITIES.values(),
        *exposed.SENSITIVE.values(),
        *(*WEEKDAYS, *MONTHS, HELD),
        *(cards.UNKNOWN, cards.IN_CHANGE, cards.THERE_ALREADY, cards.DELEGATED),
        *(exposed.AS, exposed.FORMERLY, exposed.READ, exposed.SEEN, exposed.SEEN_BY_NOBODY),
        *(exposed.BELONGS, exposed.WRITTEN, exposed.PASSAGE_CUT, exposed.NOT_NAMED),
        *(card_text.CHANGES, "What they read: %(text)s"),
        *(change_request_rows.WAITS, change_request_rows.APPROVED, change_request_rows.DECLINED),
        *(change_requests.ENOUGH, change_requests.NO_POLICY),
        *("%(why)s %(detail)s", "%(one)s or %(other)s", "%(most)s or %(last)s"),
        *("%(what)s: %(because)s.", "%(what)s was %(written)s.", "“%(title)s”"),
        *("%(day)s, %(time)s %(zone)s", "%(weekday)s %(day)s %(month)s %(year)s"),
    }
