"""Call one listed tool of one of the organisation's MCP servers.

What is sent leaves the organisation, whatever the tool is said to do: every call reaches other
people, and every address in the arguments is a receiver. A tool that acts also does what
only its server knows, so a person is asked each time, unless an operator says that it can be
taken back there, that it only reads, or that it is a tool that Remit knows.
"""

import json
import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, JsonValue

from guardrails.actions.base import Arguments, Call, Outcome
from guardrails.actions.kinds import ToolsAction
from guardrails.facts import addressing, known_tools, tool_schemas
from guardrails.facts.classes import Is
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Target, address_or_none
from guardrails.facts.text import TargetId, storable, visible
from integrations.ports.tools import ToolsWriter

MAX_CHARS = 50_000
DEPTH = 8


def _plain(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    _check(value, DEPTH)
    if len(json.dumps(value, ensure_ascii=False)) > MAX_CHARS:
        raise ValueError(f"is longer than {MAX_CHARS} characters")
    return value


def _check(value: JsonValue, depth: int) -> None:
    if depth < 0:
        raise ValueError("is nested too deep")
    if isinstance(value, str):
        storable(value)
        addressing.check(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError("has a number that is not one")
    elif isinstance(value, list):
        for item in value:
            _check(item, depth - 1)
    elif isinstance(value, dict):
        for name, item in value.items():
            storable(name)
            if address_or_none(name):
                raise ValueError("has an address as a name")
            addressing.check(name)
            _check(item, depth - 1)


class CallMcpToolArguments(Arguments):
    tool: TargetId
    arguments: Annotated[dict[str, JsonValue], AfterValidator(_plain), Is("text")] = {}


class CallMcpTool(ToolsAction[CallMcpToolArguments]):
    name = "call_mcp_tool"
    operation = "call_tool"
    resource_type = "tool"
    title = "Call a tool of an MCP server"
    description = (
        "Call one listed tool of one of the organisation's MCP servers. The tools "
        "plan_<server>_tools tell what each takes. Everything in arguments is sent to the server; "
        "an address there must be listed or known, and alone in its value."
    )
    needs = frozenset()
    takes = ("tool", "recipient", "recipient_domain", "project")
    needs_targets = True
    object_kind = "tool"
    tells = True
    arguments = CallMcpToolArguments

    def object_id(self, arguments: CallMcpToolArguments) -> str:
        return arguments.tool

    def targets(self, arguments: CallMcpToolArguments) -> tuple[Target, ...]:
        receivers = addressing.people(arguments.arguments, "arguments")
        return (
            Target(path="tool", kind="tool", value=arguments.tool),
            *(Target(path=path, kind="recipient", value=one, role="to") for path, one in receivers),
        )

    def implied(self, arguments: CallMcpToolArguments, facts: Facts) -> tuple[Target, ...] | None:
        """Where a known tool acts."""
        if facts.tool is None or facts.tool.meaning is None:
            return ()
        return known_tools.places(facts.tool.meaning, arguments.arguments)

    def names(self, arguments: CallMcpToolArguments, facts: Facts) -> tuple[str, ...]:
        schema = facts.tool.input_schema if facts.tool else {}
        return tool_schemas.free_names(arguments.arguments, schema, "arguments")

    def unfit(self, arguments: CallMcpToolArguments, facts: Facts) -> tuple[str, str] | None:
        if facts.tool is None or not facts.tool.enabled:
            return "tool_not_enabled", f"“{arguments.tool}”"
        try:
            tool_schemas.check(arguments.arguments, facts.tool.input_schema)
        except tool_schemas.Misfit as problem:
            return "invalid_arguments", visible(f"{problem}.", limit=300)
        return None

    def effects(self, arguments: CallMcpToolArguments, facts: Facts) -> tuple[Effect, ...]:
        tool = facts.tool
        server = visible(tool.server, limit=100) if tool else phrase("somebody")
        out = Effect(
            kind="egress",
            because=phrase("the MCP server %(server)s gets all of this", server=server),
        )
        if tool and (tool.effect in ("reading", "undoable") or self.undo(arguments, facts)):
            return (out,)
        return (
            out,
            Effect(kind="destructive", because=phrase("only the server knows what it changes")),
        )

    def undo(self, arguments: CallMcpToolArguments, facts: Facts) -> str:
        meaning = facts.tool.meaning if facts.tool else None
        if meaning is None or not known_tools.is_as_described(meaning, arguments.arguments):
            return ""
        return meaning.undo

    def describe(self, arguments: CallMcpToolArguments, facts: Facts) -> str:
        server = visible(facts.tool.server, limit=100) if facts.tool else phrase("an MCP server")
        return phrase("Call %(tool)s of %(server)s", tool=arguments.tool, server=server)

    def perform(
        self, writer: ToolsWriter, arguments: CallMcpToolArguments, call: Call
    ) -> dict[str, Any]:
        return writer.call_tool(
            arguments.tool, arguments.arguments, revision=call.revision, key=call.key
        )

    def outcome(self, arguments: CallMcpToolArguments, answer: Mapping[str, Any]) -> Outcome:
        # No artifacts: an id that a stranger names is nothing that this run has made.
        content = {
            name: answer[name] for name in ("text", "structured", "left_out") if name in answer
        }
        return {"tool": arguments.tool, **content}, ()
