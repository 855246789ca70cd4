"""What of a conversation a model is shown when not all of it fits: a pure choice.

In this order, until it fits: older tool results are shrunk, the oldest turns are left out whole,
then results and arguments of the present turn are cut. A call is never parted from its result,
an answer never from its question, and the present turn is always there.
"""

import json
from collections.abc import Sequence
from typing import Any

from agents.context import results
from integrations.llm.completions import estimated_tokens

Wire = dict[str, Any]
MESSAGE_TOKENS = 4  # what a message costs beside its text
LEFT_OUT = '{"left_out":"These arguments were long and are left out."}'
LEAST_BYTES = 300


def count_tokens(messages: Sequence[Wire]) -> int:
    """Rather too many than too few: texts, calls and arguments, and what holds them together."""
    return sum(_tokens(message) for message in messages)


def _tokens(message: Wire) -> int:
    calls = message.get("tool_calls")
    written = json.dumps(calls, ensure_ascii=False) if calls else ""
    return MESSAGE_TOKENS + estimated_tokens((message.get("content") or "") + written)


def fit_chains(chains: Sequence[Sequence[Wire]], *, max_tokens: int) -> list[Wire]:
    """The messages of `chains` that fit. A chain is what may only be left out as a whole; the
    last one is the present turn. What cannot be made to fit is as small as it can be."""
    chosen = _choose(chains, max_tokens)
    if sum(count_tokens(chain) for chain in chosen) > max_tokens:
        chosen[-1] = _cut(chosen[-1], max_tokens)
    return [message for chain in chosen for message in chain]


def count_left_out(chains: Sequence[Sequence[Wire]], *, max_tokens: int) -> int:
    """How many of `chains`, the oldest, would be left out whole."""
    return len(chains) - len(_choose(chains, max_tokens))


def _choose(chains: Sequence[Sequence[Wire]], max_tokens: int) -> list[list[Wire]]:
    chosen = [list(chain) for chain in chains]
    sizes = [count_tokens(chain) for chain in chosen]
    for index, chain in enumerate(chosen):
        if sum(sizes) <= max_tokens:
            break
        chosen[index] = shrink_older_results(chain, is_present=index == len(chosen) - 1)
        sizes[index] = count_tokens(chosen[index])
    while len(chosen) > 1 and sum(sizes) > max_tokens:
        del chosen[0], sizes[0]
    return chosen


def shrink_older_results(chain: Sequence[Wire], *, is_present: bool = False) -> list[Wire]:
    """The results of the present turn's last step stay: they are what it works on."""
    last = max((i for i, m in enumerate(chain) if m.get("tool_calls")), default=len(chain))
    return [
        _shrunk(message) if index < last or not is_present else message
        for index, message in enumerate(chain)
    ]


def _shrunk(message: Wire) -> Wire:
    if message["role"] != "tool":
        return message
    smaller = results.render_result(results.shrink_result(json.loads(message["content"])))
    return message | {"content": min(message["content"], smaller, key=len)}


def _cut(chain: Sequence[Wire], max_tokens: int) -> list[Wire]:
    """The last step's results get ever less room, then arguments go, oldest first."""
    chain = list(chain)
    longest = max((len(m["content"].encode()) for m in chain if m["role"] == "tool"), default=0)
    while longest > LEAST_BYTES and count_tokens(chain) > max_tokens:
        longest = max(longest // 2, LEAST_BYTES)
        chain = [_within(message, longest) for message in chain]
    for index, message in enumerate(chain):
        if count_tokens(chain) <= max_tokens:
            break
        chain[index] = _without_arguments(message)
    return chain


def _within(message: Wire, max_bytes: int) -> Wire:
    if message["role"] != "tool" or len(message["content"].encode()) <= max_bytes:
        return message
    result = json.loads(message["content"])
    data = results.bound_result(result.get("data") or {}, max_bytes=max_bytes)
    return message | {"content": results.render_result({**result, "data": data})}


def _without_arguments(message: Wire) -> Wire:
    if not message.get("tool_calls"):
        return message
    calls = [
        call
        if len(call["function"]["arguments"]) <= len(LEFT_OUT)
        else call | {"function": call["function"] | {"arguments": LEFT_OUT}}
        for call in message["tool_calls"]
    ]
    return message | {"tool_calls": calls}
