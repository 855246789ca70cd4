"""Calendars."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from integrations.contracts import Event
from integrations.ports.account import Reader, Writer


@runtime_checkable
class CalendarReader(Reader, Protocol):
    def event(self, event_id: str) -> Event: ...


@runtime_checkable
class CalendarWriter(Writer, Protocol):
    def create_event(self, fields: Mapping[str, Any], *, key: str) -> dict[str, Any]: ...
    def change_event(
        self, event_id: str, changes: Mapping[str, Any], *, revision: str | None, key: str
    ) -> dict[str, Any]: ...
    def cancel_event(self, event_id: str, *, revision: str | None, key: str) -> dict[str, Any]: ...
