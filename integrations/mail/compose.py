"""The bytes of a mail that goes out in the user's name. Pure.

Its Message-ID is made from the key of the action that writes it, so that the mail can be found
again, and it names that action in a header of its own.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from email import message_from_bytes
from email.headerregistry import Address
from email.message import EmailMessage
from email.parser import BytesHeaderParser
from email.policy import SMTP
from email.utils import format_datetime

from integrations.contracts import AccountRef, Email
from integrations.contracts.outgoing import OutgoingMail
from integrations.exceptions import Rejected
from integrations.mail.addresses import is_addr_spec
from integrations.mail.headers import message_ids

MARK = "X-Remit-Action"
MOST_REFERENCES = 20


@dataclass(frozen=True, kw_only=True)
class Answered:
    """The mail that is answered or sent on."""

    message_id: str
    references: tuple[str, ...]
    subject: str
    raw: bytes


def answered(raw: bytes, email: Email) -> Answered:
    """From a mail's bytes, and what was read in them."""
    headers = BytesHeaderParser().parsebytes(raw)
    chain = [str(headers.get(name, "")) for name in ("references", "in-reply-to")]
    known = next((ids for value in chain if (ids := message_ids(value))), [])
    return Answered(
        message_id=email.message_id,
        references=tuple(known),
        subject=email.subject,
        raw=raw,
    )


def message_id(key: str, address: str) -> str:
    """The Message-ID of what is written under this key."""
    domain = address.rpartition("@")[2] or "localhost"
    return f"<{key}@{domain}>"


def compose(
    account: AccountRef,
    mail: OutgoingMail,
    *,
    key: str,
    at: datetime,
    answered: Answered | None = None,
    sent_on: Answered | None = None,
) -> EmailMessage:
    """Raises Rejected for an address or a text that no mail can hold."""
    if mail.attachments:
        raise Rejected("a mail server has no documents to take along")
    message = EmailMessage(policy=SMTP)
    try:
        message["From"] = str(_own(account))
        for name, addresses in (("To", mail.to), ("Cc", mail.cc), ("Bcc", mail.bcc)):
            if addresses:
                message[name] = ", ".join(_checked(addresses))
        message["Subject"] = forwarded_subject(sent_on.subject) if sent_on else mail.subject
        message["Date"] = format_datetime(at)
        message["Message-ID"] = message_id(key, account.address)
        message[MARK] = key
        if answered:
            chain = (*answered.references, answered.message_id)
            known = list(dict.fromkeys(one for one in chain if one))
            if answered.message_id:
                message["In-Reply-To"] = answered.message_id
            if known:
                # The first begins the thread; the last are nearest.
                message["References"] = " ".join([*known[:1], *known[1:][-MOST_REFERENCES:]])
        message.set_content(mail.body or "\n")
        if sent_on:
            _attach(message, sent_on.raw)
    except ValueError as error:
        raise Rejected("a mail cannot hold this") from error
    return message


def to_bytes(message: EmailMessage, *, blind_copies: bool) -> bytes:
    """With the blind copies for the sender's own folders, without them for the way."""
    copied = deepcopy(message)
    if not blind_copies:
        del copied["Bcc"]
    return copied.as_bytes()


def _attach(message: EmailMessage, raw: bytes) -> None:
    """The whole mail, unchanged. One that cannot be written again as a mail goes as a file."""
    try:
        whole = message_from_bytes(raw)
        whole.as_bytes()
        message.add_attachment(whole)
        message.as_bytes()
    except Exception:  # noqa: BLE001  # strangers' bytes: the library raises whatever it trips over
        if message.is_multipart():
            message.set_payload(message.get_payload()[:1])  # type: ignore[index]
        message.add_attachment(
            raw, maintype="application", subtype="octet-stream", filename="mail.eml"
        )


def _own(account: AccountRef) -> Address:
    if not is_addr_spec(account.address):
        raise ValueError("the account has no address")
    return Address(display_name=account.display_name, addr_spec=account.address)


def _checked(addresses: Sequence[str]) -> list[str]:
    wrong = [one for one in addresses if not is_addr_spec(one) or not one.isascii()]
    if wrong:
        raise ValueError("no address")
    return [str(Address(addr_spec=one)) for one in addresses]


def forwarded_subject(subject: str) -> str:
    """A forwarded mail keeps its own subject."""
    return (
        subject if subject.lower().startswith(("fwd:", "fw:", "wg:", "tr:")) else f"Fwd: {subject}"
    )
