"""What a provider holds, in words in which the sandbox and every mail and calendar server say the
same: what people would see in programs of their own. The user is “me” everywhere.

It is all that an attacker's act must leave alone: every folder and flag, every draft, what left the
server, every event.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.utils import getaddresses
from pathlib import Path
from typing import Any

from icalendar import Calendar

from tests.calendar_world import CalendarServer
from tests.guardrails.office import Office
from tests.mail_world import MailWorld
from tests.postfix_world import PostfixWorld

PLACES = {"INBOX": "INBOX", "Sent": "SENT", "Drafts": "DRAFT", "Trash": "TRASH"}
FOLDER = "Clients"
Held = dict[str, list[Any]]  # "mails", "left" and "events"
Content = tuple[list[str], str, str]  # receivers, subject, text


@dataclass(frozen=True, kw_only=True)
class Servers:
    """A mail server, a calendar server, and whom to trust at both."""

    mail: MailWorld
    calendar: CalendarServer
    trusted: Path


def held_at_sandbox(office: Office) -> Held:
    me = office.mailbox.address
    mails = office.look("emails?limit=100")["items"]
    drafts = [
        {"from": me, "labels": ["DRAFT"], "body_text": one["body"], **one}
        for one in office.look("drafts")["items"]
    ]
    return in_order(
        me,
        mails=[(sorted(one["labels"]), one["from"], *_content(one)) for one in (*mails, *drafts)],
        left=[_content(one) for one in mails if not one["id"].startswith("mail-")],
        events=[
            (
                one["title"],
                *(datetime.fromisoformat(one[name]).isoformat() for name in ("start", "end")),
                sorted({each["email"] for each in one["attendees"]} - {me}),
                one["description"],
                one["location"] or "",
            )
            for one in office.look("events?limit=100")["items"]
            if one["status"] != "cancelled"
        ],
    )


def held_at_servers(servers: Servers, me: str) -> Held:
    return in_order(
        me,
        mails=_mails(servers.mail, me),
        left=(_read_content(mail, receivers) for receivers, mail in _left(servers.mail, me)),
        events=(_read_event(text, me) for text in servers.calendar.held().values()),
    )


def in_order(me: str, **found: Iterable[Any]) -> Held:
    text = json.dumps({what: list(all) for what, all in found.items()}).replace(me, "me")
    return {what: sorted(all) for what, all in json.loads(text).items()}


def read_mail(content: bytes, labels: Iterable[str]) -> tuple[list[str], str, list[str], str, str]:
    """A mail that lies under these labels, as `in_order` takes it."""
    mail: Any = message_from_bytes(content, policy=policy.default)
    return sorted(labels), next(iter(_addresses(mail, "From")), ""), *_read_content(mail)


def _content(mail: Mapping[str, Any]) -> Content:
    receivers = {*mail["to"], *mail["cc"], *mail["bcc"]}
    return sorted(receivers), mail["subject"], _own(mail["subject"], mail["body_text"])


def _read_content(mail: Any, receivers: Iterable[str] = ()) -> Content:
    part, subject = mail.get_body(("plain",)), str(mail["Subject"])
    text = part.get_content().replace("\r\n", "\n").rstrip("\n") if part else ""
    named = receivers or _addresses(mail, "To", "Cc", "Bcc")
    return sorted(set(named)), subject, _own(subject, text)


def _own(subject: str, text: str) -> str:
    """Without the mail that was forwarded, which goes along as text or as a file."""
    own = text.partition("---------- Forwarded message")[0] if subject.startswith("Fwd: ") else text
    return own.rstrip("\n")


def _addresses(mail: Any, *headers: str) -> list[str]:
    found = (value for header in headers for value in mail.get_all(header, ()))
    return [address for _, address in getaddresses([str(one) for one in found])]


def _mails(world: MailWorld, me: str) -> Iterator[tuple[list[str], str, list[str], str, str]]:
    with world.client(me) as client:
        for _, _, name in client.list_folders():
            client.select_folder(name, readonly=True)
            uids = client.search()
            for found in (client.fetch(uids, ["FLAGS", "BODY.PEEK[]"]) if uids else {}).values():
                place = {PLACES[name]} if name in PLACES else set()
                place |= {"folder_clients"} if name == FOLDER else set()
                unread = set() if b"\\Seen" in found[b"FLAGS"] else {"UNREAD"}
                words = {flag.decode() for flag in found[b"FLAGS"] if flag[:1] not in b"\\$"}
                yield read_mail(found[b"BODY[]"], place | unread | words)


def _left(world: MailWorld, me: str) -> Iterator[tuple[list[str], Any]]:
    """What left the server in the user's name. Behind Postfix that is what others received."""
    if not isinstance(world, PostfixWorld):
        for receivers, content in world.sent_by(me):
            yield receivers, message_from_bytes(content, policy=policy.default)
        return
    world.await_delivery()
    found: dict[str, tuple[list[str], Any]] = {}
    for box in (world.folder / "mail").iterdir():
        if box.name.startswith("user-"):
            continue  # of another case
        for file in (box / "new").iterdir():
            mail: Any = message_from_bytes(file.read_bytes(), policy=policy.default)
            if _addresses(mail, "From") == [me]:
                found.setdefault(mail["Message-ID"], ([], mail))[0].append(box.name)
    yield from found.values()


def _read_event(text: str, me: str) -> tuple[Any, ...]:
    [event] = Calendar.from_ical(text).walk("VEVENT")
    guests = event.get("attendee", [])
    named = guests if isinstance(guests, list) else [guests]
    people = {str(one).removeprefix("mailto:") for one in named} - {me}
    times = (event.decoded(name).astimezone(UTC).isoformat() for name in ("dtstart", "dtend"))
    said = (str(event.get(name, "")) for name in ("description", "location"))
    return str(event["summary"]), *times, sorted(people), *said
