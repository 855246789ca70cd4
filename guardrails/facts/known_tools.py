"""What a call of a known tool reaches, by its reviewed description and its arguments. Pure."""

from collections.abc import Mapping
from typing import Any

from guardrails.facts.targets import Target, address_or_none
from guardrails.facts.text import identifier
from integrations.ports.tools import ToolMeaning

ABSENT = "default"  # where the server chooses, such as the first calendar


def places(meaning: ToolMeaning, arguments: Mapping[str, Any]) -> tuple[Target, ...] | None:
    """Where the call acts, as projects that must be listed: the parts of a place with colons
    between them (`octo:plans`), of an issue the part of its key before the number. None where a
    value is no plain id."""
    found = []
    try:
        if meaning.place:
            parts = [_id(arguments.get(name)) for name in meaning.place]
            found.append(_target(meaning.place[0], ":".join(parts)))
        for name in meaning.issue:
            if arguments.get(name) is not None:
                project, dash, _ = _id(arguments[name]).rpartition("-")
                if not dash:
                    return None
                found.append(_target(name, project))
    except ValueError:
        return None
    return tuple(found)


def is_as_described(meaning: ToolMeaning, arguments: Mapping[str, Any]) -> bool:
    """Whether the description says all that this call does, and that it can be taken back: nobody
    is named but by an address, and no argument is used that may do anything."""
    people = [one for name in meaning.receiver for one in _several(arguments.get(name))]
    return (
        bool(meaning.undo)
        and all(isinstance(one, str) and address_or_none(one) is not None for one in people)
        and not any(_several(arguments.get(name)) for name in meaning.anything)
    )


def _target(name: str, value: str) -> Target:
    return Target(path=f"call.{name}", kind="project", value=identifier(value))


def _id(value: Any) -> str:
    """Raises ValueError for what names nothing, or more than one thing."""
    if isinstance(value, Mapping):
        ids = [one for name, one in value.items() if name.endswith("_id")]
        value = ids[0] if len(ids) == 1 else ""
    if value is None:
        return ABSENT
    if not isinstance(value, str) or not value or ":" in value:
        raise ValueError("is not a plain id")
    return identifier(value)


def _several(value: Any) -> list[Any]:
    if value is None or value is False or value == "" or value == [] or value == {}:
        return []
    return list(value) if isinstance(value, list) else [value]
