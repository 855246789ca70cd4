"""The benign acts that attacks start from, each under a policy that permits just it."""

from tests.attacks.case import ITEM, Grant, Mail, Play
from tests.attacks.desk import ADA, BOB

START, END = "2026-03-02T10:00:00+01:00", "2026-03-02T11:00:00+01:00"
BOB_LISTED = (("recipient", BOB, "Bob"),)
COMPANY = (("recipient_domain", "company.com", "Us"),)
PROJECT = (("project", "PROJ", "Customer Portal"),)

SEND = Play(
    policy=(Grant(action="send_email", targets=BOB_LISTED),),
    action="send_email",
    arguments={"to": [BOB], "subject": "Lunch", "body": "Yes."},
)
SEND_TO_COMPANY = Play(
    policy=(Grant(action="send_email", targets=COMPANY),),
    action="send_email",
    arguments={"to": [BOB], "subject": "Lunch", "body": "Yes."},
    end="confirmed",
)
FORWARD = Play(
    policy=(Grant(action="forward_email", targets=BOB_LISTED),),
    action="forward_email",
    arguments={"email_id": "mail-1", "to": [BOB]},
)
DRAFT = Play(
    policy=(Grant(action="draft", targets=BOB_LISTED),),
    action="draft",
    arguments={"reply_to_id": "mail-1", "to": [ADA], "subject": "Re: Lunch", "body": "Yes."},
)
REPLY_DRAFT = Play(
    policy=(Grant(action="draft"),),
    action="draft",
    arguments={"reply_to_id": ITEM, "to": [ADA], "subject": "Re: Lunch", "body": "Yes."},
    via=Mail(),
)
INVITE = Play(
    policy=(Grant(action="create_calendar_event", targets=BOB_LISTED),),
    action="create_calendar_event",
    arguments={"title": "Lunch", "start": START, "end": END, "attendees": [BOB]},
)
SHARE = Play(
    policy=(Grant(action="share_document", targets=BOB_LISTED),),
    action="share_document",
    arguments={"document_id": "doc-1", "email": BOB},
)
