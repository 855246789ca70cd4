"""Types of the fields of provider objects: what comes from outside, made storable. Pure."""

from datetime import UTC, datetime
from math import isfinite
from typing import Annotated, Any
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

MAX_DEPTH = 100


def storable(value: object) -> object:
    """PostgreSQL text holds neither NUL nor half a surrogate pair, and nobody needs them."""
    if not isinstance(value, str):
        return value
    if not value.isascii():
        value = value.encode("utf-8", "replace").decode()
    return value.replace("\x00", "")


def storable_json(value: object, depth: int = 0) -> object:
    """A JSON value made storable. Raises ValueError, with a short reason, for one that
    PostgreSQL cannot keep as JSON or that is nested as nothing honest is."""
    if depth > MAX_DEPTH:
        raise ValueError("it is nested too deeply")
    if isinstance(value, dict):
        return {storable(key): storable_json(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [storable_json(one, depth + 1) for one in value]
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("a number is too large")
    return storable(value)


def reachable(value: datetime) -> datetime:
    """A time that every zone has. Raises ValueError for the years at both ends."""
    if not 2 <= value.year <= 9998:
        raise ValueError("no such year")
    return value


def zoned(value: datetime) -> datetime:
    """A time without a zone is UTC, as in the contract. Years no calendar reaches are refused."""
    value = reachable(value)
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def find_zone(name: str) -> ZoneInfo | None:
    """The time zone of this name, whatever the name points at; None where there is none."""
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, ValueError, OSError):
        return None


def local(value: datetime, info: ValidationInfo) -> datetime:
    """A time without a zone is local in the object's own `time_zone`, if it names one."""
    name = info.data.get("time_zone")
    if value.tzinfo is None and name:
        value = value.replace(tzinfo=find_zone(name))
        if value.tzinfo is None:
            raise ValueError("no such time zone")
    return zoned(value)


def lines(value: object) -> object:
    """Some calendars give several rules as a list."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value) or None
    return value


def usable_id(value: object) -> str | None:
    """A mail is not lost over the id of one of its attachments: that file is unavailable."""
    usable = isinstance(value, str) and 0 < len(value) <= 500 and value == storable(value)
    return value if isinstance(value, str) and usable else None


JsonObject = Annotated[dict[str, Any], BeforeValidator(storable_json)]
Text = Annotated[str, BeforeValidator(storable)]
Moment = Annotated[datetime, AfterValidator(reachable)]
Identifier = Annotated[Text, Field(min_length=1, max_length=500)]
# Names exactly these bytes: other bytes have another id. None: they are not handed out.
FileId = Annotated[str | None, BeforeValidator(usable_id)]
Instant = Annotated[datetime, AfterValidator(zoned)]
LocalTime = Annotated[datetime, AfterValidator(local)]


def uuid_or_none(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
