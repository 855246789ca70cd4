"""The same operations at every provider on a real server, and what that holds afterwards: each cell
of the matrix in docs/providers.md (`scripts.servers`)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache, partial
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from integrations.accounts import catalogue
from integrations.contracts.outgoing import OutgoingMail
from integrations.credentials import credentials, sealing
from integrations.exceptions import Changed, NotFound, Rejected
from integrations.models import Account, CalendarWrite, IssueWrite, ProviderResource
from integrations.network import http
from integrations.ports.evidence import NotPerformed, Performed
from integrations.providers.caldav import trial
from integrations.providers.imap import connection
from scripts.servers import NO, OPERATIONS
from tests import jira_world as jira
from tests.calendar_world import ADDRESS, USER, CalendarServer, missing
from tests.cyrus_world import CyrusWorld, needs_cyrus, running_cyrus
from tests.github_world import PLANS, running_github
from tests.guardrails.office import settle
from tests.integrations.conftest import PRIVATE
from tests.integrations.providers.rooms import (
    SandboxRooms,
    ServedCalendar,
    ServedMailbox,
    ServedTracker,
    try_tracker,
)
from tests.knowledge.office import account
from tests.mail_world import DOMAIN, PASSWORD, needs_dovecot, running_mail_world
from tests.postfix_world import NOBODY, needs_postfix, running_postfix
from tests.sandbox_server import running_sandbox

pytestmark = pytest.mark.django_db

TOM, ANN, BOSS = "tom@elsewhere.test", "ann@elsewhere.test", "boss@elsewhere.test"
LUNCH = {
    "title": "Lunch, with; signs",
    "start": "2026-03-09T12:00:00+01:00",
    "end": "2026-03-09T13:00:00+01:00",
    "description": "First\nsecond",
}
MARKS = {
    "Dovecot": [needs_dovecot],
    "Postfix": [needs_postfix],
    "Cyrus": [needs_cyrus],
    "Radicale": [missing("radicale")],
    "Xandikos": [missing("xandikos")],
}
SOURCES = {"mail": "mailbox", "calendar": "diary", "files": "drive", "issues": "tracker"}
Case = Callable[[Any], None]


@pytest.fixture(scope="module")
def mail_servers() -> Iterator[Callable[[str], Any]]:
    starts: dict[str, Any] = {
        "Dovecot": running_mail_world,
        "Postfix": running_postfix,
        "Cyrus": running_cyrus,
        "GitHub": running_github,
        "Jira Cloud": partial(jira.running_jira, is_cloud=True),
        "Jira Data Center": partial(jira.running_jira, is_cloud=False),
        "Sandbox": running_sandbox,
    }
    with ExitStack() as running:
        yield cache(lambda name: running.enter_context(starts[name]()))


@pytest.fixture
def opened(
    mail_servers: Callable[[str], Any],
    calendar_servers: Callable[[str], CalendarServer],
    db: None,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[str, str], Any]]:
    """One user's rooms of a kind at a server, empty."""
    settings.OUTGOING_TO_PRIVATE, settings.CREDENTIALS_PRIVATE_KEY = True, PRIVATE
    public = sealing.private_key(PRIVATE).public_key()
    settings.CREDENTIALS_PUBLIC_KEY = sealing.to_text(public)

    def open_(name: str, kind: str) -> Any:
        if name == "Sandbox":
            office = settle(mail_servers(name), settings)
            row = getattr(office, SOURCES[kind])
            return SandboxRooms(account=row.ref(), office=office)
        if kind == "issues":
            tracker = mail_servers(name)
            tracker.clear()
            monkeypatch.setenv("SSL_CERT_FILE", str(tracker.trusted))
            found = try_tracker(tracker)
            source = "github_issues" if name == "GitHub" else "jira_issues"
            row = kept(source, jira.ADDRESS, jira.ADDRESS, found.server, secret=tracker.token)
            return ServedTracker(account=row.ref(), tracker=tracker)
        if kind == "calendar":
            server = calendar_servers(name.lower())
            server.clear()
            monkeypatch.setenv("SSL_CERT_FILE", str(server.trusted))
            tried = trial.try_urls([server.origin], user_name=USER, secret=PASSWORD)
            row = kept("caldav", ADDRESS, USER, tried.server.to_json())
            return ServedCalendar(account=row.ref(), server=server)
        world = mail_servers(name)
        monkeypatch.setenv("SSL_CERT_FILE", str(world.folder / "ca.pem"))
        address = f"{uuid4().hex[:12]}@{DOMAIN}"
        is_jmap = isinstance(world, CyrusWorld)
        if is_jmap:
            world.add(address)
        row = kept("jmap" if is_jmap else "imap", address, address, world.servers)
        return ServedMailbox(account=row.ref(), world=world)

    yield open_
    connection.close_idle()
    http.close_clients()


def kept(
    source: str, address: str, user_name: str, servers: dict[str, Any], *, secret: str = PASSWORD
) -> Account:
    row = Account.objects.get(id=account(user=uuid4().hex[:12], source=source).id)
    row.address, row.display_name, row.time_zone = address, "Nora Berg", "Europe/Stockholm"
    row.save()
    sealed = credentials.seal(secret, account_id=row.id)
    credentials.keep(account_id=row.id, user_name=user_name, servers=servers, sealed=sealed)
    return row


def forget() -> None:
    """Remit's own record of what it did is lost: what is done once is so at the server."""
    CalendarWrite.objects.update(done=False)
    IssueWrite.objects.update(state=IssueWrite.State.SENT)


def only(box: Any) -> Any:
    (found,) = box.reader.items(since=None, cursor=None, limit=10).items
    return found


def got(box: Any, subject: str = "Lunch", answers: str = "") -> Any:
    """A mail that came in, as Remit lists it."""
    message_id = box.receive(subject, answers=answers)
    found = box.reader.items(since=None, cursor=None, limit=10).items
    return next(one for one in found if one.message_id == message_id)


def read(box: Any) -> None:
    mail = got(box)
    assert (mail.subject, mail.body_text.strip(), mail.is_read) == ("Lunch", "At noon?", False)
    assert box.reader.email(mail.id) == mail
    assert box.held() == {"Lunch": {"INBOX", "UNREAD"}}


def mark_read(box: Any) -> None:
    box.writer.mark_read(got(box).id, key="remit-1")
    assert box.held() == {"Lunch": {"INBOX"}}
    assert isinstance(box.reader.evidence("remit-1"), Performed)


def label(box: Any) -> None:
    id = got(box).id
    box.writer.change_labels(id, add=["STARRED", "label_fyi"], remove=["UNREAD"], key="remit-1")
    assert box.held() == {"Lunch": {"INBOX", "STARRED", "label_fyi"}}
    box.writer.change_labels(id, add=["UNREAD"], remove=["STARRED", "label_fyi"], key="remit-2")
    assert box.held() == {"Lunch": {"INBOX", "UNREAD"}}


def label_thread(box: Any) -> None:
    first = got(box, "Plan")
    second = got(box, "Re: Plan", answers=first.message_id)
    waiting, own = "label_to_reply", "label_fyi"
    box.writer.change_labels(first.id, add=[waiting, own], remove=[], key="remit-1")
    box.writer.change_labels(
        second.id, add=[own], remove=[waiting], thread_remove=[waiting], key="remit-2"
    )
    assert box.held() == {
        "Plan": {"INBOX", "UNREAD", own},
        "Re: Plan": {"INBOX", "UNREAD", own},
    }


def archive(box: Any) -> None:
    id = got(box).id
    box.writer.archive(id, key="remit-1")
    assert box.held() == {"Lunch": {"UNREAD"}}
    assert box.reader.email(id).labels == ("UNREAD",)
    box.writer.change_labels(id, add=["INBOX"], remove=[], key="remit-2")
    assert box.held() == {"Lunch": {"INBOX", "UNREAD"}}


def move(box: Any) -> None:
    box.make_folder()
    id = got(box).id
    got(box, "Other")
    box.writer.move_email(id, folder_id=box.folder, key="remit-1")
    assert box.held() == {"Lunch": {box.folder, "UNREAD"}, "Other": {"INBOX", "UNREAD"}}
    with pytest.raises(NotFound):
        box.writer.move_email(id, folder_id="folder:Nowhere", key="remit-2")
    assert box.held() == {"Lunch": {box.folder, "UNREAD"}, "Other": {"INBOX", "UNREAD"}}


def trash(box: Any) -> None:
    id = got(box).id
    box.writer.trash_email(id, key="remit-1")
    assert box.held() == {"Lunch": {"TRASH", "UNREAD"}}
    assert set(box.reader.email(id).labels) == {"TRASH", "UNREAD"}
    box.writer.change_labels(id, add=["INBOX"], remove=["TRASH"], key="remit-2")
    assert box.held() == {"Lunch": {"INBOX", "UNREAD"}}


def draft(box: Any) -> None:
    mail = OutgoingMail(to=(TOM,), bcc=(BOSS,), subject="Friday", body="See you.")
    answer = box.writer.create_draft(mail, key="remit-1")
    assert box.writer.create_draft(mail, key="remit-1")["id"] == answer["id"]
    found = box.reader.draft(answer["id"])
    assert (found.to, found.bcc, found.subject) == ((TOM,), (BOSS,), "Friday")
    assert found.body.strip() == "See you."
    assert box.sent() == []
    box.writer.delete_draft(answer["id"], revision=found.revision, key="remit-2")
    with pytest.raises(NotFound):
        box.reader.draft(answer["id"])
    assert box.held() == {}


def send(box: Any) -> None:
    body = "Grüße\n.\nTwo\n.. and three"
    mail = OutgoingMail(to=(TOM,), cc=(ANN,), bcc=(BOSS,), subject="Plan", body=body)
    answer = box.writer.send_email(mail, key="remit-1")
    again = box.writer.send_email(mail, key="remit-1")
    assert (again["id"], box.sent()) == (answer["id"], [([ANN, BOSS, TOM], "Plan", body)])
    assert box.held()["Plan"] - {"UNREAD"} == {"SENT"}
    assert "SENT" in box.reader.email(answer["id"]).labels
    assert isinstance(box.reader.evidence("remit-1"), Performed)


def answer(box: Any) -> None:
    asked = got(box, "Lunch: où ?")
    mail = OutgoingMail(to=(TOM,), subject="Re: Lunch: où ?", body="Yes.", reply_to_id=asked.id)
    said = box.writer.send_email(mail, key="remit-1")
    assert said["thread_id"] == asked.thread_id
    assert box.sent() == [([TOM], "Re: Lunch: où ?", "Yes.")]


def forward(box: Any) -> None:
    box.writer.forward_email(got(box).id, OutgoingMail(to=(ANN,), body="See below."), key="remit-1")
    ((receivers, subject, body),) = box.sent()
    assert (receivers, subject) == ([ANN], "Fwd: Lunch")
    assert body.startswith("See below.")


def create_event(box: Any) -> None:
    first = box.writer.create_event(LUNCH, key="remit-1")
    forget()
    again = box.writer.create_event(LUNCH, key="remit-1")
    found = box.reader.event(first["id"])
    assert len(box.titles()) == 1
    assert (again["id"], found.revision) == (first["id"], first["revision"])
    assert (found.title, found.description) == (LUNCH["title"], LUNCH["description"])
    assert found.start.isoformat() == "2026-03-09T11:00:00+00:00"
    assert found.created_by == box.account.address


def change_event(box: Any) -> None:
    box.put_event("plan", "Plan")
    before = only(box)
    said = box.writer.change_event(
        before.id, {"title": "New plan"}, revision=before.revision, key="remit-1"
    )
    found = box.reader.event(before.id)
    assert (found.title, found.start, found.end) == ("New plan", before.start, before.end)
    assert found.revision == said["revision"] != before.revision
    assert box.titles() == ["New plan"]


def refuse_changed_event(box: Any) -> None:
    box.put_event("plan", "Plan")
    before = only(box)
    box.put_event("plan", "Plan of somebody else")
    with pytest.raises(Changed):
        box.writer.change_event(before.id, {"title": "X"}, revision=before.revision, key="remit-1")
    with pytest.raises(Changed):
        box.writer.cancel_event(before.id, revision=before.revision, key="remit-2")
    assert box.titles() == ["Plan of somebody else"]


def cancel_event(box: Any) -> None:
    box.put_event("plan", "Plan")
    before = only(box)
    box.writer.cancel_event(before.id, revision=before.revision, key="remit-1")
    assert box.titles() == []
    forget()
    assert isinstance(box.reader.evidence("remit-1"), Performed)
    box.writer.cancel_event(before.id, revision=before.revision, key="remit-1")


def move_one_of_a_series(box: Any) -> None:
    box.put_event("weekly", "Weekly", weekly=True)
    series = only(box)
    one = box.reader.event(f"{series.id}_20260316T100000Z")
    assert (one.series_id, one.recurrence) == (series.id, None)
    later = {"start": "2026-03-16T15:00:00+01:00", "end": "2026-03-16T16:00:00+01:00"}
    box.writer.change_event(one.id, later, revision=one.revision, key="remit-1")
    assert box.reader.event(one.id).start.isoformat() == "2026-03-16T14:00:00+00:00"
    assert box.reader.event(series.id).start == series.start


def invite(box: Any) -> None:
    made = box.writer.create_event({**LUNCH, "attendees": [TOM]}, key="remit-1")
    assert [one.email for one in box.reader.event(made["id"]).attendees] == [TOM]


def create_document(box: Any) -> None:
    wanted = {"name": "Notes.md", "content": "One", "folder_id": "drive_clients"}
    first = box.writer.create_document(**wanted, key="remit-1")
    assert box.writer.create_document(**wanted, key="remit-1")["id"] == first["id"]
    assert [one["id"] for one in box.office.look("documents")["items"]] == [first["id"]]


def refuse_changed_document(box: Any) -> None:
    box.office.put("documents", id="doc-1", content_text="One")
    before = box.reader.document("doc-1")
    box.office.change("documents", "doc-1", content_text="Two")
    with pytest.raises(Changed):
        box.writer.append_document("doc-1", content="!", revision=before.revision, key="remit-1")
    assert box.office.look("documents/doc-1")["content_text"] == "Two"


def trash_document(box: Any) -> None:
    box.office.put("documents", id="doc-1", content_text="One")
    box.writer.trash_document("doc-1", revision=None, key="remit-1")
    assert box.office.look("documents/doc-1")["trashed"] is True
    box.writer.restore_document("doc-1", revision=None, key="remit-2")
    assert box.office.look("documents/doc-1")["trashed"] is False


def new_issue(box: Any, **more: Any) -> dict[str, Any]:
    usual = {
        "project_key": box.project,
        "type": "task",
        "summary": "CI",
        "description": "It is red",
    }
    none = {"priority": None, "labels": (), "assignee": None, "due_date": None}
    return dict(box.writer.create_issue(**{**usual, **none, **more}, key="remit-1"))


def create_issue(box: Any) -> None:
    first = new_issue(box)
    forget()
    assert new_issue(box)["key"] == first["key"]
    assert box.titles() == ["CI"]
    found = box.reader.issue(first["key"])
    assert (found.summary, found.description, found.status) == ("CI", "It is red", "To Do")
    assert isinstance(box.reader.evidence("remit-1"), Performed)


def comment_issue(box: Any) -> None:
    key = box.put_issue("CI")
    revision = box.reader.issue(key).revision
    for _ in range(2):
        box.writer.comment_issue(key, body="Seen.", revision=revision, key="remit-1")
        forget()
    assert [one.body for one in box.reader.issue(key).comments] == ["Seen."]


def change_issue(box: Any) -> None:
    before = box.reader.issue(box.put_issue("CI"))
    changes = {"summary": "Green", "description": "It is green"}
    box.writer.change_issue(before.key, changes, revision=before.revision, key="remit-1")
    found = box.reader.issue(before.key)
    assert (found.summary, found.description) == ("Green", "It is green")
    assert box.titles() == ["Green"]
    forget()
    assert isinstance(box.reader.evidence("remit-1"), Performed)


def close_issue(box: Any) -> None:
    key = box.put_issue("CI")
    for number, status in enumerate(("Done", "To Do")):
        before = box.reader.issue(key)
        box.writer.change_issue(
            key, {"status": status}, revision=before.revision, key=f"remit-{number}"
        )
        assert box.reader.issue(key).status == status


def refuse_changed_issue(box: Any) -> None:
    before = box.reader.issue(box.put_issue("CI"))
    box.change_issue(before.key, "Mine")
    with pytest.raises(Changed):
        box.writer.change_issue(
            before.key, {"summary": "X"}, revision=before.revision, key="remit-1"
        )
    assert box.titles() == ["Mine"]


def sort_issue(box: Any) -> None:
    before = box.reader.issue(box.put_issue("CI"))
    changes = {"labels": ["urgent"], "assignee": box.account.address}
    box.writer.change_issue(before.key, changes, revision=before.revision, key="remit-1")
    found = box.reader.issue(before.key)
    assert (found.labels, found.assignee) == (("urgent",), box.account.address)


def plan_issue(box: Any) -> None:
    key = new_issue(box, priority="high", due_date="2026-12-24")["key"]
    found = box.reader.issue(key)
    assert (str(found.priority).lower(), str(found.due_date)) == ("high", "2026-12-24")


MAIL = (
    *(read, mark_read, label, label_thread, archive, move, trash),
    *(draft, send, answer, forward),
)
CALENDAR = (
    *(create_event, change_event, refuse_changed_event),
    *(cancel_event, move_one_of_a_series, invite),
)
FILES = (create_document, refuse_changed_document, trash_document)
ISSUES = (
    *(create_issue, comment_issue, change_issue, close_issue),
    *(refuse_changed_issue, sort_issue, plan_issue),
)
CASES = [
    (kind, case)
    for kind, cases in {
        "mail": MAIL,
        "calendar": CALENDAR,
        "files": FILES,
        "issues": ISSUES,
    }.items()
    for case in cases
]
CELLS = [
    pytest.param(
        *(kind, case, operation, server),
        marks=MARKS.get(server, []),
        id=f"{server}-{operation.name}".replace(" ", "_"),
    )
    for (kind, case), operation in zip(CASES, OPERATIONS, strict=True)
    for server in operation.grades
]


@pytest.mark.parametrize(("kind", "case", "operation", "server"), CELLS)
def test_a_server_does_what_the_page_says(
    opened: Callable[[str, str], Any], kind: str, case: Case, operation: Any, server: str
) -> None:
    rooms, grade = opened(server, kind), operation.grades[server]
    assert rooms.grades()[operation.ability] == grade.removeprefix(NO)
    if grade != NO:
        case(rooms)
        return
    with pytest.raises(Rejected):
        case(rooms)
    assert rooms.titles() == []


@needs_postfix
def test_a_receiver_whom_postfix_refuses_refuses_all(opened: Callable[[str, str], Any]) -> None:
    box = opened("Postfix", "mail")

    with pytest.raises(Rejected):
        box.writer.send_email(OutgoingMail(to=(TOM, NOBODY), subject="x", body="y"), key="remit-1")

    assert (box.sent(), box.held()) == ([], {})
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)


FOLDERS, PROJECTS = ("mail", "folder"), ("issues", "project")
LISTS = {
    "Sandbox": (*FOLDERS, "folder_clients"),
    **dict.fromkeys(("Dovecot", "Cyrus"), (*FOLDERS, "folder:Clients")),
    **dict.fromkeys(("Radicale", "Xandikos"), ("calendar", "calendar", "")),
    "GitHub": (*PROJECTS, PLANS),
    **dict.fromkeys(("Jira Cloud", "Jira Data Center"), (*PROJECTS, jira.PROJECT)),
}


@pytest.mark.parametrize("server", [pytest.param(one, marks=MARKS.get(one, [])) for one in LISTS])
def test_what_people_pick_from_is_read_at_every_server(
    opened: Callable[[str, str], Any], server: str
) -> None:
    kind, resource_type, wanted = LISTS[server]
    room = opened(server, kind)
    if kind == "mail":
        room.make_folder()
    catalogue.read(room.account, now=timezone.now())

    rows = ProviderResource.objects.filter(account_id=room.account.id)
    found = [row.external_id for row in rows.filter(resource_type=resource_type)]
    assert wanted in found if wanted else found
    if kind == "issues":
        people = rows.filter(resource_type="person", external_id=room.account.address)
        assert wanted in people.get().metadata["projects"]
