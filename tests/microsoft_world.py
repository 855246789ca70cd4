"""A fake mailbox at Microsoft Graph, written from Microsoft's documents. No real one is reached by
any test.

    with running_outlook() as outlook:
        outlook.receive("Lunch")

What the documents leave open, or people report otherwise, it does in the way that is worst for
Remit: a mail that goes out gets another id than its draft had, and a draft that was just begun is
refused its first change.
"""

import contextlib
import html
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from tests.microsoft_pushes_world import FakeGraph
from tests.openapi import Description, Operation
from tests.tracker_world import Call, Refuse, serving_tracker

TOKEN, ADDRESS = "eyJ0eXAi.open-sesame", "nora@office.test"
ROOM = Path(__file__).parent / "integrations" / "providers"
ROLES = ("inbox", "drafts", "sentitems", "deleteditems", "junkemail", "archive")
IMMUTABLE = 'IdType="ImmutableId"'
HEADERS = {
    "subject": "Subject",
    "toRecipients": "To",
    "ccRecipients": "Cc",
    "bccRecipients": "Bcc",
    "internetMessageId": "Message-ID",
}
MARKED = r"singleValueExtendedProperties/Any\(ep: ep/id eq '(.*)' and ep/value eq '(.*)'\)"
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
    is_draft: bool = False
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def etag(self) -> str:
        return f'W/"CQAA{self.version}"'


def id_of(role: str) -> str:
    return f"AQMkAD-{role}="


@dataclass(kw_only=True)
class Outlook(FakeGraph):
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
    """What happens right before this is asked, such as “POST send”."""
    out: list[tuple[list[str], str, str]] = field(default_factory=list)
    keeps_marks: bool = True  # in mails that went out
    shows_sent: bool = True  # at once
    busy: Refuse = field(init=False)  # the first change of a draft that was just begun

    def __post_init__(self) -> None:
        super().__post_init__()
        self.busy = conflict()

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
            is_draft=folder == "drafts",
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
            place |= {f"folder:{self.own[one.folder]}"} if one.folder in self.own else set()
            marks = {"STARRED"} if one.starred else set()
            unread = set() if one.is_read else {"UNREAD"}
            found[str(one.mail["Subject"])] = {*place, *marks, *unread, *one.categories}
        return found

    def clear(self) -> None:
        self.mails, self.own, self.changed, self.before = {}, {}, [], {}
        self.problems, self.writes, self.refuse, self.out = [], [], [], []
        self.keeps_marks = self.shows_sent = True
        self.busy = conflict()
        self.lose = self.fail = self.reads = self.page = self.oldest = 0
        self.lost = Refuse(410, {"error": {"code": "syncStateNotFound"}})

    # --- its API -------------------------------------------------------------------------

    def respond(self, call: Call) -> Response:
        path = call.path.removeprefix("/v1.0/me")
        self.before.pop(f"{call.method} {path.rpartition('/')[2]}", lambda: None)()
        whole = re.fullmatch(r"/messages/([^/]+)/\$value", path)
        if whole and call.method == "GET" and not self.refuse and self._knows(call):
            self.reads += 1
            kept = self.mails.get(whole[1])
            return Response(_whole(kept)) if kept else Response(status_code=404)
        answer = super().respond(call)
        answer.headers["request-id"] = f"graph-{self._next()}"
        return answer

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
            case ["messages"] if call.method == "POST":
                return 201, _shown(self._write(call.body))
            case ["messages"]:
                return 200, self._listed(call, list(self.mails.values()))
            case ["messages", id, *rest]:
                return self._of_mail(call, self._known(id), rest)
            case ["mailFolders", folder, "messages", id, what] if what != "delta":
                kept = self._known(id)
                if kept.folder != folder:
                    raise _missing()
                return self._within(call, kept, what)
            case ["mailFolders", *rest]:
                return 200, self._of_folders(call, rest)
        raise Refuse(404)

    def _of_mail(self, call: Call, kept: Kept, rest: list[str]) -> tuple[int, Any]:
        match rest:
            case [] if call.method == "PATCH":
                if call.headers.get("if-match", kept.etag) != kept.etag:
                    raise conflict()
                self._change(kept, call.body)
                return 200, _shown(kept)
            case []:
                return 200, _shown(kept, call)
            case ["createReply" | "createForward" as how]:
                return 201, _shown(self._begin(kept, answers=how == "createReply"))
            case ["send"]:
                self.go_out(kept)
                return 202, None
        raise Refuse(404)

    def _within(self, call: Call, kept: Kept, what: str) -> tuple[int, Any]:
        if what == "permanentDelete":
            self.delete(kept)
            return 204, None
        roles = {*map(id_of, ROLES), *self.own}
        if call.body["destinationId"] not in roles:
            raise _missing()
        self.changed.append((self._next(), kept.folder, kept.id, True))
        kept.folder = call.body["destinationId"]
        self._note(kept)
        return 201, _shown(kept)

    def _write(self, said: dict[str, Any]) -> Kept:
        kept = self._draft(EmailMessage(), f"AAQkAD{self._next()}=")
        for one in said.pop("internetMessageHeaders", ()):
            kept.mail[one["name"]] = one["value"]
        self._change(kept, said)
        return kept

    def _begin(self, kept: Kept, *, answers: bool) -> Kept:
        mail, was = EmailMessage(), str(kept.mail["Subject"])
        mail["Subject"] = f"RE: {was}" if answers else f"FW: {was}"
        if answers:
            mail["To"] = str(kept.mail["From"])
            mail["In-Reply-To"] = str(kept.mail["Message-ID"])
        text = kept.mail.get_body(("plain",)).get_content()  # type: ignore[union-attr]
        mail.set_content(f"<html><body><hr>{html.escape(text)}</body></html>", subtype="html")
        begun = self._draft(mail, kept.thread)
        self.before[f"PATCH {begun.id}"] = lambda: self.refuse.append(self.busy)
        return begun

    def _draft(self, mail: EmailMessage, thread: str) -> Kept:
        number = self._next()
        mail["From"] = self.login
        mail["Message-ID"] = f"<{number}@prod.outlook.test>"
        kept = Kept(
            id=f"AAkALgAA{number}=",
            thread=thread,
            folder=id_of("drafts"),
            mail=mail,
            at=self.tick(),
            version=number,
            is_read=True,
            is_draft=True,
        )
        self.mails[kept.id] = kept
        self._note(kept)
        return kept

    def _change(self, kept: Kept, said: dict[str, Any]) -> None:
        headers = {name: one for name, one in said.items() if name in HEADERS}
        if (headers or "body" in said) and not kept.is_draft:
            raise Refuse(400, {"error": {"code": "ErrorInvalidPropertySet"}})
        for name, value in headers.items():
            del kept.mail[HEADERS[name]]
            text = value if isinstance(value, str) else ", ".join(_addresses(value))
            if text:
                kept.mail[HEADERS[name]] = text
        if body := said.get("body"):
            for name in ("Content-Type", "Content-Transfer-Encoding", "MIME-Version"):
                del kept.mail[name]
            kind = "plain" if body["contentType"] == "text" else "html"
            kept.mail.set_content(body["content"], subtype=kind)
        kept.is_read = said.get("isRead", kept.is_read)
        kept.categories = said.get("categories", kept.categories)
        if flag := said.get("flag"):
            kept.starred = flag["flagStatus"] == "flagged"
        kept.marks |= {
            one["id"]: one["value"] for one in said.get("singleValueExtendedProperties", ())
        }
        self._note(kept)

    def go_out(self, kept: Kept) -> None:
        if not kept.is_draft:
            raise Refuse(400, {"error": {"code": "ErrorInvalidRequest"}})
        mail = kept.mail
        named = [str(mail[name] or "") for name in ("To", "Cc", "Bcc")]
        receivers = [one.strip() for some in named for one in some.split(",") if one.strip()]
        if not receivers:
            raise Refuse(400, {"error": {"code": "ErrorInvalidRecipients"}})
        text = mail.get_body(("plain", "html")).get_content()  # type: ignore[union-attr]
        self.out.append((receivers, str(mail["Subject"]), _plain(text)))
        self.delete(kept)
        if self.shows_sent:
            self.show_sent(kept)

    def show_sent(self, kept: Kept) -> None:
        """The copy among the sent mail."""
        number = self._next()
        marks = kept.marks if self.keeps_marks else {}
        sent = replace(
            kept,
            id=f"AAkALgAA{number}=",
            folder=id_of("sentitems"),
            is_draft=False,
            marks=marks,
        )
        self.mails[sent.id] = sent
        self._note(sent)

    def _known(self, id: str) -> Kept:
        if id not in self.mails:
            raise _missing()
        return self.mails[id]

    def _of_folders(self, call: Call, rest: list[str]) -> dict[str, Any]:
        match rest:
            case []:
                rows = [self._folder(id_of(role), role) for role in ROLES]
                return {"value": rows + [self._folder(id, it) for id, it in self.own.items()]}
            case [name] if name in ROLES:
                return self._folder(id_of(name), name)
            case [name, "messages"]:
                places = (name, id_of(name))
                found = [one for one in self.mails.values() if one.folder in places]
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
        elif mark := re.fullmatch(MARKED, said):
            found = [one for one in found if one.marks.get(mark[1]) == mark[2]]
        elif message_id := re.fullmatch(r"internetMessageId eq '(.*)'", said):
            found = [one for one in found if one.mail["Message-ID"] == message_id[1]]
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


def conflict() -> Refuse:
    return Refuse(412, {"error": {"code": "ErrorIrresolvableConflict"}})


def _missing() -> Refuse:
    return Refuse(404, {"error": {"code": "ErrorItemNotFound"}})


def _addresses(said: list[dict[str, Any]]) -> list[str]:
    return [one["emailAddress"]["address"] for one in said]


def _plain(text: str) -> str:
    without = re.sub(r"<br>|<[^>]+>", "", text) if text.startswith("<div>") else text
    return html.unescape(without).replace("\r\n", "\n").rstrip("\n")


def _whole(kept: Kept) -> bytes:
    """As it goes out: blind copies are not named."""
    mail = deepcopy(kept.mail)
    del mail["Bcc"]
    return bytes(mail)


def _shown(kept: Kept, call: Call | None = None) -> dict[str, Any]:
    """What was selected, and its id; where nothing was, what is usual."""
    people = {
        name: [{"emailAddress": {"address": one.strip()}} for one in said.split(",") if one.strip()]
        for name, said in ((name, str(kept.mail[name] or "")) for name in ("To", "Cc", "Bcc"))
    }
    found = {
        "conversationId": kept.thread,
        "parentFolderId": kept.folder,
        "categories": kept.categories,
        "flag": {"flagStatus": "flagged" if kept.starred else "notFlagged"},
        "isRead": kept.is_read,
        "isDraft": kept.is_draft,
        "receivedDateTime": moment(kept.at),
        "sentDateTime": moment(kept.at),
        "changeKey": f"CQAA{kept.version}",
        "subject": str(kept.mail["Subject"] or ""),
        "toRecipients": people["To"],
        "ccRecipients": people["Cc"],
        "bccRecipients": people["Bcc"],
    }
    headers = [{"name": name, "value": str(value)} for name, value in kept.mail.items()]
    named = {"id": kept.id, "@odata.etag": kept.etag}
    if call is None or "$select" not in call.query:
        html_ = kept.mail.get_body(("html", "plain"))
        said = html_.get_content() if html_ is not None else ""
        return {**named, **found, "body": {"contentType": "html", "content": said}}
    known = {**found, "internetMessageHeaders": None if kept.is_draft else headers}
    marks = [{"id": id, "value": value} for id, value in kept.marks.items()]
    more = {"singleValueExtendedProperties": marks} if marks and "$expand" in call.query else {}
    return {**named, **more, **{name: known[name] for name in call.query["$select"].split(",")}}


@contextlib.contextmanager
def running_outlook() -> Iterator[Outlook]:
    described = Description(ROOM / "microsoft_mail" / "openapi.json")
    outlook = Outlook(described=described, token=TOKEN, login=ADDRESS)
    with serving_tracker(outlook):
        yield outlook
