"""What a prompt keeps of the turns before the present one: by tokens, and without a model. Pure.

The newest are shown whole but for long results and arguments; of older ones the beginning of what
was said. What a turn becomes depends on that turn alone, and the border between the two moves
seldom and far: so what is sent stays the same, byte by byte, from turn to turn, and an endpoint
finds it in its cache.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents.context import results, truncation
from agents.context.messages import Wire, split_chains, to_wire
from agents.contracts import CallRecord, StepRecord, TurnRecord
from agents.journal.steps import ASK_USER

NEWEST_TOKENS = 3_000  # of turns that are shown whole; at least the last one is
LONG_BYTES = 600  # a longer result or argument of an earlier turn is shortened
PASSAGE_CHARS = 240
MOST_ITEMS = 20
# Characters of what was said in an older turn, up to so many of these; then the last ones.
SIZES = ((300, 8), (160, 20))
LEAST_CHARS = 80
CITED = re.compile(r"\[(\d{1,4})\]")
SHORTENED = "Shortened: open_item reads an item again by its id."
NOTE: Wire = {
    "role": "system",
    "content": "Of the oldest turns of this conversation you see how what was said begins, and "
    "nothing of what was looked up. Before you rely on more of them, search again, read an item "
    "with open_item, or ask the user.",
}
LEFT_OUT: Wire = {
    "role": "system",
    "content": "The oldest turns of this conversation had no room and are left out. What was said "
    "in them you cannot know: look it up, or ask the user.",
}


def keep(
    turns: Sequence[TurnRecord], *, continues: bool = False
) -> tuple[list[TurnRecord], list[TurnRecord]]:
    """The older and the newest of `turns` (oldest first, without the present one), as they are
    shown. An answer stays with its question; where the present turn is one, it `continues` what was
    looked up for the question, and that stays as it was."""
    oldest = [turn for turn in turns if not turn.is_whole]
    chains = split_chains(turns[len(oldest) :])
    present = chains.pop() if continues and chains else []
    chains = [[_shorten(turn) for turn in chain] for chain in chains]
    first = _first_newest([truncation.count_tokens(to_wire(chain)) for chain in chains])
    older = [*oldest, *(turn for chain in chains[:first] for turn in chain)]
    chars = next((chars for chars, most in SIZES if len(older) <= most), LEAST_CHARS)
    return (
        [_begin(turn, before, chars) for before, turn in zip([None, *older], older, strict=False)],
        [turn for chain in [*chains[first:], present] for turn in chain],
    )


def _first_newest(sizes: Sequence[int]) -> int:
    """Counted from the first one on, as it was counted when these were the newest."""
    first, total = 0, 0
    for index, size in enumerate(sizes):
        total += size
        if total > NEWEST_TOKENS:
            while first < index and total > NEWEST_TOKENS // 2:
                total -= sizes[first]
                first += 1
    return first


def _begin(turn: TurnRecord, before: TurnRecord | None, chars: int) -> TurnRecord:
    """What was said, without the steps in between."""
    said = turn.user_text if turn.user_text is not None else _answer(before)
    replied = turn.reply if turn.reply is not None else _last_words(turn)
    return TurnRecord(
        user_text=_cut(said, chars),
        decisions=(),
        steps=(),
        reply=_cut(replied, chars) or "(Nothing was said.)",
        person=_cut(turn.person, chars),
        id=turn.id,
        is_whole=False,
    )


def _last_words(turn: TurnRecord) -> str:
    """The last step's text, and the question that was asked in it."""
    said = turn.steps[-1].text if turn.steps else ""
    asked = [str(_load(call.arguments).get("question", "")) for call in _questions(turn)]
    return "\n".join(part for part in [said, *asked] if part)


def _answer(asked: TurnRecord | None) -> str:
    """What the user answered to the question of this turn."""
    found = [((call.result or {}).get("data") or {}) for call in _questions(asked)]
    return str(next((data["answer"] for data in found if "answer" in data), ""))


def _questions(turn: TurnRecord | None) -> list[CallRecord]:
    last = turn.steps[-1].calls if turn and turn.steps else ()
    return [call for call in last if call.name == ASK_USER]


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[:chars]} […]"


def _shorten(turn: TurnRecord) -> TurnRecord:
    said = turn.reply or (turn.steps[-1].text if turn.steps else "")
    cited = frozenset(map(int, CITED.findall(said)))
    return replace(turn, steps=tuple(_shorten_step(step, cited) for step in turn.steps))


def _shorten_step(step: StepRecord, cited: frozenset[int]) -> StepRecord:
    return replace(step, calls=tuple(_shorten_call(call, cited) for call in step.calls))


def _shorten_call(call: CallRecord, cited: frozenset[int]) -> CallRecord:
    arguments, result = call.arguments, call.result
    if len(arguments.encode()) > LONG_BYTES:
        arguments = results.fence(results.bound_result(_load(arguments), max_bytes=LONG_BYTES))
    if result is not None and results.count_bytes(result) > LONG_BYTES:
        result = shorten_result(result, cited)
    return replace(call, arguments=arguments, result=result)


def shorten_result(result: Mapping[str, Any], cited: frozenset[int]) -> dict[str, Any]:
    """What is kept of a long result: which items it had shown, by number, id and title, with a
    passage of those that were cited; of other data as much as fits into LONG_BYTES."""
    data = result.get("data")
    if not isinstance(data, Mapping):
        return dict(result)
    shorter: dict[str, Any]
    if items := results.list_items(data):
        listed = [_brief(item, cited) for item in items[:MOST_ITEMS]]
        shorter = {"items": listed, "shortened": SHORTENED}
        if len(items) > len(listed):
            shorter["shown"] = f"{len(listed)} of {len(items)}"
    elif results.is_item(data):
        shorter = _brief(data, cited) | {"shortened": SHORTENED}
    else:
        shorter = results.bound_result(data, max_bytes=LONG_BYTES)
    return {**result, "data": shorter}


def _brief(item: Mapping[str, Any], cited: frozenset[int]) -> dict[str, Any]:
    title = str(item.get("title", ""))[: results.TITLE_CHARS]
    brief = {"n": item["n"], "id": item["id"], "title": title}
    if item["n"] not in cited:
        return brief
    texts = (item.get(name) for name in ("text", "snippet", "summary"))
    passage = next((str(text) for text in texts if text), "")
    brief |= {name: item[name] for name in ("begins", "ends") if item.get(name)}
    return brief | ({"passage": _cut(passage, PASSAGE_CHARS)} if passage else {})


def _load(arguments: str) -> dict[str, Any]:
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"unreadable": arguments}
