"""What Gmail answers, as far as Remit reads it (its discovery document, gmail v1). Pure."""

from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict, Field


class Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Header(Said):
    name: str
    value: str = ""


class Part(Said):
    headers: tuple[Header, ...] = ()


class MessageSaid(Said):
    """`arrived_ms` is when Gmail took it, in milliseconds; `raw` its bytes in base64url, where they
    were asked for."""

    id: str = Field(min_length=1, max_length=64)
    thread_id: str = Field(default="", alias="threadId")
    labels: tuple[str, ...] = Field(default=(), alias="labelIds")
    arrived_ms: int = Field(default=0, alias="internalDate", ge=0, lt=2**48)
    raw: str = ""
    payload: Part = Part()

    @property
    def arrived(self) -> datetime:
        return datetime.fromtimestamp(self.arrived_ms / 1000, UTC)

    def headers(self, name: str) -> list[str]:
        wanted = name.lower()
        return [one.value for one in self.payload.headers if one.name.lower() == wanted]


class Messages(Said):
    messages: tuple[MessageSaid, ...] = ()
    next_page: str | None = Field(default=None, alias="nextPageToken")


class ThreadSaid(Said):
    messages: tuple[MessageSaid, ...] = ()


class DraftSaid(Said):
    id: str = Field(min_length=1, max_length=100)
    message: MessageSaid


class Drafts(Said):
    drafts: tuple[DraftSaid, ...] = ()


class LabelSaid(Said):
    id: str
    name: str = ""
    type: str = ""
    mails: int = Field(default=0, alias="messagesTotal", ge=0)


class Labels(Said):
    labels: tuple[LabelSaid, ...] = ()


class Profile(Said):
    address: str = Field(alias="emailAddress")
    history: str = Field(alias="historyId")


class _Changed(Said):
    message: MessageSaid


class HistorySaid(Said):
    added: tuple[_Changed, ...] = Field(default=(), alias="messagesAdded")
    deleted: tuple[_Changed, ...] = Field(default=(), alias="messagesDeleted")
    labelled: tuple[_Changed, ...] = Field(default=(), alias="labelsAdded")
    unlabelled: tuple[_Changed, ...] = Field(default=(), alias="labelsRemoved")


class History(Said):
    history: tuple[HistorySaid, ...] = ()
    next_page: str | None = Field(default=None, alias="nextPageToken")
    newest: str = Field(alias="historyId")
