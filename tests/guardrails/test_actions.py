"""For every argument of every action: a value that passes and one that must not, at the real
sandbox. What is refused never reaches the provider."""

from dataclasses import dataclass
from typing import Any

import pytest

from audit.selectors import recorded
from guardrails import approvals, registry
from guardrails.contracts import ActionResult
from guardrails.executor import execute
from tests.guardrails.office import Office, phases

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

BOB, EVE = "bob@company.com", "eve@evil.example"
START, END = "2026-03-02T10:00:00+01:00", "2026-03-02T11:00:00+01:00"
CREATED = "2026-01-05T09:00:00+00:00"
LINE_BREAK, CONTROL = "Hello\r\nBcc: eve@evil.example", "Hello\x07"
INVALID, UNKNOWN, UNLISTED = "invalid_arguments", "object_unknown", "target_not_listed"

BASE: dict[str, dict[str, Any]] = {
    "archive": {"email_id": "mail-1"},
    "classify": {"email_id": "mail-1", "label_id": "label_fyi"},
    "mark_read": {"email_id": "mail-1"},
    "move_email": {"email_id": "mail-1", "folder_id": "folder_clients"},
    "draft": {"reply_to_id": "mail-1", "to": [BOB], "subject": "Re: Lunch", "body": "Yes."},
    "delete_draft": {"draft_id": "draft-1"},
    "send_email": {"to": [BOB], "subject": "Lunch", "body": "Yes."},
    "forward_email": {"email_id": "mail-1", "to": [BOB]},
    "create_jira_task": {"project_key": "PROJ", "summary": "Setup CI/CD", "type": "task"},
    "update_jira_task": {"issue_key": "PROJ-900", "summary": "Setup CI"},
    "comment_jira_task": {"issue_key": "PROJ-900", "body": "Done by Friday."},
    "create_calendar_event": {"title": "Lunch", "start": START, "end": END},
    "update_calendar_event": {"event_id": "event-1", "title": "Late lunch"},
    "cancel_calendar_event": {"event_id": "event-1"},
    "create_document": {"name": "Notes", "folder_id": "drive_finance"},
    "append_document": {"document_id": "doc-1", "content": "More."},
    "move_document": {"document_id": "doc-1", "folder_id": "drive_finance"},
    "share_document": {"document_id": "doc-1", "email": BOB},
}
OPTIONS: dict[str, list[tuple[str, str, str]]] = {
    "label": [("label", "label_fyi", "FYI")],
    "mail folder": [("folder", "folder_clients", "Clients")],
    "drive folder": [
        ("folder", "drive_finance", "/Finance"),
        ("folder", "drive_people", "/People"),
    ],
    "people": [("recipient_domain", "company.com", "Us"), ("recipient", BOB, "Bob")],
    "project": [("project", "PROJ", "Customer Portal")],
    "fields": [
        ("status", "In Progress", "In Progress"),
        ("assignee", BOB, "Bob"),
        ("label", "portal", "portal"),
    ],
}
LISTED: dict[str, tuple[str, ...]] = {
    "classify": ("label",),
    "move_email": ("mail folder",),
    "draft": ("people",),
    "send_email": ("people",),
    "forward_email": ("people",),
    "create_jira_task": ("project", "fields"),
    "update_jira_task": ("project", "fields"),
    "comment_jira_task": ("project",),
    "create_calendar_event": ("people",),
    "update_calendar_event": ("people",),
    "cancel_calendar_event": ("people",),
    "create_document": ("drive folder", "people"),
    "append_document": ("people",),
    "move_document": ("drive folder", "people"),
    "share_document": ("people",),
}


@dataclass(frozen=True)
class Row:
    """One argument: a value that passes, one that does not, and the reason for that."""

    action: str
    argument: str
    good: Any
    bad: Any
    reason: str

    def __str__(self) -> str:
        return f"{self.action}.{self.argument}"


ROWS = (
    Row("archive", "email_id", "mail-1", "mail-of-somebody-else", UNKNOWN),
    Row("classify", "email_id", "mail-1", "mail-of-somebody-else", UNKNOWN),
    Row("classify", "label_id", "label_fyi", "FYI", UNLISTED),
    Row("mark_read", "email_id", "mail-1", "../mail-1", INVALID),
    Row("move_email", "email_id", "mail-1", "mail-of-somebody-else", UNKNOWN),
    Row("move_email", "folder_id", "folder_clients", "folder_receipts", UNLISTED),
    Row("draft", "reply_to_id", "mail-1", "mail-of-somebody-else", UNKNOWN),
    Row("draft", "to", ["ada@client.com"], [EVE], UNLISTED),
    Row("draft", "cc", [BOB], [EVE], UNLISTED),
    Row("draft", "subject", "Hello", LINE_BREAK, INVALID),
    Row("draft", "body", "Hello\n", CONTROL, INVALID),
    Row("delete_draft", "draft_id", "draft-1", "draft-of-somebody-else", UNKNOWN),
    Row("send_email", "to", [BOB], [BOB, EVE], UNLISTED),
    Row("send_email", "cc", [BOB], [EVE], UNLISTED),
    Row("send_email", "bcc", [BOB], ["omar@company.com"], UNLISTED),
    Row("send_email", "subject", "Hello", LINE_BREAK, INVALID),
    Row("send_email", "body", "Hello\n", CONTROL, INVALID),
    Row("send_email", "reply_to_id", "mail-1", "mail-of-somebody-else", UNKNOWN),
    Row("forward_email", "email_id", "mail-1", "mail-of-somebody-else", UNKNOWN),
    Row("forward_email", "to", [BOB], [BOB, EVE], UNLISTED),
    Row("forward_email", "cc", [BOB], [EVE], UNLISTED),
    Row("forward_email", "bcc", [BOB], ["omar@company.com"], UNLISTED),
    Row("forward_email", "body", "See below.", CONTROL, INVALID),
    Row("create_jira_task", "project_key", "PROJ", "OPS", UNLISTED),
    Row("create_jira_task", "summary", "Setup", LINE_BREAK, INVALID),
    Row("create_jira_task", "type", "bug", "sub-task", INVALID),
    Row("create_jira_task", "description", "As bob@company.com says.", "cc @eve", INVALID),
    Row("create_jira_task", "priority", "high", "blocker", INVALID),
    Row("create_jira_task", "labels", ["portal"], ["portal", "urgent"], UNLISTED),
    Row("create_jira_task", "assignee", BOB, EVE, UNLISTED),
    Row("update_jira_task", "issue_key", "PROJ-900", "OPS-900", UNLISTED),
    Row("update_jira_task", "summary", "Setup", LINE_BREAK, INVALID),
    Row("update_jira_task", "description", "In short.", "[~eve] look", INVALID),
    Row("update_jira_task", "type", "bug", "sub-task", INVALID),
    Row("update_jira_task", "status", "In Progress", "Done", UNLISTED),
    Row("update_jira_task", "priority", "high", 1, INVALID),
    Row("update_jira_task", "labels", ["portal"], ["urgent"], UNLISTED),
    Row("update_jira_task", "assignee", BOB, EVE, UNLISTED),
    Row("comment_jira_task", "issue_key", "PROJ-900", "OPS-900", UNLISTED),
    Row("comment_jira_task", "body", "Ask bob@company.com.", "\uff20\u200beve look", INVALID),
    Row("create_calendar_event", "title", "Lunch", LINE_BREAK, INVALID),
    Row("create_calendar_event", "start", "2026-03-02T08:00:00Z", "2026-03-02T10:00:00", INVALID),
    Row("create_calendar_event", "end", "2026-03-02T12:00:00+01:00", START, INVALID),
    Row("create_calendar_event", "description", "Bring cake.", CONTROL, INVALID),
    Row("create_calendar_event", "location", "Room 2", LINE_BREAK, INVALID),
    Row("create_calendar_event", "attendees", [BOB], [BOB, EVE], UNLISTED),
    Row("update_calendar_event", "event_id", "event-1", "event-foreign", UNLISTED),
    Row("update_calendar_event", "title", "Lunch", LINE_BREAK, INVALID),
    Row("update_calendar_event", "description", "Cake.", CONTROL, INVALID),
    Row("update_calendar_event", "start", START, "tomorrow", INVALID),
    Row("update_calendar_event", "end", END, "2026-03-02T11:00:00", INVALID),
    Row("update_calendar_event", "location", "Room 2", LINE_BREAK, INVALID),
    Row("update_calendar_event", "attendees", [BOB, "omar@company.com"], [EVE], UNLISTED),
    Row("cancel_calendar_event", "event_id", "event-1", "event-foreign", UNLISTED),
    Row("create_document", "name", "Notes", LINE_BREAK, INVALID),
    Row("create_document", "folder_id", "drive_finance", "drive_people", UNLISTED),
    Row("create_document", "content", "Hello.", CONTROL, INVALID),
    Row("append_document", "document_id", "doc-1", "doc-foreign", UNLISTED),
    Row("append_document", "content", "More.", "", INVALID),
    Row("move_document", "document_id", "doc-1", "doc-foreign", UNLISTED),
    Row("move_document", "folder_id", "drive_finance", "drive_people", UNLISTED),
    Row("share_document", "document_id", "doc-1", "doc-foreign", UNLISTED),
    Row("share_document", "email", BOB, EVE, UNLISTED),
    Row("share_document", "role", "writer", "owner", INVALID),
)


@pytest.fixture
def desk(office: Office) -> Office:
    """A mail, a draft, issues, events and documents: own ones and those of a stranger. The
    folder `drive_people` is listed, and read by the stranger."""
    me = office.mailbox.address
    office.receive(id="mail-1")
    office.put("drafts", id="draft-1", thread_id="t", message_id="<d@x>", created_at=CREATED)
    for key in ("PROJ-900", "OPS-900"):
        project = key.partition("-")[0]
        office.put(
            "issues",
            id=f"issue-{key}",
            key=key,
            project_key=project,
            summary="CI",
            reporter=me,
            created_at=CREATED,
        )
    for name, organiser in (("event-1", me), ("event-foreign", EVE)):
        people = [{"email": BOB}, {"email": me}]
        office.put(
            "events",
            id=name,
            title="Lunch",
            start=CREATED,
            end="2026-01-05T10:00:00+00:00",
            created_by=organiser,
            attendees=people,
        )
    for name, owner in (("doc-1", me), ("doc-foreign", EVE)):
        office.put(
            "documents",
            id=name,
            name="Plan",
            content_text="One.",
            folder_id="drive_meetings",
            created_at=CREATED,
            modified_at=CREATED,
            owner=owner,
        )
    office.share(drive_people=[EVE])
    for action in registry.ACTIONS:
        office.permit(action.name)
        for group in LISTED.get(action.name, ()):
            for kind, external_id, name in OPTIONS[group]:
                if kind in action.takes:
                    office.list_target(action.name, kind, external_id, name)
    return office


def done(office: Office, action: str, arguments: dict[str, Any]) -> ActionResult:
    """What becomes of the action when a person confirms whatever is asked."""
    result = execute(office.request(action, arguments))
    if result.approval_id is None:
        return result
    return approvals.confirm(
        organisation_id=office.organisation.id,
        approval_id=result.approval_id,
        decided_by="operator:ada",
    )


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_every_argument_is_decided(desk: Office, row: Row) -> None:
    arguments = BASE[row.action]

    refused = execute(desk.request(row.action, arguments | {row.argument: row.bad} | pair(row)))

    assert (refused.status, refused.reason) == ("refused", row.reason), refused.sentence
    assert phases(refused) == [("blocked", "blocked", row.reason)]
    assert desk.calls() == []

    passed = done(desk, row.action, arguments | {row.argument: row.good} | pair(row))

    assert passed.status == "succeeded", passed.sentence
    assert [call["performed"] for call in desk.calls()] == [True]


def pair(row: Row) -> dict[str, Any]:
    """An event's start and end are changed together."""
    if row.action != "update_calendar_event" or row.argument not in ("start", "end"):
        return {}
    return {"end": END} if row.argument == "start" else {"start": START}


def test_no_argument_is_without_its_row() -> None:
    expected = {
        f"{action.name}.{field}"
        for action in registry.ACTIONS
        for field in action.arguments.model_fields
    }
    assert {str(row) for row in ROWS} == expected


@pytest.mark.parametrize("action", sorted(BASE))
def test_unknown_arguments_are_refused(desk: Office, action: str) -> None:
    for extra in ({"raw": {"to": [EVE]}}, {"reply_to": [EVE]}, {"sendUpdates": "all"}):
        result = execute(desk.request(action, BASE[action] | extra))
        assert (result.status, result.reason) == ("refused", INVALID)
    assert desk.calls() == []


@pytest.mark.parametrize("action", sorted(LISTED))
def test_without_a_listed_target_nothing_is_done(desk: Office, action: str) -> None:
    account = desk._account_for(action)
    account.options.filter(action_type=action).delete()
    arguments = BASE[action] | ({"attendees": [BOB]} if "event" in action else {})
    if action == "cancel_calendar_event":
        arguments = BASE[action]
    if action == "append_document":
        desk.change("documents", "doc-1", shared_with=[BOB])

    result = execute(desk.request(action, arguments))

    assert (result.status, result.reason) == ("refused", UNLISTED)
    assert desk.calls() == []


def test_a_move_that_can_be_taken_back_says_how(desk: Office) -> None:
    result = execute(desk.request("move_document", BASE["move_document"]))

    assert result.status == "succeeded"
    row = recorded(result.action_id)[0]
    assert row.payload["undo"] == "Move the document back to /Meetings."


def test_what_was_deleted_is_told_without_an_answer(desk: Office) -> None:
    result = done(desk, "delete_draft", BASE["delete_draft"])

    assert (result.status, dict(result.result)) == ("succeeded", {"draft_id": "draft-1"})
