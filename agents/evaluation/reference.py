"""The reference: a model that says what a task has written down for it. It proves that a task can
be done with the tools there are, and, played wrongly, that the checks notice. Pure.

A step is the last word of a turn, or calls of tools by name. `[@mail_1]` in a text is a citation:
the number under which that item was shown.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from agents.evaluation.tasks import Step

CITATION = re.compile(r"\[@([^\]]+)\]")
SILENT = "All right."
_numbers = count(1)

# From the id that the provider gives an item to the one under which Remit shows it.
ItemId = Callable[[str], str]


class Reference:
    """The steps of one play, each given once. With none left it says that all is well."""

    def __init__(self, steps: Sequence[Step], item_id: ItemId) -> None:
        self._left = list(steps)
        self._item_id = item_id

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The next step as an answer of Chat Completions."""
        step = self._left.pop(0) if self._left else SILENT
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if isinstance(step, str):
            message["content"] = self._cited(step, request)
        else:
            calls = [step] if isinstance(step, dict) else step
            message["tool_calls"] = [
                _call(name, arguments) for each in calls for name, arguments in each.items()
            ]
        return {
            "id": f"chatcmpl-{next(_numbers)}",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "tool_calls" if "tool_calls" in message else "stop",
                }
            ],
        }

    def _cited(self, text: str, request: Mapping[str, Any]) -> str:
        numbers = dict(_numbered_items(request))
        return CITATION.sub(lambda found: f"[{numbers.get(self._item_id(found[1]), 0)}]", text)


def _call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": f"call_{next(_numbers)}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments, default=str)},
    }


def _numbered_items(request: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The items in the results of tools: id and number."""
    for message in request["messages"]:
        if message["role"] == "tool":
            try:
                yield from _numbered(json.loads(message["content"]))
            except ValueError:
                continue


def _numbered(value: Any) -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        if "id" in value and isinstance(value.get("n"), int):
            yield str(value["id"]), value["n"]
        for each in value.values():
            yield from _numbered(each)
    elif isinstance(value, list):
        for each in value:
            yield from _numbered(each)
