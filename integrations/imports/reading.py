"""Mails and calendar files, read in a child process: whatever a stranger made of one, it costs
seconds at most, and no worker. The id of a mail is made from its bytes here, where no mail runs."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from integrations.child import Child, Ended, Unreadable
from integrations.contracts import Email, Event, Rejected
from integrations.exceptions import Unavailable
from integrations.imports.child import EVENTS, MailRead

CHILD = Child("integrations.imports.child")
# A file of the largest size has 80,000 ordinary events, which take half a minute.
FILE_SECONDS = 120
CHILD_FOR_FILES = Child(
    "integrations.imports.child", seconds=FILE_SECONDS, wall_seconds=5.0 * FILE_SECONDS
)


@dataclass(frozen=True, kw_only=True)
class ReadMail:
    """`contents`: the bytes of its attachments, where they were asked for."""

    email: Email
    notes: tuple[str, ...]
    contents: tuple[bytes, ...]

    def with_files(self, file_id: Callable[[int], str]) -> Email:
        """The mail whose n-th attachment, counted from 0, can be asked for by this id."""
        return self.email.model_copy(
            update={
                "attachments": tuple(
                    one.model_copy(update={"file_id": file_id(number)})
                    for number, one in enumerate(self.email.attachments)
                )
            }
        )


def mail_id(raw: bytes) -> str:
    """The same for the same bytes, ever after."""
    return f"mail-{hashlib.sha256(raw).hexdigest()[:32]}"


def read_mail(
    raw: bytes,
    *,
    fallback_date: datetime,
    trusted_server: str | None = None,
    contents: bool = False,
) -> ReadMail:
    """What `integrations.mail.mail.parse` makes of a message. Raises integrations.child.Unreadable,
    and Unavailable where the child was ended from outside: then the same may go well later."""
    try:
        # A time zone of another library's own may not survive the way to the child.
        arrived = fallback_date.astimezone(UTC)
        said = CHILD.ask((raw, arrived, trusted_server, contents))
        found = MailRead.model_validate_json(said)
    except ValidationError as error:
        raise Unreadable("broken") from error
    except Ended as error:
        raise Unavailable("the process that reads mails was ended") from error
    wanted = len(found.email.attachments) if contents else 0
    if found.email.id != mail_id(raw) or len(found.contents) != wanted:
        raise Unreadable("broken")
    return ReadMail(email=found.email, notes=found.notes, contents=found.contents)


def read_events(raw: bytes, *, zone: ZoneInfo) -> list[Event | Rejected]:
    """What `integrations.imports.calendar_files.read_events` makes of a file. Raises as
    `read_mail` does."""
    try:
        return EVENTS.validate_json(CHILD_FOR_FILES.ask((raw, zone.key)))
    except ValidationError as error:
        raise Unreadable("broken") from error
    except Ended as error:
        raise Unavailable("the process that reads calendar files was ended") from error
