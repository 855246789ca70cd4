"""A mail that goes out, in the fields that Graph takes of a draft. Pure."""

import html
from collections.abc import Sequence
from email.message import EmailMessage
from typing import Any

from integrations.contracts.outgoing import OutgoingMail
from integrations.exceptions import Malformed
from integrations.mail.compose import MARK
from integrations.providers.microsoft import marks
from integrations.providers.microsoft.answers import BodySaid

Fields = dict[str, Any]


def fields(mail: OutgoingMail, message: EmailMessage, *, key: str) -> Fields:
    """`message` is the mail as it is composed for every server: nothing that no mail can hold, and
    with the Message-ID of this key."""
    return {
        "subject": str(message["Subject"]),
        "body": {"contentType": "text", "content": mail.body},
        "toRecipients": _people(mail.to),
        "ccRecipients": _people(mail.cc),
        "bccRecipients": _people(mail.bcc),
        "internetMessageId": str(message["Message-ID"]),
        **marks.field(key),
    }


def headers(key: str) -> Fields:
    """What can be said of a new draft alone, and never changed: of answers it cannot be said."""
    return {"internetMessageHeaders": [{"name": MARK, "value": key}]}


def above(text: str, body: BodySaid | None) -> Fields:
    """`text` before the mail that is sent on, as its draft holds it. Raises Malformed."""
    if body is None:
        raise Malformed("a draft without the mail that it sends on")
    if body.kind == "text":
        return {"contentType": "text", "content": f"{text}\n\n{body.content}"}
    # Before all of it: in the middle, a stranger's page could take it into a comment of its own.
    lines = html.escape(text).replace("\n", "<br>\n")
    return {"contentType": "html", "content": f"<div>{lines}</div>\n<br>\n{body.content}"}


def _people(addresses: Sequence[str]) -> list[Fields]:
    return [{"emailAddress": {"address": one}} for one in addresses]
