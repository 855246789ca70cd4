"""JSON objects from outside, read strictly: what two parsers could read differently is refused."""

import json
from typing import Any


class NotANumber(ValueError):
    """What only JavaScript takes for a number: NaN, Infinity, -Infinity."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is not a JSON number")
        self.name = name


def load_object(raw: bytes | str) -> dict[str, Any]:
    """The JSON object in `raw`: no repeated keys, no NaN or Infinity, nothing but an object.

    Raises ValueError with a short reason.
    """
    value = load(raw)
    if not isinstance(value, dict):
        raise ValueError("it must be an object")
    return value


def load(raw: bytes | str) -> Any:
    """Any JSON value, as strictly. Raises ValueError with a short reason."""
    try:
        return json.loads(raw, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key is there twice")
    return result


def _no_constant(name: str) -> None:
    raise NotANumber(name)
