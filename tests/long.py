"""How often the same is tried anew: a few times in `make test`, very often in
`make bench NAME=long`, which sets REMIT_LONG."""

import os
from typing import TypeVar

T = TypeVar("T")


def times(short: T, *, long: T) -> T:
    """`long` where time does not matter, else `short`."""
    return long if os.environ.get("REMIT_LONG") else short
