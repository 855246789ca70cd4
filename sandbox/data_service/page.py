"""The one page for people: what the office looks like now. It only shows; all text from the
office is escaped, nothing remote is loaded and no script runs."""

import base64
import hashlib
from collections.abc import Callable, Iterable
from html import escape
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from sandbox.data_service import objects, operations, places
from sandbox.data_service.serving import room
from sandbox.data_service.store import JsonObject, Store
from sandbox.data_service.times import instant, now
from sandbox.data_service.values import (
    DOCUMENT,
    DRAFT,
    EMAIL,
    EVENT,
    GITHUB,
    ISSUE,
    OUTLOOK,
    SLACK,
    Kind,
)

MOST_LISTED = 100
BODY_LENGTH = 4000
STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --quiet: light-dark(#666, #aaa); }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
h1 { font-size: 1.4rem; margin: 0 0 .5rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line); }
h2 small, .quiet { color: var(--quiet); font-weight: normal; font-size: .85rem; }
.notice { background: var(--soft); border-radius: .5rem; padding: .6rem .9rem; }
nav a { margin-right: .8rem; }
nav a[aria-current] { font-weight: bold; }
ul { list-style: none; margin: 0; padding: 0; }
li { border-bottom: 1px solid var(--line); padding: .35rem 0; overflow-wrap: anywhere; }
summary { cursor: pointer; }
.unread { font-weight: bold; }
.chip { background: var(--soft); border-radius: 1rem; font-size: .75rem; font-weight: normal;
        padding: .1rem .5rem; margin-left: .3rem; white-space: nowrap; display: inline-block; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; margin: .5rem 0 .5rem 1rem; }
"""
STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


async def show(request: Request) -> Response:
    """The office of `?user=`, or of the first user."""
    store = room(request).store
    people = places.users(store)
    wanted = request.query_params.get("user")
    user = next((person for person in people if person.id == wanted), None)
    if wanted is not None and user is None:
        return HTMLResponse(
            _document("<p>There is no such user. <a href='/'>Back to the office</a></p>"),
            status_code=404,
            headers=HEADERS,
        )
    if not people:
        body = "<p>Nobody has a room here yet.</p>"
    else:
        body = _office(store, people=people, user=user or people[0])
    return HTMLResponse(_document(body), headers=HEADERS)


def _document(body: str) -> str:
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>Sandbox office</title><style>{STYLE}</style></head><body>"
        "<h1>Sandbox office</h1>"
        "<p class='notice'>This is a sandbox. The people, mail, files and issues are made up,"
        " and nothing leaves this machine: a mail that is &ldquo;sent&rdquo; is only kept here."
        f" Reload to see what has changed. Shown at {_when(now().isoformat())}.</p>"
        f"<main>{body}</main></body></html>"
    )


def _office(store: Store, *, people: list[places.User], user: places.User) -> str:
    links = (
        f"<a href='/?user={quote(person.id)}'"
        f"{' aria-current=page' if person.id == user.id else ''}>{escape(person.name)}</a>"
        for person in people[:MOST_LISTED]
    )
    label_names = {
        row["id"]: row["name"]
        for table in ("labels", "folders")
        for row in store.rows(f"SELECT id, name FROM {table} WHERE user_id = ?", (user.id,))  # noqa: S608
    }
    emails = _latest(store, user, EMAIL, by="date")
    received = [email for email in emails if "SENT" not in email["labels"]]
    sent = [email for email in emails if "SENT" in email["labels"]]

    def mail(email: JsonObject) -> str:
        return _mail(email, label_names)

    return "".join(
        (
            f"<nav aria-label='Users'>{''.join(links)}</nav>",
            f"<p>{escape(user.name)}, {escape(user.address)}</p>",
            _section(
                "Recent writes", operations.latest_calls(store, user_id=user.id, limit=20), _call
            ),
            _section("Drafts", _latest(store, user, DRAFT, by="updated_at"), _draft),
            _section("Mail", received, mail),
            _section("Sent", sent, mail),
            _section("Issues", _latest(store, user, ISSUE, by="updated_at"), _issue),
            _section("Events", _latest(store, user, EVENT, by="start"), _event),
            _section("Documents", _latest(store, user, DOCUMENT, by="modified_at"), _file),
            _section("Outlook", _latest(store, user, OUTLOOK, by="date"), mail),
            _section("GitHub", _latest(store, user, GITHUB, by="updated_at"), _issue),
            _section("Slack", _latest(store, user, SLACK, by="sent_at"), _chat_message),
        )
    )


def _latest(store: Store, user: places.User, kind: Kind, *, by: str) -> list[JsonObject]:
    found = objects.every(store, user_id=user.id, kind=kind)
    return sorted(found, key=lambda value: str(value[by]), reverse=True)


def _section(title: str, items: list[JsonObject], line: Callable[[JsonObject], str]) -> str:
    entries = "".join(f"<li>{line(item)}</li>" for item in items[:MOST_LISTED])
    more = f", the latest {MOST_LISTED} shown" if len(items) > MOST_LISTED else ""
    return (
        f"<section><h2>{title} <small>{len(items)}{more}</small></h2>"
        f"<ul>{entries or '<li class=quiet>None yet.</li>'}</ul></section>"
    )


def _mail(email: JsonObject, label_names: dict[str, str]) -> str:
    receivers = ", ".join([*email["to"], *email["cc"], *email["bcc"]])
    other = f"to {receivers}" if "SENT" in email["labels"] else email["from_name"] or email["from"]
    text = email["body_text"] or email["snippet"]
    labels = (label for label in email["labels"] if label != "UNREAD")  # bold says it
    return _folding(
        f"<span class='{'' if email['is_read'] else 'unread'}'>{escape(email['subject'])}</span>"
        f"{_chips(label_names.get(label, label.capitalize()) for label in labels)}"
        f"<br><span class=quiet>{escape(other)} · {_when(email['date'])}</span>",
        f"From {email['from_name']} <{email['from']}>\nTo {receivers}\n\n{text}",
    )


def _draft(draft: JsonObject) -> str:
    return _folding(
        f"{escape(draft['subject'])}<br><span class=quiet>to {escape(', '.join(draft['to']))}"
        f" · {_when(draft['updated_at'])}</span>",
        draft["body"],
    )


def _issue(issue: JsonObject) -> str:
    comments = "".join(f"\n\n{note['author']}: {note['body']}" for note in issue["comments"])
    return _folding(
        f"{escape(issue['key'])} {escape(issue['summary'])}"
        f"{_chips((issue['status'], issue['type'], issue['priority']))}",
        issue["description"] + comments,
    )


def _event(event: JsonObject) -> str:
    guests = ", ".join(guest["email"] for guest in event["attendees"])
    return _folding(
        f"{escape(event['title'])}<br><span class=quiet>{_when(event['start'])} to"
        f" {_when(event['end'])}</span>",
        f"{event['description']}\n{event['location'] or ''}\n{guests}",
    )


def _file(document: JsonObject) -> str:
    shared = ", ".join(document["shared_with"])
    return _folding(
        f"{escape(document['name'])}<br><span class=quiet>{escape(document['folder_path'])} ·"
        f" {_when(document['modified_at'])}</span>",
        f"Shared with {shared or 'nobody'}\n\n{document['content_text']}",
    )


def _chat_message(message: JsonObject) -> str:
    return (
        f"{escape(message['text'])}<br><span class=quiet>{escape(message['sender_name'])} in"
        f" {escape(message['channel'])} · {_when(message['sent_at'])}</span>"
    )


def _call(call: JsonObject) -> str:
    if call["performed"]:
        outcome = "done" if call["status"] is not None else "done, answer lost"
    elif call["replayed"]:
        outcome = "already done before"
    else:
        outcome = f"not done ({call['status'] or 'no answer'})"
    return (
        f"{escape(call['method'])} {escape(call['path'])}{_chips((outcome,))}"
        f"<br><span class=quiet>{_when(call['at'])}</span>"
    )


def _folding(line: str, text: str) -> str:
    body = text.strip()[:BODY_LENGTH]
    return f"<details><summary>{line}</summary><pre>{escape(body)}</pre></details>"


def _chips(words: Iterable[str]) -> str:
    return "".join(f"<span class=chip>{escape(word)}</span>" for word in words)


def _when(text: str) -> str:
    return instant(text).strftime("%d %b %Y %H:%M UTC")
