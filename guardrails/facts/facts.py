"""What the guard itself looked up for one decision (`guardrails.gather.lookups`). Pure.
Nothing here comes from a model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

from guardrails.facts import folders, mailing_lists, targets
from guardrails.facts.content import Content
from guardrails.facts.corrections import Correction
from guardrails.facts.counts import Counts
from guardrails.facts.exposure import Authorship, Reader
from guardrails.facts.people import Directory
from guardrails.facts.threads import ThreadSummary, is_authenticated, summarise
from integrations.contracts import Document, Email, Event, Folder, Issue, Mailbox
from integrations.contracts.outgoing import Draft
from integrations.contracts.people import Correspondence
from integrations.ports.tools import Tool

Need = Literal[
    "email",
    "thread",
    "correspondence",
    "labels",
    "projects",
    "folders",
    "mailbox",
    "corresponded",
    "strangers",
    "directory",
    "members",
    "created",
    "content",
    "alert",
]
ObjectKind = Literal["email", "document", "event", "issue", "draft", "tool"]
CALENDAR = "calendar"  # an account has one, and no provider names it
INBOX, TRASH = "INBOX", "TRASH"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Read for one decision. None or empty means that it was not read or does not exist:
    what needs it must refuse."""

    email: Email | None = None
    thread: tuple[Email, ...] | None = None  # what a person sees of it; only older evidence has it
    thread_summary: ThreadSummary | None = None  # of the people whom the decision is about
    correspondence: Correspondence | None = None
    labels: Mapping[str, str] | None = None  # id to name, as they are at the provider now
    projects: Mapping[str, str] | None = None
    folders: tuple[Folder, ...] | None = None
    mailbox: Mailbox | None = None
    document: Document | None = None
    event: Event | None = None
    issue: Issue | None = None
    draft: Draft | None = None
    draft_digest: str = ""  # guardrails.facts.draft_text, of the draft
    tool: Tool | None = None
    attached: tuple["Facts", ...] = ()  # of each document that a mail takes along
    corresponded: Mapping[str, int] | None = None  # receiver to number of mails the user sent
    strangers: tuple[str, ...] | None = None  # of sender and receivers; listed or not
    directory: Directory | None = None  # whom the action reaches, and whom the user may mean
    members: tuple[str, ...] | None = None  # of the issue's project, among those it is given to
    groups: tuple[str, ...] = ()  # receivers behind whom the provider knows many people
    alert: str | None = None  # what the mail warns its owner of, in words; empty: of nothing
    content: Content | None = None  # what the object's own text contains
    authors: tuple[Authorship, ...] | None = None  # of what others get to see
    reached_by_agent: tuple[str, ...] = ()  # whom it wrote to unasked, in small letters
    let_in_by_agent: tuple[str, ...] | None = None  # to the object, unasked, in small letters
    created: tuple[str, ...] | None = None  # ids of what this run has created
    meant_by: str = ""  # how the user's words mean the object, by the guard's own look-up
    namesakes: int | None = None  # objects of its kind that have the object's whole title
    own_address: str = ""
    corrections: tuple[Correction, ...] = ()  # of the label, on like mail
    pattern_approved_at: datetime | None = None  # that acts; looked up with them
    counts: Counts | None = None  # not the provider's: how often the agent did such things

    def was_read(self, kind: ObjectKind, object_id: str) -> bool:
        """Whether exactly this object was read."""
        if kind == "issue":
            return self.issue is not None and self.issue.key == object_id
        found: Email | Document | Event | Draft | Tool | None = getattr(self, kind)
        return found is not None and found.id == object_id

    @property
    def revision(self) -> str | None:
        """The revision a write must find. None for mails: what changes in them, such as
        labels, was not decided on."""
        found = self.document or self.event or self.issue or self.draft or self.tool
        return found.revision if found else None

    @property
    def thread_labels(self) -> frozenset[str]:
        """Every label that the mail or another one of its thread has."""
        return frozenset(
            (*(self.email.labels if self.email else ()), *self.summarised_thread.labels)
        )

    @property
    def mail_folders(self) -> Mapping[str, str]:
        """Names of mail folders by id."""
        return {one.id: one.name for one in self.folders or () if one.kind == "mail"}

    @property
    def drive_folders(self) -> Mapping[str, str]:
        """Names (paths) of drive folders by id."""
        return {one.id: one.name for one in self.folders or () if one.kind == "drive"}

    @property
    def mailbox_members(self) -> tuple[str, ...]:
        """Who else reads this mailbox."""
        return self.others(self.mailbox.shared_with if self.mailbox else ())

    def others(self, addresses: Iterable[str]) -> tuple[str, ...]:
        """The addresses, each once, in order, without the account's own."""
        own = self.own_address.casefold()
        found = sorted({text for text in addresses if text and text.casefold() != own})
        return tuple(found)

    def folder_readers(self, folder_id: str | None) -> tuple[str, ...] | None:
        """Who else sees what lies in this drive folder, by itself or by a folder above it.
        None when that is not known: a folder above it that was not listed may have readers."""
        found = folders.readers(self.folders or (), folder_id)
        return None if found is None else self.others(found)

    @property
    def document_readers(self) -> tuple[str, ...] | None:
        """Who else sees the document: its owner, whom it is shared with, and the readers of
        its folder. None when that is not known."""
        if self.document is None:
            return None
        inherited = self.folder_readers(self.document.folder_id)
        if inherited is None or not self.document.owner:
            return None
        return self.others((self.document.owner, *self.document.shared_with, *inherited))

    @property
    def event_people(self) -> tuple[str, ...] | None:
        """Everybody else an event concerns: who made it and who attends. None if unknown."""
        if self.event is None or not self.event.created_by:
            return None
        return self.others(
            (self.event.created_by, *(attendee.email for attendee in self.event.attendees))
        )

    @property
    def document_roles(self) -> tuple[Reader, ...]:
        """Everybody else who sees the document, as far as that is known, and as what."""
        if self.document is None:
            return ()
        roles = self.document.roles
        return tuple(
            Reader(one, "owner" if one == self.document.owner else roles.get(one, "reader"))
            for one in self.document_readers or ()
        )

    def folders_above(self, folder_id: str | None) -> tuple[str, ...]:
        """The ids of this drive folder and of those above it, the nearest first."""
        return folders.above(self.folders or (), folder_id)

    @property
    def object_places(self) -> tuple[str, ...]:
        """The ids of where the object lies: its folder and those above it, the nearest first; the
        labels of a mail; for an event the account's calendar."""
        if self.document:
            return self.folders_above(self.document.folder_id)
        if self.event:
            return (CALENDAR,)
        return self.email.labels if self.email else ()

    def author(self, object_id: str) -> Authorship:
        """Who wrote this object. What was not looked up is the agent's: nobody knows better."""
        known = (one for one in self.authors or () if one.object_id == object_id)
        return next(known, Authorship(object_id=object_id, wrote="agent", placed=True))

    def readers(self, kind: ObjectKind) -> tuple[str, ...] | None:
        """Who else sees an object of this kind that was read. None when that is not known."""
        if kind == "document":
            return self.document_readers
        if kind == "event":
            return self.event_people
        if kind in ("email", "draft") and self.mailbox is not None:
            return self.mailbox_members
        return None

    @property
    def object_owner(self) -> str | None:
        """Whose the document, event or issue is; None when that is not known."""
        if self.document:
            return self.document.owner or None
        if self.event:
            return self.event.created_by or None
        return self.issue.reporter if self.issue else None

    @property
    def is_own(self) -> bool:
        """Whether the account owns the document or made the event."""
        if not self.object_owner:
            return False
        owner = targets.address_or_none(self.object_owner)
        own = targets.address_or_none(self.own_address)
        return own is not None and owner is not None and owner.casefold() == own.casefold()

    @property
    def object_title(self) -> str:
        """What people call the object; empty without one."""
        if self.document:
            return self.document.name
        if self.event:
            return self.event.title
        if self.issue:
            return self.issue.summary
        mail = self.email or self.draft
        return mail.subject if mail else ""

    @property
    def object_since(self) -> datetime | None:
        """When the mail came, or the document or issue was made."""
        if self.email:
            return self.email.date
        found = self.document or self.issue
        return found.created_at if found else None

    @property
    def sender(self) -> str | None:
        """The plain address of the mail's sender; None in doubt."""
        return targets.address_or_none(self.email.sender) if self.email else None

    @property
    def sender_authenticated(self) -> bool:
        return self.email is not None and is_authenticated(self.email)

    @cached_property
    def summarised_thread(self) -> ThreadSummary:
        """What decides of the thread; nothing where it was not read. Where nobody said whom the
        decision is about, everybody is in it."""
        return self.thread_summary or summarise(self.thread or ())

    @property
    def participants(self) -> frozenset[str]:
        """Every plain address in the headers of the thread."""
        return frozenset([one.address for one in self.summarised_thread.people if one.named_in])

    @property
    def authenticated_participants(self) -> frozenset[str]:
        """Who provably takes part: senders that passed DMARC, and whom the user wrote to in
        this thread. Whom a stranger put into `to` or `cc` is only a claim."""
        proved = [one.address for one in self.summarised_thread.people if one.proved_in]
        return self.written_to.union(proved)

    @property
    def lists(self) -> frozenset[str]:
        """The addresses, in small letters, of mailing lists that the mail and its thread came
        through, and of groups that the provider or the directory knows."""
        found = mailing_lists.posted_to(self.email) if self.email else frozenset()
        found |= {one.address for one in self.summarised_thread.people if one.list_in}
        groups = (*self.groups, *(self.directory.groups if self.directory else ()))
        return found | {one.lower() for one in groups}

    @property
    def sent_to(self) -> frozenset[str]:
        """Every plain address that mail of the thread was sent to from this mailbox."""
        return frozenset([one.address for one in self.summarised_thread.people if one.sent_in])

    @property
    def written_to(self) -> frozenset[str]:
        """Whom the user wrote to in the thread. Whom the agent wrote to unasked is left out."""
        found = self.sent_to
        if not (found and self.reached_by_agent):
            return found
        return frozenset([one for one in found if one.lower() not in self.reached_by_agent])

    def exposed(self) -> list[Any]:
        """What a person's word is bound to: the object as they saw it."""
        along = [part for one in self.attached for part in one.exposed()]
        if mail := self.email:
            content = [mail.body_text, mail.body_html, [one.name for one in mail.attachments]]
            return [mail.id, mail.thread_id, mail.sender, mail.subject, content, *along]
        if self.tool:
            return [self.tool.id, self.tool.revision, self.tool.fingerprint]
        found = self.document or self.event or self.issue or self.draft
        return [found.id, found.revision] if found else along
