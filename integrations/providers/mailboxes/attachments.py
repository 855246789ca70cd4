"""Attachments, found again by the mail and their number in it."""

from datetime import datetime
from typing import NamedTuple

from integrations.child import Unreadable
from integrations.exceptions import NotFound
from integrations.imports import reading


class FileId(NamedTuple):
    """As `of` wrote it. `number` counts from 1, and is any text where nobody wrote it."""

    email_id: str
    number: str


def of(email_id: str, place: int) -> str:
    """The id of the attachment at this place, counted from 0."""
    return f"{email_id}.{place + 1}"


def split(file_id: str) -> FileId:
    email_id, _, number = file_id.rpartition(".")
    return FileId(email_id, number)


def contents(raw: bytes, *, number: str, arrived: datetime) -> bytes:
    """Raises NotFound."""
    try:
        found = reading.read_mail(raw, fallback_date=arrived, contents=True).contents
    except Unreadable as error:
        raise NotFound("an attachment that cannot be read") from error
    if not number.isdecimal() or not 1 <= int(number) <= len(found):
        raise NotFound("no such attachment")
    return found[int(number) - 1]
