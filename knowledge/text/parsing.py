"""A provider's object into what is stored, searched and shown to a model. Pure."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from integrations.contracts import (
    AnyItem,
    ChatMessage,
    Comment,
    ContentType,
    Document,
    Email,
    Event,
    Issue,
)
from integrations.mail.html import html_to_text
from knowledge.files.contracts import FileRef, FileText
from knowledge.text.quotes import own_words
from knowledge.text.visible import address, line, visible

MAX_TITLE = 500
MAX_TEXT = 500_000
MAX_IDENTIFIERS = 200
MAX_NAME = 200
KNOWN_BY = 200  # characters with which the text of an attachment begins
FILES_CUT = "files_cut"
MAX_ATTACHMENTS = 100
MAX_SIZE = 2**62
PROMPT_CHARS = 8_000
# A new value makes every item be read by the models once more.
PARSER = "1"

MAX_IDENTIFIER = 500  # an index takes no longer ones
_BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True, kw_only=True)
class Parsed:
    """One item in the terms of `knowledge`.

    `participants` are (address, name) of everyone but the sender. `metadata` holds what may
    change without the content changing; `cut` in it says that the text was too long to keep
    whole. `identifiers` (lower case) are for exact search. `files` are the attachments, or the
    file that is the document; `sections` hold what was read from them, each under its heading.
    """

    content_type: ContentType
    title: str
    text: str
    sender_name: str
    sender_address: str
    participants: tuple[tuple[str, str], ...]
    projects: tuple[str, ...]
    identifiers: tuple[str, ...]
    occurred_at: datetime
    metadata: dict[str, Any]
    files: tuple[FileRef, ...] = ()
    sections: tuple[tuple[str, str], ...] = ()

    def with_files(self, texts: Sequence[FileText]) -> "Parsed":
        """This item with the texts of its `files`, in their order; as much as is kept
        (FILES_CUT in the metadata says that there is more)."""
        left = MAX_TEXT - len(self.text)
        sections = []
        for ref, read in zip(self.files, texts, strict=True):
            heading = _heading(line(ref.name, MAX_NAME)) if ref.attached else ""
            text = _text(read.text)
            if text and left > 0:
                sections.append((heading, text[:left]))
            left -= len(text)
        metadata = self.metadata | ({FILES_CUT: True} if left < 0 else {})
        return replace(self, sections=tuple(sections), metadata=metadata)

    @property
    def whole(self) -> str:
        """The item's own text and the texts of its files: what is stored and searched."""
        parts = [self.text, *(f"{heading}\n{text}".lstrip() for heading, text in self.sections)]
        return "\n\n".join(part for part in parts if part)

    @property
    def prompt(self) -> str:
        """What a model is shown to summarise the item."""
        sender = f"{self.sender_name} <{self.sender_address}>" if self.sender_address else ""
        head = f"Title: {self.title}\n" + (f"From: {sender.strip()}\n" if sender else "")
        return f"{head}\n{self.whole[:PROMPT_CHARS]}"

    @property
    def content_hash(self) -> str:
        """The same for the same content: title, text, sender and files. Not for flags and
        labels."""
        parts = [PARSER, self.content_type, self.title, self.sender_name, self.sender_address]
        for file in self.files:
            parts += [file.name, file.mime_type, str(file.size), file.file_id]
        digest = hashlib.sha256()
        for part in (*parts, self.text):
            data = part.encode()
            digest.update(len(data).to_bytes(8, "big") + data)
        return digest.hexdigest()


def own_part(text: str, attached: Iterable[tuple[str, str]]) -> str:
    """Of a stored text (`Parsed.whole`) the item's own, without those of its attachments. `text`
    may be its beginning, as may be the texts in `attached`: each attachment's name and text, in
    their order. What a stranger wrote like such a heading is no end."""
    whole = f"\n\n{text}"
    for name, read in attached:
        if beginning := _text(read)[:KNOWN_BY]:
            place = whole.rfind(f"\n\n{_heading(name)}\n{beginning}")
            return whole[2:place] if place >= 0 else text
    return text


def parse(item: AnyItem, *, source_id: str) -> Parsed:
    """`item` in the terms of `knowledge`. Never raises on what a stranger may have written."""
    match item:
        case Email():
            return _email(item, source_id)
        case Document():
            return _document(item, source_id)
        case Event():
            return _event(item, source_id)
        case Issue():
            return _issue(item, source_id)
        case ChatMessage():
            return _chat_message(item, source_id)


def _heading(name: str) -> str:
    return f"Attachment {name}:"


def _text(text: str) -> str:
    return _BLANK_LINES.sub("\n\n", visible(text)).strip()


def _people(*groups: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((address(entry), "") for group in groups for entry in group if "@" in entry)


def _email(mail: Email, source_id: str) -> Parsed:
    body = mail.body_text if mail.body_text.strip() else html_to_text(mail.body_html or "")
    return _parsed(
        content_type="email",
        title=mail.subject,
        text=own_words(visible(body)),
        sender=(mail.sender, mail.sender_name),
        participants=_people(mail.to, mail.cc, mail.bcc),
        identifiers=(source_id, mail.message_id.strip("<>")),
        occurred_at=mail.date,
        metadata={
            "thread_id": mail.thread_id,
            "message_id": mail.message_id,
            "to": list(mail.to),
            "cc": list(mail.cc),
            "labels": list(mail.labels),
            "is_read": mail.is_read,
            "is_starred": mail.is_starred,
            "list_id": mail.list_id,
            "authenticated": mail.authentication.dmarc == "pass",
            "attachments": [a.model_dump() for a in mail.attachments],
        },
        files=tuple(
            FileRef(
                name=line(attachment.name, MAX_NAME),
                mime_type=line(attachment.mime_type, MAX_NAME),
                size=min(max(attachment.size, 0), MAX_SIZE),
                file_id=attachment.file_id or "",
                attached=True,
            )
            for attachment in mail.attachments[:MAX_ATTACHMENTS]
        ),
    )


def _document(document: Document, source_id: str) -> Parsed:
    return _parsed(
        content_type="document",
        title=document.name,
        text=document.content_text,
        sender=(document.owner, ""),
        participants=_people(document.shared_with),
        identifiers=(source_id,),
        occurred_at=document.modified_at,
        metadata={
            "mime_type": document.mime_type,
            "folder_path": document.folder_path,
            "folder_id": document.folder_id,
            "shared_with": list(document.shared_with),
            "size_bytes": document.size_bytes,
            "owner": document.owner,
            "created_at": document.created_at.isoformat(),
        },
        files=_own_file(document),
    )


def _own_file(document: Document) -> tuple[FileRef, ...]:
    """The file is read where the data service has no text of the document."""
    if not document.file_id or document.content_text.strip():
        return ()
    return (
        FileRef(
            name=line(document.name, MAX_NAME),
            mime_type=line(document.file_type or document.mime_type, MAX_NAME),
            size=min(max(document.size_bytes, 0), MAX_SIZE),
            file_id=document.file_id,
            attached=False,
        ),
    )


def _event(event: Event, source_id: str) -> Parsed:
    attendees = tuple((address(a.email), line(a.name, 200)) for a in event.attendees)
    cancelled = "This event is cancelled.\n\n" if event.status.lower() == "cancelled" else ""
    place = f"\n\nPlace: {event.location}" if event.location else ""
    repeats = f"\n\nRepeats: {event.recurrence}" if event.recurrence else ""
    rest = event.this_and_future and event.series_id and event.original_start
    if rest:
        repeats += "\n\nThe rest of the series takes place like this one."
    return _parsed(
        content_type="event",
        title=event.title,
        text=f"{cancelled}{event.description}{place}{repeats}",
        sender=(event.created_by, ""),
        participants=attendees,
        identifiers=(source_id, event.series_id or ""),
        occurred_at=event.start,
        metadata={
            "start": event.start.isoformat(),
            "end": event.end.isoformat(),
            "time_zone": event.time_zone,
            "all_day": event.all_day,
            "status": event.status,
            "series_id": event.series_id,
            "original_start": event.original_start.isoformat() if event.original_start else None,
            "location": event.location or "",
            "attendees": [a.model_dump() for a in event.attendees],
            "recurrence": event.recurrence,
            "meet_link": event.meet_link,
        }
        | ({"this_and_future": True} if rest else {}),
    )


def _issue(issue: Issue, source_id: str) -> Parsed:
    return _parsed(
        content_type="issue",
        title=f"{issue.key} {issue.summary}",
        text="\n\n".join([issue.description or "", *map(_comment, issue.comments)]),
        sender=(issue.reporter or "", ""),
        participants=_people((issue.assignee or "",)),
        identifiers=(source_id, issue.key),
        projects=(issue.project_key,),
        occurred_at=issue.updated_at or issue.created_at,
        metadata={
            "key": issue.key,
            "project_key": issue.project_key,
            "type": issue.type,
            "status": issue.status,
            "priority": issue.priority,
            "assignee": issue.assignee,
            "labels": list(issue.labels),
            "components": list(issue.components),
            "due_date": issue.due_date.isoformat() if issue.due_date else None,
            "comments": len(issue.comments),
            "url": issue.url,
            "created_at": issue.created_at.isoformat(),
        },
    )


def _comment(comment: Comment) -> str:
    day = f" on {comment.created_at:%Y-%m-%d}" if comment.created_at else ""
    return f"{comment.author or 'Somebody'}{day}: {comment.body}"


def _chat_message(message: ChatMessage, source_id: str) -> Parsed:
    who = message.sender_name or message.sender
    return _parsed(
        content_type="message",
        title=f"{who} in {message.channel}" if message.channel else who,
        text=message.text,
        sender=(message.sender, message.sender_name),
        participants=(),
        identifiers=(source_id, message.thread_id),
        occurred_at=message.sent_at,
        metadata={
            "channel_id": message.channel_id,
            "channel": message.channel,
            "thread_id": message.thread_id,
            "url": message.url,
        },
    )


def _parsed(
    *,
    content_type: ContentType,
    title: str,
    text: str,
    sender: tuple[str, str],
    participants: tuple[tuple[str, str], ...],
    identifiers: tuple[str, ...],
    occurred_at: datetime,
    metadata: dict[str, Any],
    projects: tuple[str, ...] = (),
    files: tuple[FileRef, ...] = (),
) -> Parsed:
    # A provider may name a person without an address (a reporter's display name).
    sender_address = address(sender[0]) if "@" in sender[0] else ""
    sender_name = line(sender[1] or ("" if sender_address else sender[0]), 200)
    others = {entry: name for entry, name in participants if entry and entry != sender_address}
    known = [*(entry.lower() for entry in identifiers), sender_address, *others]
    known = [entry for entry in known if 0 < len(entry) <= MAX_IDENTIFIER]
    text = _text(text)
    return Parsed(
        content_type=content_type,
        title=line(title, MAX_TITLE),
        text=text[:MAX_TEXT],
        sender_name=sender_name,
        sender_address=sender_address,
        participants=tuple(others.items()),
        projects=tuple(line(project, 200) for project in projects),
        identifiers=tuple(dict.fromkeys(known))[:MAX_IDENTIFIERS],
        occurred_at=occurred_at,
        metadata=metadata | ({"cut": True} if len(text) > MAX_TEXT else {}),
        files=files,
    )
