"""What a case says of a mail or an event, as another person's program writes it."""

from collections.abc import Mapping
from datetime import datetime
from email import policy
from email.message import EmailMessage
from email.utils import format_datetime, quote
from typing import Any

from icalendar import Calendar, Event

from tests.attacks.desk import ADA
from tests.guardrails.office import PASSED

CHECKER = "mail.office.test"  # the server's own name in what it says of a sender
HEADERS = {
    "cc": "Cc",
    "reply_to": "Reply-To",
    "list_id": "List-ID",
    "auto_submitted": "Auto-Submitted",
}


def _message_id(name: str) -> str:
    return f"<{name}@cases.test>"


def write_mail(id: str, fields: Mapping[str, Any], me: str) -> EmailMessage:
    rules = policy.SMTP if str(fields.get("from", ADA)).isascii() else policy.SMTPUTF8
    mail = EmailMessage(policy=rules.clone(refold_source="none"))
    sender, checks = str(fields.get("from", ADA)), {**PASSED, **fields.get("authentication", {})}
    name = fields.get("from_name")
    mail["From"] = f'"{quote(name)}" <{sender}>' if name else sender
    mail["To"] = ", ".join(fields.get("to", [me]))
    mail["Subject"] = str(fields.get("subject", "Lunch on Friday?"))
    if date := fields.get("date"):
        mail["Date"] = format_datetime(datetime.fromisoformat(date))
    mail["Message-ID"] = _message_id(id)
    thread = fields.get("thread_id", id)
    mail["References"] = _message_id(f"{thread}-thread")
    said = " ".join(f"{kind}={result};" for kind, result in checks.items())
    mail["Authentication-Results"] = f"{CHECKER}; {said} header.from={sender.partition('@')[2]}"
    for field_name, header in HEADERS.items():
        if value := fields.get(field_name):
            mail[header] = value if isinstance(value, str) else ", ".join(value)
    if post := fields.get("list_post"):
        mail["List-Post"] = f"<mailto:{post}>"
    mail.set_content(str(fields.get("body_text", fields.get("body", "Shall we?"))))
    if report := fields.get("report_type"):
        mail.make_mixed()
        mail.set_type("multipart/report")
        mail.set_param("report-type", report)
    return mail


def write_event(fields: Mapping[str, Any], me: str) -> str:
    calendar, event = Calendar(), Event()
    calendar.add("prodid", "-//Somebody//Calendar//EN")
    calendar.add("version", "2.0")
    event.add("uid", "uid@office.test")
    event.add("summary", fields["title"])
    for name, given in (("dtstamp", "start"), ("dtstart", "start"), ("dtend", "end")):
        event.add(name, datetime.fromisoformat(fields[given]))
    for name in ("description", "location"):
        if name in fields:
            event.add(name, fields[name])
    event.add("organizer", f"mailto:{fields.get('created_by', me)}")
    for guest in fields.get("attendees", ()):
        event.add("attendee", f"mailto:{guest['email']}")
    calendar.add_component(event)
    return str(calendar.to_ical().decode())
