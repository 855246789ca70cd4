"""A fake mailbox at Microsoft Graph, written from Microsoft's documents. No real one is reached by
any test.

    with running_outlook() as outlook:
        outlook.receive("Lunch")
"""

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from tests.openapi import Description, Operation
from tests.tracker_world import Call, FakeTracker, Refuse, serving_tracker

TOKEN, ADDRESS = "eyJ0eXAi.open-sesame", "nora@office.test"
ROOM = Path(__file__).parent / "integrations" / "providers"
ROLES = ("inbox", "drafts", "sentitems", "deleteditems", "junkemail", "archive")
IMMUTABLE = 'IdType="ImmutableId"'
LABELS = {"inbox": "INBOX", "drafts": "DRAFT", "sentitems": "SENT", "deleteditems": "TRASH"}


@dataclass(kw_only=True)
class Kept:
    id: str
    thread: str
    folder: str
    mail: EmailMessage
    at: datetime
    version: int
    is_read: bool = False
    starred: bool = False
    categories: list[str] = field(default_factory=list)


def id_of(role: str) -> str:
    return f"AQMkAD-{role}="


@dataclass(kw_only=True)
class Outlook(FakeTracker):
    """One mailbox. `changed` has what befell which mail in which folder, by number; what is below
    `oldest` Graph has forgotten."""

    mails: dict[str, Kept] = field(default_factory=dict)
    own: dict[str, str] = field(default_factory=dict)
    changed: list[tuple[int, str, str, bool]] = field(default_factory=list)
    number: int = 1000
    oldest: int = 0
    page: int = 0  # how much is on a page; 0: as asked for
    lost: Refuse = field(
        default_factory=lambda: Refuse(410, {"error": {"code": "syncStateNotFound"}})
    )
    before: dict[str, Callable[[], object]] = field(default_factory=dict)

    @property
    def api(self) -> str:
        return f"{self.origin}/v1.0"

    @property
    def folders(self) -> dict[str, str]:
        """As a credential keeps them."""
        names = ("inbox", "drafts", "sent", "trash", "junk", "archive")
        return {name: id_of(role) for name, role in zip(names, ROLES, strict=True)}

    # --- a person in their browser, and the world ----------------------------------------

    def receive(
        self, subject: str, body: str = "At noon?", folder: str = "inbox", **headers: str
    ) -> Kept:
        mail, number = EmailMessage(), self._next()
        given = {
            "From": "Tom <tom@elsewhere.test>",
            "To": ADDRESS,
            "Subject": subject,
            "Message-ID": f"<{number}@elsewhere.test>",
            "Date": format_datetime(self.tick()),
        }
        for name, value in (given | headers).items():
            mail[name.replace("_", "-")] = value
        mail.set_content(body)
        answers = str(mail["In-Reply-To"] or "")
        known = [one.thread for one in self.mails.values() if one.mail["Message-ID"] == answers]
        thread = known[0] if answers and known else f"AAQkAD{number}="
        kept = Kept(
            id=f"AAkALgAA{number}=",
            thread=thread,
            folder=id_of(folder),
            mail=mail,
            at=self.now,
            version=number,
        )
        self.mails[kept.id] = kept
        self._note(kept)
        return kept

    def mark(self, kept: Kept, **how: Any) -> None:
        for name, value in how.items():
            setattr(kept, name, value)
        self._note(kept)

    def move(self, kept: Kept, folder: str) -> None:
        self.changed.append((self._next(), kept.folder, kept.id, True))
        kept.folder = id_of(folder)
        self._note(kept)

    def delete(self, kept: Kept) -> None:
        del self.mails[kept.id]
        self.changed.append((self._next(), kept.folder, kept.id, True))

    def make_folder(self, name: str) -> str:
        self.own[id_of(name)] = name
        return name

    def forget(self) -> None:
        self.oldest = self.number = self.number + 100

    def held(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        roles = {id_of(role): label for role, label in LABELS.items()}
        for one in self.mails.values():
            place = {roles[one.folder]} if one.folder in roles else set()
            marks = {"STARRED"} if one.starred else set()
            unread = set() if one.is_read else {"UNREAD"}
            found[str(one.mail["Subject"])] = {*place, *marks, *unread, *one.categories}
        return found

    def clear(self) -> None:
        self.mails, self.own, self.changed, self.before = {}, {}, [], {}
        self.problems, self.writes, self.refuse = [], [], []
        self.lose = self.fail = self.reads = self.page = self.oldest = 0
        self.lost = Refuse(410, {"error": {"code": "syncStateNotFound"}})

    # --- its API -------------------------------------------------------------------------

    def respond(self, call: Call) -> Response:
        path = call.path.removeprefix("/v1.0/me")
        self.before.pop(f"{call.method} {path}", lambda: None)()
        whole = re.fullmatch(r"/messages/([^/]+)/\$value", path)
        if whole and call.method == "GET" and not self.refuse and self._knows(call):
            self.reads += 1
            kept = self.mails.get(whole[1])
            return Response(bytes(kept.mail)) if kept else Response(status_code=404)
        return super().respond(call)

    def _knows(self, call: Call) -> bool:
        return call.headers.get("authorization") == f"Bearer {TOKEN}"

    def answer(self, call: Call, operation: Operation) -> tuple[int, Any]:
        if not self._knows(call):
            raise Refuse(401, {"error": {"code": "InvalidAuthenticationToken"}})
        if call.headers.get("prefer") != IMMUTABLE:
            raise Refuse(400, {"error": {"code": "these ids change"}})
        parts = call.path.removeprefix("/v1.0/me").strip("/").split("/")
        match parts:
            case [""]:
                return 200, {"mail": self.login, "userPrincipalName": f"x-{self.login}"}
            case ["messages"]:
                return 200, self._listed(call, list(self.mails.values()))
            case ["messages", id]:
                if id not in self.mails:
                    raise Refuse(404, {"error": {"code": "ErrorItemNotFound"}})
                return 200, _shown(self.mails[id], call)
            case ["mailFolders", *rest]:
                return 200, self._of_folders(call, rest)
        raise Refuse(404)

    def _of_folders(self, call: Call, rest: list[str]) -> dict[str, Any]:
        match rest:
            case []:
                rows = [self._folder(id_of(role), role) for role in ROLES]
                return {"value": rows + [self._folder(id, it) for id, it in self.own.items()]}
            case [name] if name in ROLES:
                return self._folder(id_of(name), name)
            case [name, "messages"]:
                found = [one for one in self.mails.values() if one.folder == id_of(name)]
                return self._listed(call, found)
            case [id, "messages", "delta"]:
                return self._delta(call, id)
        raise Refuse(404)

    def _listed(self, call: Call, found: list[Kept]) -> dict[str, Any]:
        said = call.query.get("$filter", "")
        if since := re.fullmatch(r"receivedDateTime ge (\S+)", said):
            found = [one for one in found if one.at >= datetime.fromisoformat(since[1])]
        elif thread := re.fullmatch(r"conversationId eq '(.*)'", said):
            found = [one for one in found if one.thread == thread[1]]
        elif sender := re.fullmatch(r"from/emailAddress/address eq '(.*)'", said):
            found = [one for one in found if sender[1] in str(one.mail["From"])]
        elif said:
            raise Refuse(400, {"error": {"code": "InefficientFilter"}})
        found.sort(key=lambda one: one.at, reverse=True)
        return self._paged(call, [_shown(one, call) for one in found], "$skip")

    def _paged(self, call: Call, rows: list[Any], name: str) -> dict[str, Any]:
        start = int(call.query.get(name, "0"))
        size = self.page or int(call.query.get("$top", "10"))
        more = urlencode({**call.query, name: start + size})
        link = {"@odata.nextLink": f"{self.origin}{call.path}?{more}"}
        return {"value": rows[start : start + size]} | (link if rows[start + size :] else {})

    def _delta(self, call: Call, folder: str) -> dict[str, Any]:
        token = call.query.get("$deltatoken")
        if token is None:
            since = call.query["$filter"].removeprefix("receivedDateTime ge ")
            rows: list[dict[str, Any]] = [
                {"id": one.id, "receivedDateTime": moment(one.at)}
                for one in self.mails.values()
                if one.folder == folder and one.at >= datetime.fromisoformat(since)
            ]
        elif int(token) < self.oldest:
            raise self.lost
        else:
            rows = [
                {"id": id} | ({"@removed": {"reason": "deleted"}} if gone else {})
                for number, place, id, gone in self.changed
                if number > int(token) and place == folder
            ]
        page = self._paged(call, rows, "$skiptoken")
        if "@odata.nextLink" not in page:
            link = f"{self.origin}{call.path}?{urlencode({'$deltatoken': self.number})}"
            page["@odata.deltaLink"] = link
        return page

    def _folder(self, id: str, name: str) -> dict[str, Any]:
        held = sum(one.folder == id for one in self.mails.values())
        return {
            "id": id,
            "displayName": name,
            "parentFolderId": "AQMkAD-root=",
            "childFolderCount": 0,
            "totalItemCount": held,
        }

    def _note(self, kept: Kept) -> None:
        kept.version = self._next()
        self.changed.append((kept.version, kept.folder, kept.id, False))

    def _next(self) -> int:
        self.number += 1
        return self.number


def moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _shown(kept: Kept, call: Call) -> dict[str, Any]:
    """What was selected, and its id."""
    receivers = [
        {"emailAddress": {"address": one.strip()}} for one in str(kept.mail["To"]).split(",")
    ]
    found = {
        "conversationId": kept.thread,
        "parentFolderId": kept.folder,
        "categories": kept.categories,
        "flag": {"flagStatus": "flagged" if kept.starred else "notFlagged"},
        "isRead": kept.is_read,
        "isDraft": kept.folder == id_of("drafts"),
        "receivedDateTime": moment(kept.at),
        "sentDateTime": moment(kept.at),
        "changeKey": f"CQAA{kept.version}",
        "toRecipients": receivers,
        "ccRecipients": [],
        "bccRecipients": [],
        "internetMessageHeaders": [
            {"name": name, "value": str(value)} for name, value in kept.mail.items()
        ],
    }
    wanted = call.query["$select"].split(",")
    return {"id": kept.id} | {name: found[name] for name in wanted}


@contextlib.contextmanager
def running_outlook() -> Iterator[Outlook]:
    described = Description(ROOM / "microsoft_mail" / "openapi.json")
    outlook = Outlook(described=described, token=TOKEN, login=ADDRESS)
    with serving_tracker(outlook):
        yield outlook
