"""A mail as its server keeps it, where each has an id for as long as it is there."""

from collections.abc import Sequence

from integrations.contracts import Email
from integrations.imports.reading import ReadMail
from integrations.providers.mailboxes import attachments
from integrations.providers.mailboxes.labels import STARRED, UNREAD


def kept_mail(read: ReadMail, *, id: str, thread_id: str, labels: Sequence[str]) -> Email:
    """What was read of the message, under the server's own ids and with what it says of it."""
    return read.with_files(lambda place: attachments.of(id, place)).model_copy(
        update={
            "id": id,
            "thread_id": thread_id,
            "labels": labels,
            "is_read": UNREAD not in labels,
            "is_starred": STARRED in labels,
        }
    )
