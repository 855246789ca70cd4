"""RFC 822 messages to the data service's Email. Pure: bytes in, a value out.

Everything in a message was written by a stranger. Whatever a header, charset, date or MIME
structure looks like, `parse` answers with an Email; what it could not take at its word is
named in `notes`.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email.message import Message
from typing import Any

from integrations.contracts import Attachment, Email
from integrations.mail.addresses import Mailboxes, parse_mailboxes
from integrations.mail.headers import (
    authentication,
    first_word,
    list_id,
    list_post,
    message_ids,
    sent_at,
    thread_key,
)
from integrations.mail.html import html_to_text
from integrations.mail.mime import MAX_TEXT_CHARS, Body, read_body, read_message, report_type
from integrations.mail.text import clean_line, header_text

MAX_MESSAGE_BYTES = 25 * 1024 * 1024
MAX_HEADER_CHARS = 50_000
MAX_SUBJECT_CHARS = 1_000
MAX_ADDRESSES = 100
SNIPPET_CHARS = 200

NOTES = {
    "date_impossible": "The Date header is missing or impossible; a later station's date is used.",
    "sender_missing": "No From header holds an address.",
    "sender_ambiguous": "More than one sender is claimed, so none is taken.",
    "address_refused": "An entry of an address header is not exactly one address.",
    "addresses_cut": "More addresses than are read.",
    "charset_guessed": "A charset is missing, unknown or wrong and was guessed.",
    "mime_broken": "The MIME structure is broken; what can be read is read.",
    "mime_too_deep": "Parts are nested too deeply or too many; the rest is left out.",
    "text_cut": "The text is longer than what is read.",
    "html_only": "There is no plain text; the text was made from HTML.",
}
"""What a parse can remark about a message, by code."""


@dataclass(frozen=True, kw_only=True)
class ParsedMail:
    """One message as the data service would hand it over, and codes of NOTES."""

    email: Email
    notes: tuple[str, ...]


def wire(email: Email) -> dict[str, Any]:
    """An Email as JSON values in the data service's shape (docs/data-service.md).

    Of one that `parse` made, encoded as UTF-8 JSON, it stays below 1 MiB, whatever the message was.
    """
    return email.model_dump(
        mode="json", by_alias=True, exclude={"revision", "version", "updated_at"}
    )


def parse(
    raw: bytes,
    *,
    fallback_date: datetime,
    trusted_server: str | None = None,
    keep: Callable[[bytes], str] | None = None,
) -> ParsedMail:
    """`raw` (without an mbox "From " line) as a newly arrived mail in the inbox.

    The id is made from the SHA-256 of `raw`: the same bytes are the same mail. A missing or
    impossible date becomes that of the last Received header or else `fallback_date` (aware).
    `trusted_server` names the receiving server whose Authentication-Results are believed;
    without it nothing is, and every finding is "none". `keep` is given the bytes of each attachment
    and answers with its `file_id`; without it attachments have none. Raises ValueError for more
    than MAX_MESSAGE_BYTES or a naive `fallback_date`, what `keep` raises, and nothing else.
    """
    if len(raw) > MAX_MESSAGE_BYTES:
        raise ValueError(f"The message is larger than {MAX_MESSAGE_BYTES} bytes.")
    if fallback_date.tzinfo is None:
        raise ValueError("fallback_date needs a time zone.")
    digest = hashlib.sha256(raw).hexdigest()
    message, intact = read_message(raw)
    headers = _headers(message)
    body = read_body(message)
    notes = set(body.notes) | (set() if intact else {"mime_broken"})

    sender, sender_name = _sender(headers.get("from", []), notes)
    date, claimed = sent_at(headers, fallback=fallback_date)
    notes |= set() if claimed else {"date_impossible"}
    subject = header_text(_first(headers, "subject"))[:MAX_SUBJECT_CHARS]
    text = _text(body, notes)
    email = Email(
        id=f"mail-{digest[:32]}",
        thread_id=f"thread-{_short_digest(thread_key(headers, subject=subject) or digest)}",
        message_id=next(iter(message_ids(_first(headers, "message-id"))), ""),
        sender=sender,
        sender_name=sender_name,
        to=_addresses(headers.get("to", []), notes),
        cc=_addresses(headers.get("cc", []), notes),
        bcc=_addresses(headers.get("bcc", []), notes),
        reply_to=_addresses(headers.get("reply-to", []), notes),
        subject=subject,
        body_text=text,
        body_html=body.html or None,
        date=date,
        labels=("INBOX", "UNREAD"),
        attachments=tuple(
            Attachment(
                name=part.name,
                mime_type=part.mime_type,
                size=len(part.content),
                file_id=keep(part.content) if keep else None,
            )
            for part in body.attachments
        ),
        snippet=clean_line(text[: SNIPPET_CHARS * 5])[:SNIPPET_CHARS],
        list_id=list_id(headers),
        list_post=list_post(headers),
        precedence=first_word(headers, "precedence"),
        auto_submitted=first_word(headers, "auto-submitted"),
        report_type=report_type(message),
        authentication=authentication(
            _first(headers, "authentication-results"),
            trusted_server=trusted_server,
            sender=sender,
        ),
    )
    return ParsedMail(email=email, notes=tuple(sorted(notes)))


def _headers(message: Message) -> dict[str, list[str]]:
    """Header values by lower-case name, in order, raw bytes as surrogates, each cut."""
    headers: dict[str, list[str]] = {}
    for name, value in message.raw_items():
        headers.setdefault(name.lower(), []).append(str(value)[: MAX_HEADER_CHARS + 1])
    return headers


def _first(headers: dict[str, list[str]], name: str) -> str:
    return headers.get(name, [""])[0]


def _sender(values: list[str], notes: set[str]) -> tuple[str, str]:
    """The one sender and its name. Two claims are none: readers disagree which one counts."""
    found = _mailboxes(values, notes)
    claims = len(found.accepted) + sum("@" in entry for entry in found.refused)
    if len(found.accepted) == 1 and claims == 1 and len(values) == 1:
        return found.accepted[0].address, found.accepted[0].name
    if claims > 1 or len(values) > 1:
        notes.add("sender_ambiguous")
        return "", ""
    notes.add("sender_missing")
    return "", header_text(values[0])[:200] if values else ""


def _addresses(values: list[str], notes: set[str]) -> tuple[str, ...]:
    found = tuple(mailbox.address for mailbox in _mailboxes(values, notes).accepted)
    if len(found) > MAX_ADDRESSES:
        notes.add("addresses_cut")
    return found[:MAX_ADDRESSES]


def _mailboxes(values: list[str], notes: set[str]) -> Mailboxes:
    value = ", ".join(values)
    if len(value) > MAX_HEADER_CHARS:
        # Cut between entries: half an address is another address.
        value = value[:MAX_HEADER_CHARS].rpartition(",")[0]
        notes.add("addresses_cut")
    found = parse_mailboxes(value)
    if found.refused:
        notes.add("address_refused")
    return found


def _text(body: Body, notes: set[str]) -> str:
    text = body.text
    if not text.strip() and body.html:
        notes.add("html_only")
        text = html_to_text(body.html)
    if len(text) > MAX_TEXT_CHARS:
        notes.add("text_cut")
    return text[:MAX_TEXT_CHARS]


def _short_digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
