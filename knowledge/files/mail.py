"""A mail that is attached to a mail: subject, sender and text. Its own attachments are named."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import IO

from knowledge.files.contracts import MAX_BYTES

_NO_DATE = datetime(1971, 1, 1, tzinfo=UTC)


def read(file: IO[bytes]) -> Iterator[str]:
    from integrations.mail.mail import parse  # noqa: PLC0415  # see pdf.read

    mail = parse(file.read(MAX_BYTES), fallback_date=_NO_DATE).email
    yield f"Subject: {mail.subject}\nFrom: {mail.sender_name} <{mail.sender}>\n\n{mail.body_text}"
    for attachment in mail.attachments:
        yield f"\nAttachment: {attachment.name}"
