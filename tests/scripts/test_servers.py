"""The same operations at every provider on a real server, and what that holds afterwards: each cell
of the matrix in docs/providers.md (`scripts.servers`)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from functools import cache, partial
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from integrations.accounts import arrivals, catalogue
from integrations.contracts.outgoing import OutgoingMail
from integrations.credentials.oauth import Tokens
from integrations.exceptions import Rejected, Unavailable
from integrations.models import Account, Delivery, ProviderResource
from integrations.network import http
from integrations.ports.evidence import CannotTell, NotPerformed, Performed
from integrations.providers.caldav import trial
from integrations.providers.carddav import trial as contacts_trial
from integrations.providers.imap import connection
from integrations.providers.request_tracker import trial as rt_trial
from integrations.providers.request_tracker.session import RtSession
from integrations.providers.webdav import trial as webdav
from scripts.servers import NO, OPERATIONS
from tests import (
    google_calendar_world,
    google_drive_world,
    google_world,
    jira_world as jira,
    microsoft_calendar_world,
    microsoft_files_world,
    microsoft_world,
    rt_world,
)
from tests.calendar_world import ADDRESS, USER, CalendarServer, missing
from tests.cyrus_world import CyrusWorld, needs_cyrus, running_cyrus, served_contacts
from tests.file_world import needs_files, running_files
from tests.github_world import PLANS, running_github
from tests.gmail_imap_world import GmailWorld, running_gmail_imap
from tests.guardrails.office import settle
from tests.integrations.providers.carddav.box import Box as AddressBooks, open_book
from tests.integrations.providers.rooms import (
    SandboxRooms,
    ServedCalendar,
    ServedFiles,
    ServedGmail,
    ServedGoogleCalendar,
    ServedGoogleDrive,
    ServedLabels,
    ServedMailbox,
    ServedOneDrive,
    ServedOutlook,
    ServedOutlookCalendar,
    ServedTickets,
    ServedTracker,
    try_tracker,
)
from tests.mail_world import DOMAIN, PASSWORD, needs_dovecot, running_mail_world
from tests.own_accounts import connected, have_keys, tokens
from tests.postfix_world import NOBODY, needs_postfix, running_postfix
from tests.rt_world import needs_rt, running_rt
from tests.sandbox_server import running_sandbox
from tests.scripts.operations import CASES, TOM, Case, new_issue

pytestmark = pytest.mark.django_db

MARKS = {
    "Dovecot": [needs_dovecot],
    "Gmail IMAP": [needs_dovecot],
    "Postfix": [needs_postfix],
    "Cyrus": [needs_cyrus],
    "Radicale": [missing("radicale")],
    "RT": [needs_rt],
    "WsgiDAV": [needs_files],
    "Xandikos": [missing("xandikos")],
}
SIGNED_IN = ("Gmail", "Outlook", "Outlook Calendar", "OneDrive")
SOURCES_AT_GOOGLE = {"calendar": "google_calendar", "files": "google_drive"}
SOURCES = {"mail": "mailbox", "calendar": "diary", "files": "drive", "issues": "tracker"}


@pytest.fixture(scope="module")
def mail_servers() -> Iterator[Callable[[str], Any]]:
    starts: dict[str, Any] = {
        "Dovecot": running_mail_world,
        "Postfix": running_postfix,
        "Cyrus": running_cyrus,
        "GitHub": running_github,
        "Gmail": google_world.running_gmail,
        "Gmail IMAP": running_gmail_imap,
        "Google Calendar": google_calendar_world.running_google_calendar,
        "Google Drive": google_drive_world.running_google_drive,
        "Outlook": microsoft_world.running_outlook,
        "OneDrive": microsoft_files_world.running_onedrive,
        "Outlook Calendar": microsoft_calendar_world.running_outlook_calendar,
        "Jira Cloud": partial(jira.running_jira, is_cloud=True),
        "Jira Data Center": partial(jira.running_jira, is_cloud=False),
        "RT": running_rt,
        "Sandbox": running_sandbox,
        "WsgiDAV": running_files,
    }
    with ExitStack() as running:
        yield cache(lambda name: running.enter_context(starts[name]()))


@pytest.fixture
def books(
    mail_servers: Callable[[str], Any],
    calendar_servers: Callable[[str], CalendarServer],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[str], AddressBooks]]:
    """One user's address books at a server: an empty one, and what the server makes by itself."""

    def open_(name: str) -> AddressBooks:
        if name == "Cyrus":
            address = f"{uuid4().hex[:12]}@{DOMAIN}"
            world = mail_servers(name)
            monkeypatch.setenv("SSL_CERT_FILE", str(world.folder / "ca.pem"))
            server = clients.enter_context(served_contacts(world, address))
        else:
            server = calendar_servers(name.lower())
        monkeypatch.setenv("SSL_CERT_FILE", str(server.trusted))
        return contacts(server)

    with ExitStack() as clients:
        yield open_


@pytest.fixture
def opened(
    books: Callable[[str], AddressBooks],
    mail_servers: Callable[[str], Any],
    calendar_servers: Callable[[str], CalendarServer],
    db: None,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[str, str], Any]]:
    """One user's rooms of a kind at a server, empty."""
    have_keys(settings)

    def open_(name: str, kind: str) -> Any:
        if name == "Sandbox":
            office = settle(mail_servers(name), settings)
            row = getattr(office, SOURCES[kind])
            folder = "drive_clients" if kind == "files" else "folder_clients"
            return SandboxRooms(account=row.ref(), office=office, folder=folder)
        if name == "RT":
            rt = mail_servers(name)
            rt.clear()
            monkeypatch.setenv("SSL_CERT_FILE", str(rt.trusted))
            tickets = rt_trial.try_server(rt.origin, secret=rt.token).server
            row = kept("rt_tickets", rt_world.ADDRESS, "nora", tickets, secret=rt.token)
            return ServedTickets(account=row.ref(), rt=rt)
        if kind == "issues":
            tracker = mail_servers(name)
            tracker.clear()
            monkeypatch.setenv("SSL_CERT_FILE", str(tracker.trusted))
            found = try_tracker(tracker)
            source = "github_issues" if name == "GitHub" else "jira_issues"
            row = kept(source, jira.ADDRESS, jira.ADDRESS, found.server, secret=tracker.token)
            return ServedTracker(account=row.ref(), tracker=tracker)
        if name.startswith("Google"):
            google = mail_servers(name)
            google.clear()
            monkeypatch.setenv("SSL_CERT_FILE", str(google.trusted))
            served = ServedGoogleDrive if kind == "files" else ServedGoogleCalendar
            row = at_google(SOURCES_AT_GOOGLE[kind], google.api)
            return served(account=row.ref(), google=google)
        if name in SIGNED_IN:
            served = mail_servers(name)
            served.clear()
            monkeypatch.setenv("SSL_CERT_FILE", str(served.trusted))
            return signed_in(served)
        if kind == "contacts":
            return books(name)
        if kind == "calendar":
            server = calendar_servers(name.lower())
            server.clear()
            monkeypatch.setenv("SSL_CERT_FILE", str(server.trusted))
            tried = trial.try_urls([server.origin], user_name=USER, secret=PASSWORD)
            row = kept("caldav", ADDRESS, USER, tried.server.to_json())
            return ServedCalendar(account=row.ref(), server=server)
        if kind == "files":
            server = mail_servers(name)
            server.clear()
            monkeypatch.setenv("SSL_CERT_FILE", str(server.trusted))
            drive = webdav.try_url(server.origin, user_name=USER, secret=PASSWORD, readers=[])
            row = kept("webdav", ADDRESS, USER, drive.server.to_json())
            return ServedFiles(account=row.ref(), server=server)
        world = mail_servers(name)
        monkeypatch.setenv("SSL_CERT_FILE", str(world.folder / "ca.pem"))
        return mailbox(world)

    yield open_
    connection.close_idle()
    http.close_clients()


def contacts(server: CalendarServer) -> AddressBooks:
    server.clear()
    book = open_book(server)
    tried = contacts_trial.try_urls([server.origin], user_name=server.user, secret=PASSWORD)
    row = kept("carddav", ADDRESS, server.user, tried.server.to_json())
    return AddressBooks(server=server, account=row.ref(), book=book)


def mailbox(world: Any) -> ServedMailbox:
    address = f"{uuid4().hex[:12]}@{DOMAIN}"
    is_jmap = isinstance(world, CyrusWorld)
    if is_jmap:
        world.add(address)
    row = kept("jmap" if is_jmap else "imap", address, address, world.servers)
    if not isinstance(world, GmailWorld):
        return ServedMailbox(account=row.ref(), world=world)
    with world.client(address) as client:  # its user has made them
        client.create_folder("label_fyi")
        client.create_folder("label_to_reply")
    return ServedLabels(account=row.ref(), world=world)


def signed_in(served: Any) -> Any:
    if isinstance(served, google_world.Gmail):
        return ServedGmail(account=at_google("google_mail", served.api).ref(), gmail=served)
    if isinstance(served, microsoft_calendar_world.OutlookCalendar):
        row = at_microsoft("microsoft_calendar", {"api": served.api})
        return ServedOutlookCalendar(account=row.ref(), outlook=served)
    if isinstance(served, microsoft_files_world.OneDrive):
        row = at_microsoft("microsoft_files", served.servers)
        return ServedOneDrive(account=row.ref(), onedrive=served)
    row = at_microsoft("microsoft_mail", {"api": served.api, "folders": served.folders})
    return ServedOutlook(account=row.ref(), outlook=served)


def at_microsoft(source: str, servers: dict[str, Any]) -> Account:
    me, until = microsoft_world.ADDRESS, timezone.now() + timedelta(hours=1)
    tokens = Tokens(access=microsoft_world.TOKEN, refresh="r", expires_at=until)
    return kept(source, me, me, servers, secret=tokens.to_text())


def at_google(source: str, api: str) -> Account:
    me, secret = google_world.ADDRESS, tokens(google_world.TOKEN)
    return kept(source, me, me, {"api": api}, secret=secret)


def kept(
    source: str, address: str, user_name: str, servers: dict[str, Any], *, secret: str = PASSWORD
) -> Account:
    return connected(
        source,
        address=address,
        display_name="Nora Berg",
        user_name=user_name,
        servers=servers,
        secret=secret,
    )


CELLS = [
    pytest.param(
        *(kind, case, operation, server),
        marks=MARKS.get(server, []),
        id=f"{server}-{operation.name}".replace(" ", "_"),
    )
    for (kind, case), operation in zip(CASES, OPERATIONS, strict=True)
    for server in operation.grades
]


# What a line of the matrix needs to be switched on.
SWITCHED_ON: dict[str, dict[str, Any]] = {"recall a sent mail": {"JMAP_RECALL_SECONDS": 3600}}


@pytest.mark.parametrize(("kind", "case", "operation", "server"), CELLS)
def test_a_server_does_what_the_page_says(
    opened: Callable[[str, str], Any],
    kind: str,
    case: Case,
    operation: Any,
    server: str,
    settings: Any,
) -> None:
    for name, value in SWITCHED_ON.get(operation.name, {}).items():
        setattr(settings, name, value)
    rooms, grade = opened(server, kind), operation.grades[server]
    assert rooms.grades()[operation.ability] == grade.removeprefix(NO)
    if grade != NO:
        case(rooms)
        return
    with pytest.raises(Rejected):
        case(rooms)
    held = rooms.documents() if kind == "files" else rooms.titles()
    assert held in ([], {"Notes.txt": "One"})


@needs_postfix
def test_a_receiver_whom_postfix_refuses_refuses_all(opened: Callable[[str, str], Any]) -> None:
    box = opened("Postfix", "mail")

    with pytest.raises(Rejected):
        box.writer.send_email(OutgoingMail(to=(TOM, NOBODY), subject="x", body="y"), key="remit-1")

    assert (box.sent(), box.held()) == ([], {})
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)


@needs_rt
def test_a_ticket_can_be_set_what_rt_takes_and_no_more(opened: Callable[[str, str], Any]) -> None:
    rooms = opened("RT", "issues")
    key = rooms.put_issue("The printer is on fire")

    settable = rooms.reader.settable(rooms.reader.issue(key))
    assert settable == {"priority": None, "labels": None}
    rooms.writer.change_issue(
        key, {"priority": "high", "labels": ["hot"]}, revision=None, key="remit-1"
    )
    for name, value in (("components", ["Paper"]), ("duplicate_of", "1")):
        with pytest.raises(Rejected):
            rooms.writer.change_issue(key, {name: value}, revision=None, key=f"remit-{name}")


@needs_rt
def test_what_rt_takes_in_part_is_left_to_a_person_and_what_it_does_not_take_is_refused(
    opened: Callable[[str, str], Any],
) -> None:
    box = opened("RT", "issues")
    key = box.put_issue("CI")

    with pytest.raises(Rejected) as refused:
        box.writer.change_issue(key, {"status": "nonsense"}, revision=None, key="remit-1")
    assert "isn't a valid status" in refused.value.said
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)

    both = {"status": "nonsense", "summary": "Green"}
    with pytest.raises(Rejected) as in_part:
        box.writer.change_issue(key, both, revision=None, key="remit-2")
    assert in_part.value.outcome_unknown
    assert box.reader.evidence("remit-2") == CannotTell(ask_again_at=None)
    assert box.titles() == ["Green"]


@needs_rt
def test_a_ticket_whose_answer_was_lost_is_found_by_its_mark(
    opened: Callable[[str, str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    box = opened("RT", "issues")
    send = RtSession.send

    def lose(session: RtSession, *args: Any, **more: Any) -> Any:
        send(session, *args, **more)
        raise Unavailable("lost")

    with monkeypatch.context() as patch:
        patch.setattr(RtSession, "send", lose)
        with pytest.raises(Unavailable):
            new_issue(box)

    found = box.reader.evidence("remit-1")
    assert isinstance(found, Performed)
    assert new_issue(box)["key"] == found.response["key"]
    assert box.titles() == ["CI"]


@needs_rt
def test_what_another_person_does_at_rt_is_seen_once(opened: Callable[[str, str], Any]) -> None:
    box, queued = opened("RT", "issues"), list[UUID]()
    arrivals.look(box.account.id, enqueue=queued.append)
    key = box.put_issue("CI")
    for _ in range(2):
        arrivals.look(box.account.id, enqueue=queued.append)

    ours = Delivery.objects.filter(account_id=box.account.id, source_id=key)
    assert [one.kind for one in ours] == ["created"]


FOLDERS, PROJECTS = ("mail", "folder"), ("issues", "project")
LISTS = {
    "Sandbox": (*FOLDERS, "folder_clients"),
    **dict.fromkeys(("Dovecot", "Cyrus", "Outlook"), (*FOLDERS, "folder:Clients")),
    "Gmail IMAP": (*FOLDERS, "Clients"),
    **dict.fromkeys(("Radicale", "Xandikos"), ("calendar", "calendar", "")),
    "Google Calendar": ("calendar", "calendar", google_world.ADDRESS),
    "Outlook Calendar": ("calendar", "calendar", microsoft_calendar_world.OWN),
    "WsgiDAV": ("files", "folder", "folder:Clients"),
    **dict.fromkeys(("Google Drive", "OneDrive"), ("files", "folder", "clients")),
    "GitHub": (*PROJECTS, PLANS),
    "RT": (*PROJECTS, rt_world.QUEUE),
    **dict.fromkeys(("Jira Cloud", "Jira Data Center"), (*PROJECTS, jira.PROJECT)),
}


@pytest.mark.parametrize("server", [pytest.param(one, marks=MARKS.get(one, [])) for one in LISTS])
def test_what_people_pick_from_is_read_at_every_server(
    opened: Callable[[str, str], Any], server: str
) -> None:
    kind, resource_type, wanted = LISTS[server]
    room = opened(server, kind)
    if kind in ("mail", "files"):
        room.make_folder()
    catalogue.read(room.account, now=timezone.now())

    rows = ProviderResource.objects.filter(account_id=room.account.id)
    found = [row.external_id for row in rows.filter(resource_type=resource_type)]
    assert wanted in found if wanted else found
    if kind == "issues":
        people = rows.filter(resource_type="person", external_id=room.account.address)
        assert wanted in people.get().metadata["projects"]
