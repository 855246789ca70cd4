"""What was done at which server, and how surely Remit proves it: the matrix of docs/providers.md.

    python -m scripts.servers            fails where the page has another one
    python -m scripts.servers --write    writes it into the page

Every cell is a test (tests/scripts/test_servers.py): what has a grade is done at
that server, and the grade is the one that connecting names; what has none is refused, and changes
nothing there.
"""

import argparse
import re
import sys
from dataclasses import dataclass

from integrations.ports.registry import BY_SOURCE
from scripts.room_graph import PROJECT

PAGE = PROJECT / "docs" / "providers.md"
PLACE = re.compile(r"(?s)(?<=<!-- servers -->\n).*?(?=<!-- end of servers -->)")
NO = "no"
MOVE = "Change and cancel events"
KNOW = "Know people in the address books"
CHANGE, PLAN = "Change, close and reopen issues", "Set priorities and due dates"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """`ability` is what connecting calls it, `grades` are by server; `NO` is what one cannot."""

    name: str
    ability: str
    grades: dict[str, str]


def _mail(name: str, ability: str, grades: str) -> Operation:
    servers = ("Sandbox", "Dovecot", "Cyrus", "Gmail", "Postfix", "Outlook", "Gmail IMAP")
    found = {server: one for server, one in zip(servers, grades, strict=False) if one != "-"}
    return Operation(name=name, ability=ability, grades=found)


def _events(name: str, ability: str, *grades: str) -> Operation:
    servers = ("Sandbox", "Radicale", "Xandikos", "Google Calendar", "Outlook Calendar")
    return Operation(name=name, ability=ability, grades=dict(zip(servers, grades, strict=True)))


def _issues(name: str, ability: str, *grades: str) -> Operation:
    servers = ("Sandbox", "GitHub", "Jira Cloud", "Jira Data Center", "RT")
    return Operation(name=name, ability=ability, grades=dict(zip(servers, grades, strict=True)))


def _files(name: str, ability: str, *grades: str) -> Operation:
    servers = ("Sandbox", "WsgiDAV", "Google Drive", "OneDrive")
    return Operation(name=name, ability=ability, grades=dict(zip(servers, grades, strict=True)))


def _people(name: str, ability: str, *grades: str) -> Operation:
    servers = ("Radicale", "Xandikos", "Cyrus")
    return Operation(name=name, ability=ability, grades=dict(zip(servers, grades, strict=True)))


SERVERS = {
    "Sandbox": "Sandbox (data service)",
    "Dovecot": "Dovecot 2.3 (IMAP, SMTP)",
    "Postfix": "Postfix 3.7 (SMTP into Dovecot)",
    "Cyrus": "Cyrus 3.6 (JMAP, CardDAV)",
    "Gmail": "Gmail (a fake)",
    "Gmail IMAP": "Gmail's labels (IMAP, a fake before Dovecot)",
    "Outlook": "Microsoft Graph mail (a fake)",
    "Radicale": "Radicale 3.9 (CalDAV, CardDAV)",
    "Xandikos": "Xandikos 0.4 (CalDAV, CardDAV)",
    "Google Calendar": "Google Calendar (a fake)",
    "Outlook Calendar": "Microsoft Graph calendars (a fake)",
    "WsgiDAV": "WsgiDAV 4.4 (WebDAV)",
    "Google Drive": "Google Drive (a fake)",
    "OneDrive": "Microsoft Graph files (a fake)",
    "GitHub": "GitHub (a fake)",
    "Jira Cloud": "Jira Cloud (a fake)",
    "Jira Data Center": "Jira Data Center (a fake)",
    "RT": "Request Tracker 5.0",
}
# What accounts at each of them are, in the registry.
SOURCES = {
    "Sandbox": "gmail",
    "Dovecot": "imap",
    "Postfix": "imap",
    "Cyrus": "jmap",
    "Gmail": "google_mail",
    "Gmail IMAP": "imap",
    "Outlook": "microsoft_mail",
    "Radicale": "caldav",
    "Xandikos": "caldav",
    "Google Calendar": "google_calendar",
    "Outlook Calendar": "microsoft_calendar",
    "WsgiDAV": "webdav",
    "Google Drive": "google_drive",
    "OneDrive": "microsoft_files",
    "GitHub": "github_issues",
    "Jira Cloud": "jira_issues",
    "Jira Data Center": "jira_issues",
    "RT": "rt_tickets",
}
# Debian builds its Cyrus without events.
HEARD = {"Cyrus": "looked"}
NEWS = "how Remit hears of a change"
OPERATIONS = (
    _mail("read a mail and leave no mark", "Read and search", "AAAA-AA"),
    _mail("mark as read", "Mark as read", "ABBB-BB"),
    _mail("star and label, and back", "Label", "ABBB-BB"),
    _mail("take a label off the rest of a thread", "Label", "ABBB-BB"),
    _mail("archive, and back", "Archive and move", "ABBB-BB"),
    _mail("move into a folder", "Archive and move", "ABBB-BB"),
    _mail("put into the trash, and back", "Put into the trash", "ABBB-BB"),
    _mail("write a draft once and take it back", "Write drafts and take them back", "ABBC-CB"),
    _mail("send once and file as sent", "Send, answer and forward", "ACBBCBC"),
    _mail("answer in the thread", "Send, answer and forward", "ACBBCBC"),
    _mail("forward", "Send, answer and forward", "ACBBCBC"),
    _mail("recall a sent mail", "Recall a sent mail", "--B"),
    _events("create an event once", "Create events", "A", "A", "A", "A", "A"),
    _events("change an event", MOVE, "A", "A", "A", "A", "B"),
    _events("refuse to change what has changed", MOVE, "A", "A", "A", "A", "B"),
    _events("cancel an event once", MOVE, "A", "A", "A", "A", "B"),
    _events("move one of a series", MOVE, "A", "A", "A", "A", "B"),
    _events("invite people", "Invite people", "A", NO, "A", "A", "A"),
    _people("know who is in an address book, as it changes", KNOW, "A", "A", "A"),
    _people("know them where the mark of the last look is lost", KNOW, "A", "A", "A"),
    _people("know nobody by a book that is gone", KNOW, "A", "A", "A"),
    _files("create a document once", "Create documents", "A", "A", "A", "A"),
    _files("add to a document once", "Add to documents", "A", "A", "B", "B"),
    _files("refuse to add to a document that has changed", "Add to documents", "A", "A", "B", "B"),
    _files("move a document", "Move documents", "A", "B", "B", "A"),
    _files(
        "put a document into the trash, and back", "Put documents into the trash", "A", NO, "B", "B"
    ),
    _files("share a document once, and stop", "Share documents", "A", NO, "B", "B"),
    _issues("create an issue once", "Create issues", "A", "C", "C", "C", "C"),
    _issues("comment on an issue once", "Comment on issues", "A", "C", "C", "C", "C"),
    _issues("change an issue", CHANGE, "A", "C", "C", "C", "B"),
    _issues("close an issue, and back", CHANGE, "A", "C", "C", "C", "B"),
    _issues("refuse to change an issue that has changed", CHANGE, "A", "C", "C", "C", "B"),
    _issues("label and assign an issue", "Set labels and assignees", "A", "C", "C", "C", "B"),
    _issues(
        "set a priority and a due date", "Set priorities and due dates", "A", NO, "C", "C", "B"
    ),
)


def draw() -> str:
    lines = [f"| operation | {' | '.join(SERVERS.values())} |", "|---" * (1 + len(SERVERS)) + "|"]
    heard = (HEARD.get(server) or BY_SOURCE[SOURCES[server]].news for server in SERVERS)
    lines.append(f"| {NEWS} | {' | '.join(heard)} |")
    for one in OPERATIONS:
        cells = (one.grades.get(server, "") for server in SERVERS)
        lines.append(f"| {one.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.servers")
    parser.add_argument("--write", action="store_true", help="write it into docs/providers.md")
    page, drawn = PAGE.read_text(encoding="utf-8"), draw()
    print(drawn, end="")
    if parser.parse_args(arguments).write:
        PAGE.write_text(PLACE.sub(lambda _: drawn, page), encoding="utf-8")
        return 0
    found = PLACE.search(page)
    if found is None or found[0] != drawn:
        print("docs/providers.md has another matrix: python -m scripts.servers --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
