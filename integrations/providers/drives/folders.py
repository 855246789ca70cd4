"""Paths of folders that know what they lie in by its id. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

MAX_DEPTH = 50


class Place(NamedTuple):
    name: str
    above: str | None


def path_of(id: str, places: Mapping[str, Place], *, root: str) -> str:
    """From the top folder on. One that lies in a folder which nobody knows stands at the top."""
    names = list[str]()
    at: str | None = id
    while at is not None and at != root and len(names) < MAX_DEPTH:
        place = places.get(at)
        if place is None:
            break
        names.append(place.name.replace("/", "_") or "_")
        at = place.above
    return f"/{'/'.join(reversed(names))}"
