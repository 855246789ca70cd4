"""What the child process does for `integrations.imports.reading`: takes mails and calendar files of
strangers apart. What it finds goes out as JSON: a child that a mail has taken over can still say
nothing but values."""

from datetime import datetime
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, TypeAdapter

from integrations.child import serve
from integrations.contracts import Email, Event, Rejected
from integrations.imports.calendar_files import read_events
from integrations.mail import mail

# A message, when it arrived, the server whose word on senders is believed, and whether the bytes
# of its attachments are wanted.
MailRequest = tuple[bytes, datetime, str | None, bool]
# A calendar file, and the zone of times that name none.
CalendarRequest = tuple[bytes, str]


class MailRead(BaseModel):
    """A mail, the codes of `integrations.mail.mail.NOTES` and, where they were asked for, the bytes
    of its attachments, in their order."""

    model_config = ConfigDict(frozen=True, ser_json_bytes="base64", val_json_bytes="base64")

    email: Email
    notes: tuple[str, ...]
    contents: tuple[bytes, ...] = ()


EVENTS: TypeAdapter[list[Event | Rejected]] = TypeAdapter(list[Event | Rejected])


def answer(request: MailRequest | CalendarRequest) -> bytes:
    if len(request) == 2:
        raw, zone = request
        return EVENTS.dump_json(read_events(raw, zone=ZoneInfo(zone)))
    raw, fallback_date, trusted_server, wants_contents = request
    contents: list[bytes] = []

    def keep(content: bytes) -> str:
        contents.append(content)
        return ""

    parsed = mail.parse(
        raw,
        fallback_date=fallback_date,
        trusted_server=trusted_server,
        keep=keep if wants_contents else None,
    )
    found = MailRead(email=parsed.email, notes=parsed.notes, contents=tuple(contents))
    return found.model_dump_json().encode()


if __name__ == "__main__":
    serve(answer)
