"""What keeps a run from going in circles: a pure look at the calls it has made so far.

A call is judged beside the other calls of its run (one agent at work in one turn), which are
rows, so any process that goes on with the run judges alike. A *round* is one step: calls that
a model asks for side by side are one round, however many they are.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from agents.contracts import CallRecord, ToolResult, failure
from integrations.mail.text import normalised

DUPLICATE_WINDOW = timedelta(seconds=60)
LOOP_WINDOW = timedelta(seconds=120)
LOOP_ROUNDS = 3
REST = timedelta(seconds=120)
REST_FAILURES = 3

REFUSED = frozenset({"DUPLICATE_CALL", "TOO_MANY_CALLS"})
# The tool is at fault, whatever it was called with.
BROKEN = frozenset({"EXECUTION_FAILED", "TIMEOUT", "NETWORK_ERROR", "RATE_LIMIT"})
# To ask again cannot change it.
FINAL = frozenset({"PERMISSION_DENIED"})


@dataclass(frozen=True, kw_only=True)
class PastCall:
    """A call as the guards see it. `identity` is equal for calls that do the same; `at` is when
    it ended, or was asked for while it is open."""

    tool: str
    identity: str
    round: int
    at: datetime
    open: bool = False
    code: str | None = None  # of a failure; None with success
    acts: bool = False
    repeats: bool = False  # each call that succeeds is work done, not a round of a loop

    @property
    def stands(self) -> bool:
        """A result is there or coming that the same call would only give again."""
        if self.open or self.code is None or self.code in FINAL:
            return True
        return self.acts and self.code == "TIMEOUT"  # it may still be at work


def find_duplicate(call: PastCall, before: Sequence[PastCall], now: datetime) -> ToolResult | None:
    """The same call, seconds ago or beside it, whose result stands. A failure that may pass is
    no such result: to try again is right."""
    for other in before:
        if (other.tool, other.identity) != (call.tool, call.identity) or not other.stands:
            continue
        if now - other.at < DUPLICATE_WINDOW:
            return failure(
                "DUPLICATE_CALL",
                "The same call was made a moment ago, so it was not run again.",
                suggested_action="Use the result it gave, or ask for something else.",
            )
    return None


def find_circle(call: PastCall, before: Sequence[PastCall], now: datetime) -> ToolResult | None:
    """A tool that has been called in LOOP_ROUNDS rounds within LOOP_WINDOW, whatever the
    arguments."""
    rounds = {
        other.round
        for other in before
        if other.tool == call.tool
        and other.round != call.round
        and other.code not in REFUSED
        and not (other.repeats and other.code is None)
        and now - other.at < LOOP_WINDOW
    }
    if len(rounds) < LOOP_ROUNDS:
        return None
    return failure(
        "TOO_MANY_CALLS",
        f"{call.tool} was called {len(rounds)} times in the last "
        f"{LOOP_WINDOW.seconds} seconds, so it was not run again.",
        suggested_action="Go on with what you have, and say what is missing.",
    )


def find_resting(call: PastCall, before: Sequence[PastCall], now: datetime) -> ToolResult | None:
    """A tool that broke REST_FAILURES rounds in a row rests for a while."""
    if call.tool not in find_resting_tools(before, now):
        return None
    return failure(
        "TOO_MANY_CALLS",
        f"{call.tool} failed {REST_FAILURES} times in a row and is not available for now.",
        suggested_action="Find another way, or say what could not be done.",
    )


def refuse_beyond_limit() -> ToolResult:
    """Of a call in a step of more calls than the turn has left."""
    return failure("TOO_MANY_CALLS", "The turn has no tool calls left, so it was not run.")


def find_resting_tools(calls_so_far: Sequence[PastCall], now: datetime) -> frozenset[str]:
    """Tools whose last REST_FAILURES rounds broke, the last of them within REST."""
    found = set()
    for tool in {call.tool for call in calls_so_far}:
        rounds: dict[int, list[PastCall]] = {}
        for call in calls_so_far:
            if call.tool == tool and not call.open and call.code not in REFUSED:
                rounds.setdefault(call.round, []).append(call)
        last = [rounds[number] for number in sorted(rounds)[-REST_FAILURES:]]
        broke = [all(call.code in BROKEN for call in calls) for calls in last]
        if broke == [True] * REST_FAILURES and now - max(c.at for c in last[-1]) < REST:
            found.add(tool)
    return frozenset(found)


def canonical(value: Any, *, fold: bool) -> str:
    """One text for all forms of the same arguments: order of keys and of lists, white space,
    forms of letters, and what is empty make no difference; nor does case, if `fold`."""
    return json.dumps(_canonical(value, fold=fold), ensure_ascii=False, sort_keys=True)


def _canonical(value: Any, *, fold: bool) -> Any:
    if isinstance(value, str):
        text = " ".join(normalised("NFKC", value).split())
        return text.casefold() if fold else text
    if isinstance(value, Mapping):
        items = {str(key): _canonical(item, fold=fold) for key, item in value.items()}
        return {key: item for key, item in items.items() if item not in (None, "", [], {})}
    if isinstance(value, list | tuple):
        return sorted((_canonical(item, fold=fold) for item in value), key=_order)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _order(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def code_of(call: CallRecord) -> str | None:
    """The code of a call that failed; None of one that worked or is open."""
    if call.result is None or call.result.get("success"):
        return None
    return str((call.result.get("error") or {}).get("code") or "EXECUTION_FAILED")


def list_items(calls: Sequence[CallRecord]) -> frozenset[UUID]:
    """Ids of the items that results of these calls have shown."""
    found = set()
    for call in calls:
        items = ((call.result or {}).get("data") or {}).get("items")
        for item in items if isinstance(items, list) else ():
            try:
                found.add(UUID(str(item["id"])))
            except (KeyError, TypeError, ValueError):
                continue
    return frozenset(found)


def find_skill(calls: Sequence[CallRecord]) -> str:
    """The skill that the last successful one of these calls loaded, name@version."""
    for call in reversed(calls):
        data = (call.result or {}).get("data")
        if call.name == "load_skill" and isinstance(data, dict) and "version" in data:
            return f"{data.get('name')}@{data['version']}"
    return ""
