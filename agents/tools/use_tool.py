"""use_tool: the door to all tools that a model is shown in a line each, and no schema of.

A schema is paid for with every call of a model, and most turns need few tools. What is called
through the door is kept as the call of that tool, so everything behind it works by its name.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from agents.contracts import ToolResult, failure
from agents.tools import forms
from agents.tools.base import Arguments, Tool, ToolContext
from integrations.llm.completions import RequestedCall
from integrations.network import strict_json

NAME = "use_tool"
HOW = "Use a tool of this list. [] is a list; ? may be left out."
OF_ACTIONS = "Actions also take reason?, confirm_first?. Those with * wait for the user's button."


class UseTool(Arguments):
    name: str = Field(min_length=1, max_length=100, description="Of the list.")
    arguments: dict[str, Any] = Field(description="Of the tool.")


def run(context: ToolContext, arguments: UseTool) -> ToolResult:
    """Only reached by what names no tool: this one itself."""
    return failure("INVALID_INPUT", "Name a tool of the list.", recoverable=True)


def offer(*, actions: Sequence[Tool[Any]], tools: Sequence[Tool[Any]]) -> Tool[UseTool]:
    """The door to these."""
    lines = [HOW]
    if actions:
        lines += [OF_ACTIONS, *(tool.line for tool in actions)]
    lines += [tool.line for tool in tools]
    return replace(TOOL, description="\n".join(lines))


def unwrap(calls: Iterable[RequestedCall]) -> tuple[RequestedCall, ...]:
    """Calls through the door as calls of the tools that they name. What names none stays."""
    return tuple(_unwrapped(call) if call.name == NAME else call for call in calls)


def _unwrapped(call: RequestedCall) -> RequestedCall:
    try:
        given = strict_json.load_object(call.arguments or "{}")
    except ValueError:
        return call
    name, inner = given.pop("name", None), forms.load_json(given.pop("arguments", {}))
    if not isinstance(name, str) or not name or not isinstance(inner, dict):
        return call
    # Some put arguments beside the name.
    return replace(call, name=name, arguments=json.dumps(given | inner, ensure_ascii=False))


TOOL = Tool(name=NAME, description=HOW, arguments=UseTool, run=run)
