"""Where somebody's calendars are, as a credential keeps it. Pure."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class CalendarServer:
    """`home` holds the calendars; new events go to `write_to` (empty: none may be written to).
    `schedules`: the server itself tells everybody who attends what is saved. `addresses` are
    those that the server knows its user by."""

    home: str
    write_to: str = ""
    schedules: bool = False
    addresses: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "home": self.home,
            "write_to": self.write_to,
            "schedules": self.schedules,
            "addresses": list(self.addresses),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "CalendarServer":
        return cls(
            home=str(data["home"]),
            write_to=str(data.get("write_to", "")),
            schedules=bool(data.get("schedules")),
            addresses=tuple(map(str, data.get("addresses", ()))),
        )
