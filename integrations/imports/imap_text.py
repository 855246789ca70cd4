"""How IMAP writes times, texts and names of folders (RFC 3501). Pure."""

import base64
import re
from datetime import UTC, datetime

from integrations.exceptions import NotFound

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_ARRIVED = re.compile(
    rb'INTERNALDATE "([ \d]\d)-([A-Za-z]{3})-(\d{4}) (\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)"'
)


def arrived(line: bytes) -> datetime | None:
    found = _ARRIVED.search(line)
    if found is None:
        return None
    day, month, year, hour, minute, second, sign, off_hours, off_minutes = found.groups()
    name = month.decode().title()
    if name not in MONTHS:
        return None
    text = (
        f"{year.decode()}-{MONTHS.index(name) + 1:02}-{int(day):02}T"
        f"{hour.decode()}:{minute.decode()}:{second.decode()}"
        f"{sign.decode()}{off_hours.decode()}:{off_minutes.decode()}"
    )
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def string(text: str) -> str:
    """Text as IMAP quotes it. Raises ValueError for a line break: it would end the command."""
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise ValueError("a control character")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def folder_name(folder: str) -> str:
    """A folder's name as IMAP writes it: UTF-7 in the server's own way (RFC 3501, 5.1.3).
    Raises NotFound for a name that none can have."""
    written = ""
    for part in re.split(r"([^\x20-\x7e]+)", folder):
        if part and not "\x20" <= part[0] <= "\x7e":
            coded = base64.b64encode(part.encode("utf-16-be")).decode().rstrip("=")
            written += f"&{coded.replace('/', ',')}-"
        else:
            written += part.replace("&", "&-")
    try:
        return string(written)
    except ValueError as error:
        raise NotFound("no folder has such a name") from error
