"""What a person changed in an action before confirming it. Pure."""

from collections.abc import Mapping
from typing import Any

from guardrails.decide.provenance import values


def typed_paths(arguments: Mapping[str, Any], *, proposed: Mapping[str, Any]) -> frozenset[str]:
    """The paths (`to[0]`) of the values that the agent had not proposed for this argument:
    a person typed them. Both are canonical arguments of one action."""
    found = set()
    for name, value in arguments.items():
        before = proposed.get(name)
        if isinstance(value, list | tuple):
            known = before if isinstance(before, list | tuple) else ()
            found |= {f"{name}[{at}]" for at, item in enumerate(value) if item not in known}
        elif isinstance(value, Mapping):
            leaves = set(values({name: before})) if isinstance(before, Mapping) else set()
            found |= {path for path, text in values({name: value}) if (path, text) not in leaves}
        elif value != before:
            found.add(name)
    return frozenset(found)
