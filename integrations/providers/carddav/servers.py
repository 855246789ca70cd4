"""Where somebody's address books are, as a credential keeps it. Pure."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ContactServer:
    """`home` holds the address books."""

    home: str

    def to_json(self) -> dict[str, Any]:
        return {"home": self.home}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "ContactServer":
        return cls(home=str(data["home"]))
