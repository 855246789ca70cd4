"""Tools of servers that an organisation added. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from integrations.ports.account import Reader, Writer

# What an operator says a tool does. What its server says about it does not count.
ToolEffect = Literal["acting", "undoable", "reading"]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How the tool that shows what became of a call is asked, and what it must say.

    `arguments` are its own by the call's that they repeat; `fixed` are always the same. Its answer
    is one object, or a list of them that has the newest ones for sure: then `items` is the list's
    place in it (“.”: the answer itself) and `id` what tells them apart. `same` are its fields by
    the arguments that they repeat."""

    arguments: Mapping[str, str]
    fixed: Mapping[str, Any]
    items: str
    id: str
    same: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class ToolMeaning:
    """What somebody of Remit has read of a known tool. `place` are the arguments that together say
    where a call acts, `issue` those that name issues there, `receiver` those that name people, and
    `anything` those whose value may do what nobody described. `undo` says how it is taken back;
    empty: not. `proof` is the tool that shows what became of a call; without a `reading` to a
    person only."""

    server: str
    place: tuple[str, ...] = ()
    issue: tuple[str, ...] = ()
    receiver: tuple[str, ...] = ()
    anything: tuple[str, ...] = ()
    undo: str
    proof: str
    reading: Reading | None = None


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool of an organisation's servers, as it was looked at for one decision.

    `id` is the server's name and the tool's, `tracker:create_issue`. `version` changes with
    whatever an operator or the server changes about it, `fingerprint` with what the server says.
    `enabled` says that an operator looked at exactly what the server says now. `meaning` is what
    Remit knows of it, where an operator says that it is that tool.
    """

    id: str
    version: int
    server: str
    effect: ToolEffect
    enabled: bool
    fingerprint: str
    input_schema: Mapping[str, Any]
    meaning: ToolMeaning | None = None

    @property
    def revision(self) -> str:
        return str(self.version)


def tool_id(slug: str, name: str) -> str:
    return f"{slug}:{name}"


@runtime_checkable
class ToolsReader(Reader, Protocol):
    def tool(self, tool_id: str) -> Tool:
        """One tool as its server describes it now. Raises NotFound."""
        ...


@runtime_checkable
class ToolsWriter(Writer, Protocol):
    def call_tool(
        self, tool_id: str, arguments: Mapping[str, Any], *, revision: str | None, key: str
    ) -> dict[str, Any]: ...
