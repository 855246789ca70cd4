"""A fake Gmail, written from Google's documents and held against its own discovery document. No
real Gmail is reached by any test.

    with running_gmail() as gmail:
        gmail.receive("Lunch")

What the documents leave open it does in the way that is worst for Remit: a mail that goes out gets
another id and another Message-ID than its draft had.
"""

import base64
import contextlib
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from starlette.responses import Response

from tests.discovery import as_openapi
from tests.openapi import Description, Operation
from tests.tracker_world import Call, FakeTracker, Refuse, serving_tracker

TOKEN, ADDRESS = "ya29.open-sesame", "nora@office.test"
ROOM = Path(__file__).parent / "integrations" / "providers"
SYSTEM = ("INBOX", "SENT", "DRAFT", "TRASH", "SPAM", "UNREAD", "STARRED", "IMPORTANT")
FIXED = {"SENT", "DRAFT"}
# What a user has made.
OWN = {"Label_7": "Clients", "label_fyi": "FYI", "label_to_reply": "To Reply"}


@dataclass(kw_only=True)
class Kept:
    id: str
    thread: str
    raw: bytes
    labels: set[str]
    ms: int

    @property
    def mail(self) -> EmailMessage:
        return message_from_bytes(self.raw, policy=policy.default)


@dataclass(kw_only=True)
class Gmail(FakeTracker):
    """One mailbox. `history` has what befell each mail, by number; what is below `oldest` Gmail has
    forgotten."""

    mails: dict[str, Kept] = field(default_factory=dict)
    drafts: dict[str, str] = field(default_factory=dict)  # ids of their mails
    own: dict[str, str] = field(default_factory=lambda: dict(OWN))
    out: list[tuple[list[str], str, str]] = field(default_factory=list)
    history: list[tuple[int, str, dict[str, Any]]] = field(default_factory=list)
    number: int = 1000
    oldest: int = 1000
    page: int = 0  # how much is on a page; 0: as asked for
    takes: Callable[[str], bool] = lambda token: token == TOKEN
    before: dict[str, Callable[[], object]] = field(default_factory=dict)
    """What happens right before this is asked, such as “POST /drafts/send”."""

    @property
    def api(self) -> str:
        return f"{self.origin}/gmail/v1"

    # --- a person in their browser, and the world ----------------------------------------

    def receive(self, subject: str, body: str = "At noon?", **headers: str) -> Kept:
        mail = EmailMessage()
        given = {
            "From": "Tom <tom@elsewhere.test>",
            "To": ADDRESS,
            "Subject": subject,
            "Message-ID": f"<{self._next()}@elsewhere.test>",
            "Date": format_datetime(self.tick()),
        }
        for name, value in (given | headers).items():
            mail[name.replace("_", "-")] = value
        mail.set_content(body)
        return self._add(bytes(mail), {"INBOX", "UNREAD"})

    def mark(self, id: str, *, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> None:
        self._modify(self.mails[id], set(add), set(remove))

    def delete(self, id: str) -> None:
        self._note("messagesDeleted", self.mails.pop(id))

    def forget_history(self) -> None:
        self.number += 100
        self.oldest = self.number

    def by_subject(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for one in self.mails.values():
            found.setdefault(str(one.mail["Subject"]), set()).update(one.labels)
        return found

    def clear(self) -> None:
        for one in (self.mails, self.drafts, self.out, self.history, self.before):
            one.clear()
        for some in (self.problems, self.writes, self.refuse):
            some.clear()
        self.own = dict(OWN)
        self.lose = self.fail = self.reads = self.page = 0
        self.oldest = self.number

    # --- its API -------------------------------------------------------------------------

    def respond(self, call: Call) -> Response:
        path = call.path.removeprefix("/gmail/v1/users/me")
        self.before.pop(f"{call.method} {path}", lambda: None)()
        return super().respond(call)

    def answer(self, call: Call, operation: Operation) -> tuple[int, Any]:
        if not self.takes(call.headers.get("authorization", "").removeprefix("Bearer ")):
            raise Refuse(401, {"error": {"code": 401, "status": "UNAUTHENTICATED"}})
        kind, *rest = call.path.removeprefix("/gmail/v1/users/me/").split("/")
        if kind == "profile":
            return 200, {"emailAddress": self.login, "historyId": str(self.number)}
        if kind == "labels":
            return 200, self._label(rest[0]) if rest else self._labels()
        if kind == "history":
            return 200, self._history(call)
        if kind == "threads":
            found = [one for one in self.mails.values() if one.thread == rest[0]]
            if not found:
                raise _missing()
            return 200, {"id": rest[0], "messages": [self._shown(one, call) for one in found]}
        return self._of_drafts(call, rest) if kind == "drafts" else self._of_mails(call, rest)

    def _of_mails(self, call: Call, rest: list[str]) -> tuple[int, Any]:
        if not rest:
            found = [one for one in self.mails.values() if fits(one, call.query.get("q", ""))]
            if "SPAM" not in call.query.get("q", ""):
                found = [one for one in found if not {"TRASH", "SPAM"} & one.labels]
            found.sort(key=lambda one: -one.ms)
            rows, more = self._paged(found, call)
            return 200, {
                "messages": [{"id": one.id, "threadId": one.thread} for one in rows],
                **more,
            }
        mail = self.mails.get(rest[0])
        if mail is None:
            raise _missing()
        if rest[1:] == ["modify"]:
            add, remove = (set(call.body.get(f"{one}LabelIds", ())) for one in ("add", "remove"))
            if not add <= {*SYSTEM, *self.own} or FIXED & (add | remove):
                raise Refuse(400, {"error": {"code": 400, "message": "Invalid label"}})
            self._modify(mail, add, remove)
        return 200, self._shown(mail, call)

    def _of_drafts(self, call: Call, rest: list[str]) -> tuple[int, Any]:
        if call.method == "GET" and not rest:
            rows = [self._draft(id, "minimal") for id in reversed(self.drafts)]
            return 200, {"drafts": rows[: int(call.query["maxResults"])]}
        if call.method == "POST" and not rest:
            given = call.body["message"]
            raw = base64.urlsafe_b64decode(given["raw"])
            mail = self._add(raw, {"DRAFT"}, thread=given.get("threadId", ""))
            id = f"r-{self._next()}"
            self.drafts[id] = mail.id
            return 200, self._draft(id, "minimal")
        id = call.body["id"] if rest == ["send"] else rest[0]
        if id not in self.drafts:
            raise _missing()
        if rest == ["send"]:
            return 200, self._send(id, call)
        if call.method == "DELETE":
            self.delete(self.drafts.pop(id))
            return 204, None
        return 200, self._draft(id, call.query.get("format", "full"))

    def _send(self, draft_id: str, call: Call) -> dict[str, Any]:
        draft = self.mails[self.drafts.pop(draft_id)]
        self.delete(draft.id)
        mail = draft.mail
        names = [str(mail[name] or "") for name in ("To", "Cc", "Bcc")]
        receivers = [one.strip() for name in names for one in name.split(",") if one.strip()]
        text = mail.get_body(("plain",)).get_content()  # type: ignore[union-attr]
        self.out.append((receivers, str(mail["Subject"]), text.replace("\r\n", "\n").rstrip("\n")))
        another = b"Message-ID: <CA+x@mail.gmail.com>\r"
        raw = re.sub(rb"(?im)^Message-ID:.*$", another, draft.raw, count=1)
        return self._shown(self._add(raw, {"SENT"}, thread=draft.thread), call)

    def _add(self, raw: bytes, labels: set[str], *, thread: str = "") -> Kept:
        mail = message_from_bytes(raw, policy=policy.default)
        answers = str(mail["In-Reply-To"] or "")
        known = [
            one for one in self.mails.values() if answers and one.mail["Message-ID"] == answers
        ]
        id = f"{self._next():016x}"
        ms = int(self.tick().timestamp() * 1000)
        place = thread or (known[0].thread if known else id)
        kept = Kept(id=id, thread=place, raw=raw, labels=set(labels), ms=ms)
        self.mails[id] = kept
        self._note("messagesAdded", kept)
        return kept

    def _modify(self, mail: Kept, add: set[str], remove: set[str]) -> None:
        on, off = add - mail.labels, remove & mail.labels
        mail.labels = (mail.labels | add) - remove
        if on:
            self._note("labelsAdded", mail, labelIds=sorted(on))
        if off:
            self._note("labelsRemoved", mail, labelIds=sorted(off))

    def _note(self, what: str, mail: Kept, **more: Any) -> None:
        said = {"id": mail.id, "threadId": mail.thread, "labelIds": sorted(mail.labels)}
        self.history.append((self._next(), what, {"message": said, **more}))

    def _history(self, call: Call) -> dict[str, Any]:
        since = int(call.query["startHistoryId"])
        if since < self.oldest:
            raise _missing()
        found = [one for one in self.history if one[0] > since]
        rows, more = self._paged(found, call)
        said = [{"id": str(id), what: [about]} for id, what, about in rows]
        return {"historyId": str(self.number), **({"history": said} if said else {}), **more}

    def _paged(self, found: list[Any], call: Call) -> tuple[list[Any], dict[str, str]]:
        start = int(call.query.get("pageToken", "0"))
        size = self.page or int(call.query.get("maxResults", "100"))
        more = {"nextPageToken": str(start + size)} if found[start + size :] else {}
        return found[start : start + size], more

    def _shown(self, mail: Kept, call: Call) -> dict[str, Any]:
        found: dict[str, Any] = {
            "id": mail.id,
            "threadId": mail.thread,
            "labelIds": sorted(mail.labels),
            "internalDate": str(mail.ms),
            "historyId": str(self.number),
        }
        kind = call.query.get("format", "full")
        if kind == "raw":
            found["raw"] = base64.urlsafe_b64encode(mail.raw).decode()
        if kind == "metadata":
            wanted = call.query_lists["metadataHeaders"]
            headers = [
                {"name": name, "value": str(value)}
                for name, value in mail.mail.items()
                if name.lower() in {one.lower() for one in wanted}
            ]
            found["payload"] = {"headers": headers}
        return found

    def _draft(self, id: str, kind: str) -> dict[str, Any]:
        mail = self.mails[self.drafts[id]]
        return {"id": id, "message": {"id": mail.id, "threadId": mail.thread}}

    def _labels(self) -> dict[str, Any]:
        system = [{"id": one, "name": one, "type": "system"} for one in SYSTEM]
        own = [{"id": id, "name": name, "type": "user"} for id, name in self.own.items()]
        return {"labels": system + own}

    def _label(self, id: str) -> dict[str, Any]:
        if id not in {*SYSTEM, *self.own}:
            raise _missing()
        held = sum(id in one.labels for one in self.mails.values())
        name = self.own.get(id, id)
        return {"id": id, "name": name, "type": "user" if id in self.own else "system"} | {
            "messagesTotal": held
        }

    def _next(self) -> int:
        self.number += 1
        return self.number


def fits(mail: Kept, query: str) -> bool:
    """Gmail's search, as far as Remit uses it. {} is one of them."""
    for group in re.findall(r"\{[^}]*\}|\S*\"[^\"]*\"|\S+", query):
        words = shlex.split(group.strip("{}"))
        if not any(_fits_one(mail, word) for word in words):
            return False
    return True


def _fits_one(mail: Kept, word: str) -> bool:
    if word.startswith("-"):
        return not _fits_one(mail, word[1:])
    name, _, value = word.partition(":")
    if name == "in":
        places = {"drafts": "DRAFT", "sent": "SENT", "chats": "CHAT"}
        return places[value] in mail.labels
    if name == "after":
        return mail.ms // 1000 >= int(value)
    return value.lower() in str(mail.mail[name] or "").lower()


def _missing() -> Refuse:
    return Refuse(404, {"error": {"code": 404, "message": "Requested entity was not found."}})


@contextlib.contextmanager
def running_gmail() -> Iterator[Gmail]:
    described = Description(ROOM / "google_mail" / "discovery.json", read=as_openapi)
    gmail = Gmail(described=described, token=TOKEN, login=ADDRESS)
    with serving_tracker(gmail):
        yield gmail
