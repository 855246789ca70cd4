"""A mail that goes out, as a JMAP server is to make it: the same that is sent over SMTP elsewhere
(`integrations.mail.compose`), in JMAP's fields."""

from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from typing import Any

from django.conf import settings

from integrations.exceptions import Rejected
from integrations.mail.compose import MARK
from integrations.mail.headers import message_ids
from integrations.providers.jmap import labelling
from integrations.providers.jmap.answers import Call, IdentitiesGot
from integrations.providers.jmap.mailboxes import DRAFT, SEEN
from integrations.providers.jmap.mails import Mails
from integrations.providers.jmap.session import JmapSession, Resource

ADDRESSES = {"from": "From", "to": "To", "cc": "Cc", "bcc": "Bcc"}
IDS = {"messageId": "Message-ID", "inReplyTo": "In-Reply-To", "references": "References"}


def to_email(
    session: JmapSession, message: EmailMessage, *, drafts: str, blind_copies: bool
) -> dict[str, Any]:
    """As Email/set creates it among the drafts. What is attached is uploaded before. Servers are
    to leave out blind copies when they send; not all do, so a mail that goes out names none."""
    fields: dict[str, Any] = {
        "mailboxIds": {drafts: True},
        "keywords": {DRAFT: True, SEEN: True},
        "subject": str(message["Subject"] or ""),
        "sentAt": message["Date"].datetime.isoformat(),
        f"header:{MARK}:asText": str(message[MARK]),
    }
    for name, header in ADDRESSES.items():
        if header in message and (blind_copies or header != "Bcc"):
            fields[name] = [_address(one) for one in message[header].addresses]
    for name, header in IDS.items():
        if header in message:
            fields[name] = [one.strip("<>") for one in message_ids(str(message[header]))]
    body = message.get_body(("plain",))
    assert isinstance(body, EmailMessage)  # noqa: S101  # compose writes it
    fields["bodyValues"] = {"text": {"value": body.get_content()}}
    fields["textBody"] = [{"partId": "text", "type": "text/plain"}]
    attached = [
        {"blobId": session.upload(content, kind), "type": kind, "disposition": "attachment"}
        | ({"name": name} if name else {})
        for kind, name, content in _attached(message)
    ]
    return fields | ({"attachments": attached} if attached else {})


def _address(one: Any) -> Mapping[str, str | None]:
    return {"name": one.display_name or None, "email": one.addr_spec}


def _attached(message: EmailMessage) -> list[tuple[str, str | None, bytes]]:
    found = []
    for part in message.iter_attachments():
        kind, content = part.get_content_type(), part.get_content()
        raw = content.as_bytes() if kind == "message/rfc822" else content
        found.append((kind, part.get_filename(), raw))
    return found


def _held_back(resource: Resource) -> dict[str, Any]:
    """For how long the server is to hold the mail back (FUTURERELEASE, RFC 4865), where it can."""
    seconds = min(settings.JMAP_RECALL_SECONDS, resource.most_delay)
    return {"parameters": {"HOLDFOR": str(seconds)}} if seconds > 0 else {}


def to_submission(mails: Mails, receivers: Sequence[str]) -> Call:
    """What goes out is filed among the sent mail, in the same step. Raises Rejected where
    the server does not send in this user's name."""
    if not mails.session.resource.sends:
        raise Rejected("this server sends no mail over JMAP")
    got = mails.session.ask(("Identity/get", {"ids": None})).to(0, IdentitiesGot)
    own = mails.account.address.casefold()
    identity = next((one.id for one in got.list if one.email.casefold() == own), None)
    if identity is None:
        raise Rejected("the server lets this user send in another name alone")
    drafts = labelling.role(mails.mailboxes, "drafts")
    sent = labelling.role(mails.mailboxes, "sent")
    envelope = {
        "mailFrom": {"email": mails.account.address, **_held_back(mails.session.resource)},
        "rcptTo": [{"email": one} for one in receivers],
    }
    filed = {
        f"mailboxIds/{drafts}": None,
        f"mailboxIds/{sent}": True,
        f"keywords/{DRAFT}": None,
    }
    new = {"identityId": identity, "emailId": "#mail", "envelope": envelope}
    return (
        "EmailSubmission/set",
        {"create": {"sent": new}, "onSuccessUpdateEmail": {"#sent": filed}},
    )
