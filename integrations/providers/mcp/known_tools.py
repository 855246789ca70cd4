"""Tools that somebody of Remit has read and described: which argument says where a call goes, which
names people, which is text, and what takes it back. The descriptions are the files in `known/`.

A description counts where an operator says so, and only for a tool of exactly its name and
arguments: one argument more or less, and nothing is known of the tool.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from integrations.ports.tools import Reading, ToolMeaning

FOLDER = Path(__file__).parent / "known"
Names = tuple[str, ...]


class DescribedReading(BaseModel):
    """How `proof` is asked, as `integrations.ports.tools.Reading` says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    arguments: Mapping[str, str]
    fixed: Mapping[str, JsonValue] = {}
    items: str = ""
    id: str = ""
    same: Mapping[str, str] = Field(min_length=1)

    @model_validator(mode="after")
    def _tells_apart(self) -> "DescribedReading":
        if bool(self.items) != bool(self.id):
            raise ValueError("a list has items that an id tells apart")
        return self


class Described(BaseModel):
    """One tool of a file. Each of its arguments has one part."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    place: Names = ()
    issue: Names = ()
    object: Names = ()
    text: Names = ()
    choice: Names = ()
    receiver: Names = ()
    anything: Names = ()
    undo: str = Field(max_length=200)
    proof: str = Field(min_length=1, max_length=100)
    reading: DescribedReading | None = None

    @property
    def arguments(self) -> Names:
        free = (*self.object, *self.text, *self.choice)
        return (*self.place, *self.issue, *free, *self.receiver, *self.anything)


class File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    server: str
    tools: Mapping[str, Described]


@cache
def read() -> tuple[File, ...]:
    """All files, in the order of their names. Raises pydantic's ValidationError."""
    paths = sorted(FOLDER.glob("*.yaml"))
    return tuple(File.model_validate(yaml.safe_load(one.read_text("utf-8"))) for one in paths)


def find(name: str, schema: Mapping[str, Any]) -> ToolMeaning | None:
    """What is known of a tool of this name with these arguments. None: nothing, or two files say
    something of such a tool."""
    properties = schema.get("properties")
    given = set(properties) if isinstance(properties, Mapping) else set()
    found = [
        (one.server, one.tools[name])
        for one in read()
        if name in one.tools and set(one.tools[name].arguments) == given
    ]
    if len(found) != 1:
        return None
    server, described = found[0]
    return ToolMeaning(
        server=server,
        place=described.place,
        issue=described.issue,
        receiver=described.receiver,
        anything=described.anything,
        undo=described.undo,
        proof=described.proof,
        reading=Reading(**dict(described.reading)) if described.reading else None,
    )
