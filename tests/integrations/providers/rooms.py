"""One user's rooms at any provider, for tests that hold at all of them: what Remit reads and writes
there, and what the server itself holds, in the same words."""

from collections.abc import Mapping
from dataclasses import dataclass
from email import message_from_bytes, policy
from typing import Any

from django.utils import timezone

from integrations.accounts import reads, writes
from integrations.contracts import AccountRef
from integrations.credentials.oauth import Tokens
from integrations.exceptions import NotFound
from integrations.ports.registry import BY_SOURCE
from integrations.providers.caldav import trial as caldav_trial
from integrations.providers.github import trial as github_trial
from integrations.providers.github.servers import read_server
from integrations.providers.google_calendar import trial as google_calendar_trial
from integrations.providers.google_drive import trial as google_drive_trial
from integrations.providers.google_mail import trial as gmail_trial
from integrations.providers.imap import trial as imap_trial
from integrations.providers.imap.servers import MailServers
from integrations.providers.jira import trial as jira_trial
from integrations.providers.jmap import trial as jmap_trial
from integrations.providers.microsoft_calendar import trial as outlook_calendar_trial
from integrations.providers.microsoft_files import trial as onedrive_trial
from integrations.providers.microsoft_mail import trial as outlook_trial
from integrations.providers.request_tracker import trial as rt_trial
from integrations.providers.trackers.trial import Tried
from integrations.providers.webdav import trial as webdav_trial
from scripts.servers import OPERATIONS
from tests import file_world as files, google_world, microsoft_world
from tests.calendar_world import USER, CalendarServer, event
from tests.cyrus_world import CyrusWorld
from tests.file_world import FileServer
from tests.github_world import PLANS, GitHub
from tests.gmail_imap_world import ALL, SPAM, TRASH
from tests.google_calendar_world import GoogleCalendar
from tests.google_drive_world import FOLDER, GoogleDrive
from tests.google_world import Gmail
from tests.guardrails.office import Office
from tests.integrations.providers.imap import box
from tests.jira_world import ADDRESS, PROJECT, Jira
from tests.mail_world import PASSWORD, MailWorld
from tests.microsoft_calendar_world import OutlookCalendar
from tests.microsoft_files_world import OneDrive
from tests.microsoft_world import Outlook
from tests.rt_world import QUEUE, Rt

ABILITIES = tuple(one.ability for one in OPERATIONS)
SAID = {"\\Inbox": "INBOX", "\\Sent": "SENT", "\\Draft": "DRAFT", "\\Starred": "STARRED"}
LABELS = {"INBOX": {"INBOX"}, "Trash": {"TRASH"}, "Sent": {"SENT"}, "Drafts": {"DRAFT"}}


@dataclass(frozen=True, kw_only=True)
class Room:
    account: AccountRef

    @property
    def reader(self) -> Any:
        return reads.reader(self.account)

    @property
    def writer(self) -> Any:
        return writes.writer(self.account)

    def grades(self) -> Mapping[str, str]:
        """What connecting says can be done there, and how surely."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class ServedMailbox(Room):
    """On Dovecot or Cyrus, as its user's own program shows it over IMAP."""

    world: MailWorld
    folder: str = "folder:Clients"

    @property
    def box(self) -> box.Box:
        return box.Box(world=self.world, account=self.account)

    def grades(self) -> Mapping[str, str]:
        name = self.account.address
        if isinstance(self.world, CyrusWorld):
            found = jmap_trial.try_server(self.world.url, user_name=name, secret=PASSWORD).abilities
        else:
            servers = MailServers.from_json(self.world.servers)
            found = imap_trial.try_servers([servers], user_name=name, secret=PASSWORD).abilities
        return {one.what: one.grade for one in found}

    def make_folder(self) -> None:
        with self.world.client(self.account.address) as client:
            client.create_folder("Clients")

    def receive(self, subject: str, body: str = "At noon?", answers: str = "") -> str:
        """A mail that comes in; its Message-ID."""
        headers = {"References": answers, "In-Reply-To": answers} if answers else {}
        return self.box.deliver(subject, body, **headers)

    def held(self) -> dict[str, set[str]]:
        """Labels by subject, as Remit names them."""
        found: dict[str, set[str]] = {}
        for folder, mails in self.box.held().items():
            place = LABELS.get(folder, {f"folder:{folder}"} if folder == "Clients" else set())
            for subject, flags in mails:
                unread = set() if b"\\Seen" in flags else {"UNREAD"}
                starred = {"STARRED"} if b"\\Flagged" in flags else set()
                words = {one.decode() for one in flags if not one.startswith(b"\\")}
                found.setdefault(subject, set()).update(place, unread, starred, words)
        return found

    def sent(self) -> list[tuple[list[str], str, str]]:
        """Receivers, subject and text of all that left the server."""
        found = []
        for receivers, content in self.world.sent_by(self.account.address):
            mail: Any = message_from_bytes(content, policy=policy.default)
            assert mail["Bcc"] is None
            text = mail.get_body(("plain",)).get_content().replace("\r\n", "\n")
            found.append((sorted(receivers), str(mail["Subject"]), text.rstrip("\n")))
        return found


@dataclass(frozen=True, kw_only=True)
class ServedLabels(ServedMailbox):
    """On Dovecot behind Gmail's labels, as its user's own program shows it over IMAP."""

    folder: str = "Clients"

    def held(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        with self.world.client(self.account.address) as client:
            for name, place in ((ALL, set()), (TRASH, {"TRASH"}), (SPAM, {"SPAM"})):
                client.select_folder(name, readonly=True)
                uids = client.search()
                for one in client.fetch(uids, ["ENVELOPE", "FLAGS", "X-GM-LABELS"]).values():
                    names = {label.decode() for label in one[b"X-GM-LABELS"]}
                    words = {SAID.get(label, label) for label in names}
                    unread = set() if b"\\Seen" in one[b"FLAGS"] else {"UNREAD"}
                    subject = one[b"ENVELOPE"].subject.decode()
                    found.setdefault(subject, set()).update(place, words, unread)
        return found


@dataclass(frozen=True, kw_only=True)
class ServedGmail(Room):
    """At the fake of Gmail, as its user's own browser shows it. No test leaves a request or an
    answer behind that Google does not describe."""

    gmail: Gmail
    folder: str = "Label_7"

    def grades(self) -> Mapping[str, str]:
        tokens = Tokens(access=google_world.TOKEN, refresh="r", expires_at=timezone.now())
        tried = gmail_trial.try_account(
            tokens, address=self.account.address, api=self.gmail.api
        ).abilities
        return {one.what: one.grade for one in tried}

    def make_folder(self) -> None:
        pass  # its user has made that label

    def receive(self, subject: str, body: str = "At noon?", answers: str = "") -> str:
        headers = {"In_Reply_To": answers} if answers else {}
        return str(self.gmail.receive(subject, body, **headers).mail["Message-ID"])

    def held(self) -> dict[str, set[str]]:
        assert self.gmail.problems == []
        return self.gmail.by_subject()

    def sent(self) -> list[tuple[list[str], str, str]]:
        return [(sorted(to), subject, text) for to, subject, text in self.gmail.out]


@dataclass(frozen=True, kw_only=True)
class ServedOutlook(Room):
    """At the fake of Microsoft Graph, as its user's own browser shows it. No test leaves a request
    or an answer behind that its description does not know."""

    outlook: Outlook
    folder: str = "folder:Clients"

    def grades(self) -> Mapping[str, str]:
        tokens = Tokens(access=microsoft_world.TOKEN, refresh="r", expires_at=timezone.now())
        tried = outlook_trial.try_account(
            tokens, address=self.account.address, api=self.outlook.api
        ).abilities
        return {one.what: one.grade for one in tried}

    def make_folder(self) -> None:
        self.outlook.make_folder("Clients")

    def receive(self, subject: str, body: str = "At noon?", answers: str = "") -> str:
        headers = {"In_Reply_To": answers} if answers else {}
        return str(self.outlook.receive(subject, body, **headers).mail["Message-ID"])

    def held(self) -> dict[str, set[str]]:
        assert self.outlook.problems == []
        return self.outlook.held()

    def sent(self) -> list[tuple[list[str], str, str]]:
        return [(sorted(to), subject, text) for to, subject, text in self.outlook.out]


@dataclass(frozen=True, kw_only=True)
class SandboxRooms(Room):
    """Behind a data service, as its own contract shows them."""

    office: Office
    folder: str
    project: str = "PROJ"

    def grades(self) -> Mapping[str, str]:
        return dict.fromkeys(ABILITIES, BY_SOURCE[self.account.source].capabilities.grade)

    def make_folder(self) -> None:
        pass  # it has one

    def receive(self, subject: str, body: str = "At noon?", answers: str = "") -> str:
        message_id = f"<{subject.replace(' ', '-')}@elsewhere.test>"
        self.office.receive(
            subject=subject,
            body_text=body,
            message_id=message_id,
            thread_id="thread-1",
            labels=["INBOX", "UNREAD"],
        )
        return message_id

    def held(self) -> dict[str, set[str]]:
        mails = self.office.look("emails?limit=100")["items"]
        drafts = self.office.look("drafts")["items"]
        return {one["subject"]: set(one["labels"]) for one in mails} | {
            one["subject"]: {"DRAFT"} for one in drafts
        }

    def sent(self) -> list[tuple[list[str], str, str]]:
        return [
            (sorted([*one["to"], *one["cc"], *one["bcc"]]), one["subject"], one["body_text"])
            for one in self.office.look("emails?limit=100")["items"]
            if "SENT" in one["labels"]
        ]

    def put_document(self, text: str) -> str:
        if "Notes.txt" in self.documents() or "Clients/Notes.txt" in self.documents():
            self.office.change("documents", "doc-1", content_text=text)
        else:
            self.office.put("documents", id="doc-1", name="Notes.txt", content_text=text)
        return "doc-1"

    def documents(self) -> dict[str, str]:
        """Text by path, without what is in the trash."""
        return {
            ("Clients/" if one["folder_id"] == self.folder else "") + one["name"]: one[
                "content_text"
            ]
            for one in self.office.look("documents")["items"]
            if not one["trashed"]
        }

    def put_event(self, name: str, title: str, *, weekly: bool = False) -> None:
        rule = {"recurrence": "FREQ=WEEKLY;COUNT=3"} if weekly else {}
        times = {"start": "2026-03-09T10:00:00+00:00", "end": "2026-03-09T11:00:00+00:00"}
        try:
            self.reader.event(name)
        except NotFound:
            self.office.put("events", id=name, title=title, **times, **rule)
        else:
            self.office.change("events", name, title=title)

    def titles(self) -> list[str]:
        if self.account.kind == "issues":
            return sorted(one["summary"] for one in self.office.look("jira/issues")["items"])
        found = self.office.look("events?limit=100")["items"]
        return sorted(one["title"] for one in found if one["status"] != "cancelled")

    def put_issue(self, title: str) -> str:
        self.office.put("issues", id="issue-900", summary=title, status="To Do")
        return "PROJ-900"

    def change_issue(self, key: str, title: str) -> None:
        self.office.change("issues", key, summary=title)


@dataclass(frozen=True, kw_only=True)
class ServedCalendar(Room):
    """On Radicale or Xandikos, as its user's own program shows it."""

    server: CalendarServer

    def grades(self) -> Mapping[str, str]:
        tried = caldav_trial.try_urls([self.server.origin], user_name=USER, secret=PASSWORD)
        return {one.what: one.grade for one in tried.abilities}

    def put_event(self, name: str, title: str, *, weekly: bool = False) -> None:
        self.server.put(name, event(title, *["RRULE:FREQ=WEEKLY;COUNT=3"] * weekly))

    def titles(self) -> list[str]:
        return self.server.titles()


@dataclass(frozen=True, kw_only=True)
class ServedGoogleCalendar(Room):
    """At the fake of Google Calendar, as its user's own browser shows it. No test leaves a request
    or an answer behind that Google does not describe."""

    google: GoogleCalendar

    def grades(self) -> Mapping[str, str]:
        tokens = Tokens(access=google_world.TOKEN, refresh="r", expires_at=timezone.now())
        tried = google_calendar_trial.try_account(
            tokens, address=self.account.address, api=self.google.api
        ).abilities
        return {one.what: one.grade for one in tried}

    def put_event(self, name: str, title: str, *, weekly: bool = False) -> None:
        self.google.put(name, title, weekly=weekly)

    def titles(self) -> list[str]:
        assert self.google.problems == []
        return self.google.titles()


@dataclass(frozen=True, kw_only=True)
class ServedOutlookCalendar(Room):
    """At the fake of calendars at Microsoft Graph, as their user's own browser shows them. No test
    leaves a request or an answer behind that its description does not know."""

    outlook: OutlookCalendar

    def grades(self) -> Mapping[str, str]:
        tokens = Tokens(access=microsoft_world.TOKEN, refresh="r", expires_at=timezone.now())
        tried = outlook_calendar_trial.try_account(
            tokens, address=self.account.address, api=self.outlook.api
        ).abilities
        return {one.what: one.grade for one in tried}

    def put_event(self, name: str, title: str, *, weekly: bool = False) -> None:
        self.outlook.put(name, title, weekly=weekly)

    def titles(self) -> list[str]:
        assert self.outlook.problems == []
        return self.outlook.titles()


@dataclass(frozen=True, kw_only=True)
class ServedFiles(Room):
    """On WsgiDAV, as its user's own computer shows it."""

    server: FileServer
    folder: str = "folder:Clients"

    def grades(self) -> Mapping[str, str]:
        tried = webdav_trial.try_url(
            self.server.origin, user_name=files.USER, secret=files.PASSWORD, readers=[]
        )
        return {one.what: one.grade for one in tried.abilities}

    def make_folder(self) -> None:
        (self.server.folder / "Clients").mkdir()

    def put_document(self, text: str) -> str:
        self.server.put("Notes.txt", text)
        found = self.reader.items(since=None, cursor=None, limit=10).items
        return next(str(one.id) for one in found if one.name == "Notes.txt")

    def documents(self) -> dict[str, str]:
        return self.server.held()


@dataclass(frozen=True, kw_only=True)
class ServedGoogleDrive(Room):
    """At the fake of Google Drive, as its user's own browser shows it. No test leaves a request or
    an answer behind that Google does not describe."""

    google: GoogleDrive
    folder: str = "clients"

    def grades(self) -> Mapping[str, str]:
        tokens = Tokens(access=google_world.TOKEN, refresh="r", expires_at=timezone.now())
        tried = google_drive_trial.try_account(
            tokens, address=self.account.address, api=self.google.api
        ).abilities
        return {one.what: one.grade for one in tried}

    def make_folder(self) -> None:
        self.google.put(self.folder, "Clients", mimeType=FOLDER)

    def put_document(self, text: str) -> str:
        self.google.put("notes", "Notes.txt", text)
        return "notes"

    def documents(self) -> dict[str, str]:
        assert self.google.problems == []
        return self.google.held()


@dataclass(frozen=True, kw_only=True)
class ServedOneDrive(Room):
    """At the fake of files at Microsoft Graph, as their user's own browser shows them. No test
    leaves a request or an answer behind that its description does not know."""

    onedrive: OneDrive
    folder: str = "clients"

    def grades(self) -> Mapping[str, str]:
        tokens = Tokens(access=microsoft_world.TOKEN, refresh="r", expires_at=timezone.now())
        tried = onedrive_trial.try_account(
            tokens, address=self.account.address, api=self.onedrive.api
        ).abilities
        return {one.what: one.grade for one in tried}

    def make_folder(self) -> None:
        self.onedrive.make_folder(self.folder, "Clients")

    def put_document(self, text: str) -> str:
        self.onedrive.put("notes", "Notes.txt", text)
        return "notes"

    def documents(self) -> dict[str, str]:
        assert self.onedrive.problems == []
        return self.onedrive.held()


@dataclass(frozen=True, kw_only=True)
class ServedTracker(Room):
    """At the fake of a tracker, as a person in their browser shows it. No test leaves a request or
    an answer behind that its vendor does not describe."""

    tracker: GitHub | Jira

    @property
    def project(self) -> str:
        return PLANS if isinstance(self.tracker, GitHub) else PROJECT

    def grades(self) -> Mapping[str, str]:
        return {one.what: one.grade for one in try_tracker(self.tracker).abilities}

    def put_issue(self, title: str) -> str:
        return self.tracker.put(self.project, title, by=self.tracker.login)

    def change_issue(self, key: str, title: str) -> None:
        if isinstance(self.tracker, GitHub):
            self.tracker.change(key, title=title)
        else:
            self.tracker.change(key, summary=title)

    def titles(self) -> list[str]:
        assert self.tracker.problems == []
        if isinstance(self.tracker, GitHub):
            return sorted(one["title"] for one in self.tracker.issues.values())
        return sorted(one["fields"]["summary"] for one in self.tracker.issues.values())


@dataclass(frozen=True, kw_only=True)
class ServedTickets(Room):
    """At a real Request Tracker, as another person in their browser shows it."""

    rt: Rt
    project: str = QUEUE
    keeps_beginnings: bool = True  # how a ticket began stays

    def grades(self) -> Mapping[str, str]:
        found = rt_trial.try_server(self.rt.origin, secret=self.rt.token)
        return {one.what: one.grade for one in found.abilities}

    def put_issue(self, title: str) -> str:
        return self.rt.put(title)

    def change_issue(self, key: str, title: str) -> None:
        self.rt.change(key, Subject=title)

    def titles(self) -> list[str]:
        return sorted(one["Subject"] for one in self.rt.tickets().values())


def try_tracker(tracker: GitHub | Jira) -> Tried:
    if isinstance(tracker, GitHub):
        return github_trial.try_server(read_server(tracker.origin), secret=tracker.token)
    return jira_trial.try_server(tracker.origin, user_name=ADDRESS, secret=tracker.token)
