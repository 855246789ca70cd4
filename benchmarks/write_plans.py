"""What the benchmark `once` is to do: accounts on real servers, and writes of every kind in them.
Django has to be set up before anything here is called."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import Any
from uuid import UUID

TOM = "tom@office.test"
MAIL = ("archive", "mark_read", "classify", "move_email", "trash_email", "draft")
SENDING = ("send_email", "forward_email")
KINDS: Mapping[str, tuple[str, ...]] = {
    "imap": MAIL,
    "smtp": SENDING,
    "jmap": (*MAIL, *SENDING),
    "caldav": ("create_calendar_event", "update_calendar_event", "cancel_calendar_event"),
    "webdav": ("create_document", "append_document", "move_document"),
    "trackers": ("create_jira_task", "update_jira_task", "comment_jira_task"),
}
FOLDER, LABEL = "Clients", "client"
# Of mails: the deciles of 2,635 real ones.
CHARS = (1100, 1400, 2200, 2700, 3000, 3400, 3800, 4400, 5900)
# What each kind of action may reach.
REACH = {
    "recipient": ("send_email", "forward_email", "draft"),
    "folder": ("create_document", "move_document", "move_email"),
    "label": ("classify",),
    "project": KINDS["trackers"],
}


@dataclass(frozen=True, kw_only=True)
class Write:
    action_id: UUID
    account_id: UUID
    protocol: str
    kind: str
    arguments: dict[str, Any]
    target: str = ""  # a Message-ID, or the path of an event


def make_account(
    source: str, user: str, address: str, user_name: str, servers: Any, *, secret: str = ""
) -> Any:
    from guardrails.actions import registry
    from guardrails.models import AllowedAction, AllowedActionOption
    from integrations.credentials import credentials
    from integrations.models import Account, Organisation
    from tests.guardrails.values import AGENT_TEXT, writes
    from tests.mail_world import PASSWORD

    organisation, _ = Organisation.objects.get_or_create(slug="office", defaults={"name": "Office"})
    row = Account.objects.create(
        organisation=organisation, external_user_id=user, source=source, address=address
    )
    credentials.keep(
        account_id=row.id,
        user_name=user_name,
        servers=servers,
        sealed=credentials.seal(secret or PASSWORD, account_id=row.id),
    )
    reached = {
        "recipient": (TOM, TOM),
        "folder": (f"folder:{FOLDER}", FOLDER if row.kind == "mail" else f"/{FOLDER}"),
        "label": (LABEL, LABEL),
        "project": project_of(row),
    }
    for kind in sorted({kind for kinds in KINDS.values() for kind in kinds}):
        if registry.BY_NAME[kind].kind != row.kind:
            continue
        lifted = [AGENT_TEXT] if writes(kind) else []
        AllowedAction.objects.create(
            account=row, action_type=kind, approval_mode="auto", conditions=lifted
        )
        for what, (id, name) in reached.items():
            if kind in REACH[what]:
                AllowedActionOption.objects.create(
                    account=row,
                    action_type=kind,
                    source=source,
                    kind=what,
                    external_id=id,
                    name=name,
                )
    return row


def project_of(row: Any) -> tuple[str, str]:
    """The id and the name of the project in which issues are written."""
    from integrations.accounts import reads
    from tests import github_world, jira_world

    if row.kind != "issues":
        return "", ""
    wanted = github_world.PLANS if row.source == "github_issues" else jira_world.PROJECT
    reader: Any = reads.reader(row.ref())
    return next((one.id, one.name) for one in reader.projects() if one.id == wanted)


def plan_mail(world: Any, row: Any, count: int, *, of: Container[str]) -> Iterator[Write]:
    """`of`: “imap” to change mail, “smtp” to send it, also where both go over JMAP."""
    from audit.ledger.ids import uuid7
    from integrations.accounts import reads

    kinds = [kind for name in ("imap", "smtp") if name in of for kind in KINDS[name]]
    for number in range(count + 1):
        world.deliver(
            row.address,
            f"From: {TOM}\r\nTo: {row.address}\r\nSubject: Offer {number}\r\n"
            f"Message-ID: <{number}.{row.external_user_id}@office.test>\r\n"
            f"Date: Mon, 09 Mar 2026 10:00:00 +0100\r\n\r\nHello {number}.\r\n".encode(),
        )
    with world.client(row.address) as client:
        client.create_folder(FOLDER)
        client.select_folder("INBOX")
        client.add_flags(client.search()[-1:], [LABEL], silent=True)  # a label is one in use
    mails = [one for one in everything(reads.reader(row.ref())) if LABEL not in one.labels]
    for number, mail in enumerate(mails):
        kind: str = kinds[number % len(kinds)]
        body = f"Answer {number}. ".ljust(CHARS[number % len(CHARS)], "x")
        text = {"to": [TOM], "body": fill(body), "subject": f"Answer {number}"}
        arguments: dict[str, Any] = {
            "send_email": text,
            "forward_email": {"email_id": mail.id, "to": [TOM], "body": "See below."},
            "draft": {**text, "reply_to_id": mail.id},
            "classify": {"email_id": mail.id, "label_id": LABEL},
            "move_email": {"email_id": mail.id, "folder_id": f"folder:{FOLDER}"},
        }.get(kind, {"email_id": mail.id})
        yield Write(
            action_id=uuid7(),
            account_id=row.id,
            protocol="jmap" if row.source == "jmap" else "smtp" if kind in SENDING else "imap",
            kind=kind,
            arguments=arguments,
            target=mail.message_id.strip("<>"),
        )


def plan_events(server: Any, row: Any, count: int) -> Iterator[Write]:
    from audit.ledger.ids import uuid7
    from integrations.providers.calendars.ids import event_id
    from tests.calendar_world import event

    times = {"start": "2099-03-09T12:00:00+00:00", "end": "2099-03-09T13:00:00+00:00"}
    for number in range(count):
        kind, path = KINDS["caldav"][number % 3], ""
        if kind != "create_calendar_event":
            name = f"{row.external_user_id}-{number}"
            server.put(name, event(f"Plan {number}", start="20990309T100000Z"))
            path = f"{server.calendar}{name}.ics"
        id = event_id(path) if path else ""
        arguments = {
            "create_calendar_event": {"title": f"New {number}", **times},
            "update_calendar_event": {"event_id": id, "title": f"Changed {number}"},
            "cancel_calendar_event": {"event_id": id},
        }[kind]
        yield Write(
            action_id=uuid7(),
            account_id=row.id,
            protocol="caldav",
            kind=kind,
            arguments=arguments,
            target=path,
        )


def plan_files(server: Any, row: Any, count: int) -> Iterator[Write]:
    from audit.ledger.ids import uuid7
    from integrations.accounts import reads

    server.put(f"{FOLDER}/kept.txt", "x")
    for number in range(count):
        if KINDS["webdav"][number % 3] != "create_document":
            server.put(f"Plan-{number}.txt", f"Plan {number}")
    found = everything(reads.reader(row.ref()))
    ids = {one.name: one.id for one in found}
    for number in range(count):
        kind, id = KINDS["webdav"][number % 3], ids.get(f"Plan-{number}.txt", "")
        name, folder = f"New-{number}.txt", f"folder:{FOLDER}"
        arguments = {
            "create_document": {"name": name, "folder_id": folder, "content": f"New {number}"},
            "append_document": {"document_id": id, "content": f" and more {number}."},
            "move_document": {"document_id": id, "folder_id": folder},
        }[kind]
        yield Write(
            action_id=uuid7(),
            account_id=row.id,
            protocol="webdav",
            kind=kind,
            arguments=arguments,
            target=name if kind == "create_document" else f"Plan-{number}.txt",
        )


def plan_issues(tracker: Any, row: Any, count: int) -> Iterator[Write]:
    from audit.ledger.ids import uuid7

    project, _ = project_of(row)
    for number in range(count):
        kind, key = KINDS["trackers"][number % 3], ""
        if kind != "create_jira_task":
            key = tracker.put(project, f"Plan {number}.", by=tracker.login)
        made = {"project_key": project, "type": "task", "summary": f"New {number}."}
        arguments = {
            "create_jira_task": made,
            "update_jira_task": {"issue_key": key, "summary": f"Changed {number}."},
            "comment_jira_task": {"issue_key": key, "body": f"Seen {number}."},
        }[kind]
        yield Write(
            action_id=uuid7(),
            account_id=row.id,
            protocol="trackers",
            kind=kind,
            arguments=arguments,
            target=f"{row.source} {arguments.get('summary') or arguments.get('body')}",
        )


def everything(reader: Any) -> list[Any]:
    """All items, page by page."""
    found: list[Any] = []
    cursor: str | None = None
    while True:
        page = reader.items(since=None, cursor=cursor, limit=100)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found
