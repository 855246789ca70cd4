"""Where somebody's files are, as a credential keeps it. Pure."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class FileServer:
    """`home` is the folder that is read, with all in it. `readers` is who else reads it, as who
    connected it says; None: nobody said so."""

    home: str
    readers: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        readers = None if self.readers is None else list(self.readers)
        return {"home": self.home, "readers": readers}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "FileServer":
        readers = data.get("readers")
        return cls(
            home=str(data["home"]),
            readers=None if readers is None else tuple(map(str, readers)),
        )
