"""A file that is read while it is written."""

import io
from typing import Any


class Pipe(io.RawIOBase):
    """Takes what is written to it as to a file, until it is handed on."""

    def __init__(self) -> None:
        self.held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.held += data
        return len(data)

    def drain(self) -> bytes:
        held, self.held = bytes(self.held), bytearray()
        return held
