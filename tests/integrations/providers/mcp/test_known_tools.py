"""The descriptions of known tools, against the names and arguments that the servers' own sources
declare (declared.json says of each where it was read)."""

import json
from pathlib import Path
from typing import Any

import pytest

from integrations.providers.mcp import known_tools
from integrations.providers.mcp.contracts import is_plain
from integrations.providers.mcp.known_tools import Described

DECLARED = json.loads((Path(__file__).parent / "declared.json").read_text())
TOOLS = [
    pytest.param(file.server, name, described, id=f"{file.server}-{name}")
    for file in known_tools.read()
    for name, described in file.tools.items()
]


def schema(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}}


@pytest.mark.parametrize(("server", "name", "described"), TOOLS)
def test_a_description_is_of_a_tool_that_its_server_declares(
    server: str, name: str, described: Described
) -> None:
    declared = DECLARED[server]["tools"]

    assert sorted(described.arguments) == declared[name]  # each has one part
    assert described.proof in declared
    if reading := described.reading:
        assert {*reading.arguments, *reading.fixed} <= set(declared[described.proof])
        assert {*reading.arguments.values(), *reading.same.values()} <= set(described.arguments)
    assert described.place or described.issue
    assert is_plain(name)
    found = known_tools.find(name, schema(*declared[name]))
    assert found is not None
    assert (found.server, found.undo) == (server, described.undo)


def test_five_servers_are_described() -> None:
    assert {file.server for file in known_tools.read()} == DECLARED.keys()
    assert len(TOOLS) >= 30
    assert len([one for one in TOOLS if one.values[2].undo]) >= 30  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "names",
    [
        ("channel_id",),
        ("channel_id", "text", "unfurl_links"),
        ("channel", "text"),
        (),
    ],
)
def test_one_argument_more_or_less_and_nothing_is_known(names: tuple[str, ...]) -> None:
    assert known_tools.find("slack_post_message", schema("channel_id", "text")) is not None
    assert known_tools.find("slack_post_message", schema(*names)) is None


@pytest.mark.parametrize("odd", [{}, {"properties": None}, {"properties": ["channel_id", "text"]}])
def test_a_schema_that_names_nothing_is_of_no_known_tool(odd: dict[str, Any]) -> None:
    assert known_tools.find("slack_post_message", odd) is None
