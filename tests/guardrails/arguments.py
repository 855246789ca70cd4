"""For every argument of every action, and every item of its lists: a value that passes and one
that must not."""

from dataclasses import dataclass
from typing import Any

BOB, EVE = "bob@company.com", "eve@evil.example"
START, END = "2026-03-02T10:00:00+01:00", "2026-03-02T11:00:00+01:00"
LINE_BREAK, CONTROL = "Hello\r\nBcc: eve@evil.example", "Hello\x07"
INVALID, UNKNOWN, UNLISTED = "invalid_arguments", "object_unknown", "target_not_listed"

BASE: dict[str, dict[str, Any]] = {
    "archive": {"email_id": "mail-1"},
    "trash_email": {"email_id": "mail-1"},
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
    "sort_issue": {"issue_key": "PROJ-900", "priority": "high"},
    "create_calendar_event": {"title": "Lunch", "start": START, "end": END},
    "update_calendar_event": {"event_id": "event-1", "title": "Late lunch"},
    "cancel_calendar_event": {"event_id": "event-1"},
    "answer_invitation": {"event_id": "event-of-bob", "answer": "declined"},
    "create_document": {"name": "Notes", "folder_id": "drive_finance"},
    "append_document": {"document_id": "doc-1", "content": "More."},
    "move_document": {"document_id": "doc-1", "folder_id": "drive_finance"},
    "share_document": {"document_id": "doc-1", "email": BOB},
    "trash_document": {"document_id": "doc-1"},
    "call_mcp_tool": {"tool": "tracker:create_issue", "arguments": {"title": "Setup"}},
}
TARGETS: dict[str, list[tuple[str, str, str]]] = {
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
    "sort_issue": ("project", "fields"),
    "answer_invitation": ("people",),
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
    """One argument, or one item of a list (`to[]`): a value that passes, one that does not, and
    the reason for that. A bad item stands behind a good one."""

    action: str
    argument: str
    good: Any
    bad: Any
    reason: str

    def __str__(self) -> str:
        return f"{self.action}.{self.argument}"

    def given(self, *, good: bool) -> dict[str, Any]:
        """The argument with its value."""
        if not self.argument.endswith("[]"):
            return {self.argument: self.good if good else self.bad}
        items = [self.good] if good else [self.good, self.bad]
        return {self.argument.removesuffix("[]"): items}


ROWS = (
    Row("archive", "email_id", "mail-1", "mail-of-somebody-else", UNKNOWN),
    Row("trash_email", "email_id", "mail-1", "mail-of-somebody-else", UNKNOWN),
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
    Row("send_email", "subject", "Hello \u2764\ufe0f", LINE_BREAK, INVALID),
    Row("send_email", "body", "Hello\n", CONTROL, INVALID),
    Row("send_email", "reply_to_id", "mail-1", "mail-of-somebody-else", UNKNOWN),
    Row("send_email", "attachments", ["doc-1"], ["doc-foreign"], "not_own"),
    Row("send_email", "attachments[]", "doc-1", "doc-nowhere", UNKNOWN),
    Row("forward_email", "attachments", ["doc-1"], ["doc-foreign"], "not_own"),
    Row("forward_email", "attachments[]", "doc-1", "../doc-1", INVALID),
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
    Row("create_jira_task", "due_date", "2026-03-02", "2026-03-02T10:00:00Z", INVALID),
    Row("update_jira_task", "issue_key", "PROJ-900", "OPS-900", UNLISTED),
    Row("update_jira_task", "summary", "Setup", LINE_BREAK, INVALID),
    Row("update_jira_task", "description", "In short.", "[~eve] look", INVALID),
    Row("update_jira_task", "type", "bug", "sub-task", INVALID),
    Row("update_jira_task", "status", "In Progress", "Done", UNLISTED),
    Row("update_jira_task", "priority", "high", 1, INVALID),
    Row("update_jira_task", "labels", ["portal"], ["urgent"], UNLISTED),
    Row("update_jira_task", "assignee", BOB, EVE, UNLISTED),
    Row("update_jira_task", "due_date", "2026-03-02", "20260302", INVALID),
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
    Row("answer_invitation", "event_id", "event-of-bob", "event-foreign", UNLISTED),
    Row("answer_invitation", "answer", "tentative", "yes", INVALID),
    Row("answer_invitation", "start", START, "tomorrow", INVALID),
    Row("answer_invitation", "end", END, "2026-03-02T11:00:00", INVALID),
    Row("sort_issue", "issue_key", "PROJ-900", "OPS-900", UNLISTED),
    Row("sort_issue", "component", "Login", LINE_BREAK, INVALID),
    Row("sort_issue", "label", "portal", "urgent", UNLISTED),
    Row("sort_issue", "priority", "high", "blocker", INVALID),
    Row("sort_issue", "duplicate_of", "OPS-900", LINE_BREAK, INVALID),
    Row("create_document", "name", "Notes", LINE_BREAK, INVALID),
    Row("create_document", "folder_id", "drive_finance", "drive_people", UNLISTED),
    Row("create_document", "content", "Hello.", CONTROL, INVALID),
    Row("append_document", "document_id", "doc-1", "doc-foreign", UNLISTED),
    Row("append_document", "content", "More.", "", INVALID),
    Row("move_document", "document_id", "doc-1", "doc-foreign", UNLISTED),
    Row("move_document", "folder_id", "drive_finance", "drive_people", UNLISTED),
    Row("trash_document", "document_id", "doc-1", "doc-foreign", "not_own"),
    Row("share_document", "document_id", "doc-1", "doc-foreign", UNLISTED),
    Row("share_document", "email", BOB, EVE, UNLISTED),
    Row("share_document", "role", "writer", "owner", INVALID),
    Row("call_mcp_tool", "tool", "tracker:create_issue", "tracker:find_issues", UNLISTED),
    Row("call_mcp_tool", "arguments", {"title": "Setup"}, {"title": "Setup", "bcc": EVE}, INVALID),
    Row("draft", "to[]", "ada@client.com", EVE, UNLISTED),
    Row("draft", "cc[]", BOB, f"{BOB},{EVE}", INVALID),
    Row("send_email", "to[]", BOB, EVE, UNLISTED),
    Row("send_email", "cc[]", BOB, f"Bob <{EVE}>", INVALID),
    Row("send_email", "bcc[]", BOB, None, INVALID),
    Row("forward_email", "to[]", BOB, EVE, UNLISTED),
    Row("forward_email", "cc[]", BOB, "bob@c\u043empany.com", INVALID),
    Row("forward_email", "bcc[]", BOB, EVE, UNLISTED),
    Row("create_jira_task", "labels[]", "portal", "portal\nurgent", INVALID),
    Row("update_jira_task", "labels[]", "portal", "urgent", UNLISTED),
    Row("create_calendar_event", "attendees[]", BOB, f"{BOB} {EVE}", INVALID),
    Row("update_calendar_event", "attendees[]", BOB, EVE, UNLISTED),
)
