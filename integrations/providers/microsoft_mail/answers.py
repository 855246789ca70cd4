"""What Microsoft Graph answers about mail, as far as Remit reads it (v1.0). Pure."""

from typing import Annotated, Any

from pydantic import AwareDatetime, Field

from integrations.providers.microsoft.answers import (
    BodySaid,
    MarkSaid,
    OrNone,
    RecipientSaid,
    Said,
)


class HeaderSaid(Said):
    name: str
    value: str = ""


class FlagSaid(Said):
    status: str = Field(default="", alias="flagStatus")


class MessageSaid(Said):
    """Where a mail lies and how it is marked. `etag` names this version of it; `body` comes
    with drafts alone, as they are made."""

    id: str = Field(min_length=1, max_length=512)
    thread_id: str = Field(default="", alias="conversationId")
    folder: str = Field(default="", alias="parentFolderId")
    words: Annotated[tuple[str, ...], OrNone] = Field(default=(), alias="categories")
    flag: FlagSaid | None = None
    is_read: bool | None = Field(default=None, alias="isRead")
    is_draft: bool | None = Field(default=None, alias="isDraft")
    received_at: AwareDatetime = Field(alias="receivedDateTime")
    version: str = Field(default="", alias="changeKey")
    etag: str = Field(default="", alias="@odata.etag")
    subject: str | None = None
    body: BodySaid | None = None


class HeadersSaid(Said):
    """`marks`: which of Remit's writes wrote it."""

    sent_at: AwareDatetime = Field(alias="sentDateTime")
    to: Annotated[tuple[RecipientSaid, ...], OrNone] = Field(default=(), alias="toRecipients")
    cc: Annotated[tuple[RecipientSaid, ...], OrNone] = Field(default=(), alias="ccRecipients")
    bcc: Annotated[tuple[RecipientSaid, ...], OrNone] = Field(default=(), alias="bccRecipients")
    headers: Annotated[tuple[HeaderSaid, ...], OrNone] = Field(
        default=(), alias="internetMessageHeaders"
    )
    marks: Annotated[tuple[MarkSaid, ...], OrNone] = Field(
        default=(), alias="singleValueExtendedProperties"
    )


class Messages(Said):
    value: tuple[MessageSaid, ...] = ()
    next_link: str | None = Field(default=None, alias="@odata.nextLink")


class Headers(Said):
    value: tuple[HeadersSaid, ...] = ()


class ChangedSaid(Said):
    id: str = Field(min_length=1, max_length=512)
    removed: dict[str, Any] | None = Field(default=None, alias="@removed")


class Changes(Said):
    value: tuple[ChangedSaid, ...] = ()
    next_link: str | None = Field(default=None, alias="@odata.nextLink")
    delta_link: str | None = Field(default=None, alias="@odata.deltaLink")


class FolderSaid(Said):
    id: str = Field(min_length=1, max_length=512)
    name: str = Field(default="", alias="displayName")
    parent: str | None = Field(default=None, alias="parentFolderId")
    folders: int = Field(default=0, alias="childFolderCount", ge=0)
    mails: int = Field(default=0, alias="totalItemCount", ge=0)
    role: str | None = None


class Folders(Said):
    value: tuple[FolderSaid, ...] = ()
    next_link: str | None = Field(default=None, alias="@odata.nextLink")
