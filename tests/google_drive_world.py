"""A fake Google Drive, written from Google's documents and held against its own discovery document.
No real one is reached by any test.

    with running_google_drive() as google:
        google.put("1", "Notes.txt", "One")
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.responses import Response

from tests.discovery import as_openapi
from tests.openapi import Description, Operation
from tests.tracker_world import Call, FakeTracker, Refuse, serving_tracker

TOKEN, ADDRESS, ROOT = "ya29.open-sesame", "nora@office.test", "0AROOT"
ROOM = Path(__file__).parent / "integrations" / "providers"
FOLDER, NATIVE = "application/vnd.google-apps.folder", "application/vnd.google-apps.document"
ME = {"id": "me", "type": "user", "role": "owner", "emailAddress": ADDRESS}


@dataclass(kw_only=True)
class GoogleDrive(FakeTracker):
    """One user's drive. `feed` is what changed, in order; tokens below `oldest` are lost. `given`
    are ids that were given out, and `told` to whom Google wrote about a share. Addresses at
    nowhere.test have no account at Google."""

    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    feed: list[tuple[int, str]] = field(default_factory=list)
    number: int = 1000
    oldest: int = 1000
    page: int = 0  # how much is on a page; 0: as asked for
    given: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    ranges: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)  # in documents
    before_write: list[Callable[[], object]] = field(default_factory=list)
    """What a person does right before the next write."""
    refuse_write: int = 0  # the answer to the next write, which is not done
    takes: Callable[[str], bool] = lambda token: token == TOKEN

    @property
    def servers(self) -> dict[str, str]:
        """As a credential keeps them."""
        return {"api": self.api, "docs": f"{self.origin}/v1", "ends_at": ""}

    @property
    def api(self) -> str:
        return f"{self.origin}/drive/v3"

    # --- a person in their browser -------------------------------------------------------

    def put(self, id: str, name: str, text: str | bytes = "", **more: Any) -> None:
        at = f"{self.tick():%Y-%m-%dT%H:%M:%S.000Z}"
        usual = {"mimeType": "text/plain", "parents": [ROOT], "createdTime": at, "trashed": False}
        people = {"owners": [{"emailAddress": ADDRESS}], "permissions": [ME]}
        raw = text.encode() if isinstance(text, str) else text
        said = {**usual, **people, **self.files.get(id, {}), "name": name, **more}
        if not said["mimeType"].startswith("application/vnd.google-apps."):
            md5 = hashlib.md5(raw, usedforsecurity=False).hexdigest()
            said |= {"md5Checksum": md5, "size": str(len(raw))}
        self.number += 1
        about = {"id": id, "version": str(self.number)}
        self.files[id] = {"modifiedTime": at, **said, **about}
        if "modifiedTime" not in more:
            self.files[id]["modifiedTime"] = at
        self.contents[id] = raw
        self.feed.append((self.number, id))

    def delete(self, id: str) -> None:
        del self.files[id]
        self.number += 1
        self.feed.append((self.number, id))

    def forget_tokens(self) -> None:
        self.number += 100
        self.oldest = self.number

    def held(self) -> dict[str, str]:
        """Text by path, without what is in the trash."""
        names = {id: f"{one['name']}/" for id, one in self.files.items()} | {ROOT: ""}
        return {
            names.get(one["parents"][0], "?/") + one["name"]: self.contents[id].decode()
            for id, one in self.files.items()
            if id != ROOT and one["mimeType"] != FOLDER and not one["trashed"]
        }

    def shared(self, id: str) -> dict[str, str]:
        """Roles of everybody else."""
        people = self.files[id]["permissions"]
        return {one["emailAddress"]: one["role"] for one in people if one != ME}

    def clear(self) -> None:
        for one in (self.files, self.contents, self.feed, self.problems, self.writes, self.refuse):
            one.clear()
        for other in (self.given, self.told, self.ranges, self.before_write):
            other.clear()
        self.lose = self.fail = self.reads = self.page = self.refuse_write = 0
        self.oldest = self.number
        root = {"mimeType": FOLDER, "permissions": [ME], "version": "1", "trashed": False}
        self.files[ROOT] = {"id": ROOT, "name": "My Drive", **root}

    # --- its API -------------------------------------------------------------------------

    def respond(self, call: Call) -> Response:
        """Bytes are no JSON, so nothing describes them."""
        if self.before_write and self.is_write(call):
            self.before_write.pop()()
        if self.refuse_write and self.is_write(call):
            self.refuse, self.refuse_write = [Refuse(self.refuse_write)], 0
        id = call.path.removeprefix("/drive/v3/files/").removesuffix("/export")
        wants_bytes = call.query.get("alt") == "media" or call.path.endswith("/export")
        if not wants_bytes or self.refuse or self.fail or id not in self.files:
            return super().respond(call)
        self.described.find(call.method, call.path).check_request(query=call.query, body=None)
        self.reads += 1
        if self.files[id]["mimeType"] == NATIVE and call.query.get("alt") == "media":
            return super().respond(call)
        return Response(self.contents[id], media_type=call.query.get("mimeType", "text/plain"))

    def answer(self, call: Call, operation: Operation) -> tuple[int, Any]:
        if not self.takes(call.headers.get("authorization", "").removeprefix("Bearer ")):
            raise Refuse(401, {"error": {"code": 401, "status": "UNAUTHENTICATED"}})
        if call.query.get("alt") == "media":
            raise _error(403, "fileNotDownloadable")
        if call.path.startswith("/v1/documents/"):
            return 200, self._of_document(call)
        path = call.path.removeprefix("/upload").removeprefix("/drive/v3/")
        at_once: dict[str, Callable[[], Any]] = {
            "about": lambda: {"user": {"emailAddress": self.login}},
            "changes/startPageToken": lambda: {"startPageToken": str(self.number)},
            "changes": lambda: self._changes(call),
            "files/generateIds": lambda: {"ids": [self._give()]},
            "files": lambda: self._list(call) if call.method == "GET" else self._create(call),
        }
        if path in at_once:
            return 200, at_once[path]()
        id, *rest = path.removeprefix("files/").replace("root", ROOT).split("/")
        if id not in self.files:
            raise _error(404, "notFound")
        if rest:
            return self._share(call, id, *rest[1:])
        if call.method == "PATCH":
            self._update(call, id)
        return 200, _without(self.files[id], call)

    def _give(self) -> str:
        self.given.append(f"1given{len(self.given)}")
        return self.given[-1]

    def _create(self, call: Call) -> dict[str, Any]:
        """Google takes an id that it gave before, once, and none for what its programs make."""
        about = dict(call.body)
        id = about.pop("id")
        if id not in self.given or about["mimeType"].startswith("application/vnd.google-apps."):
            raise _error(400, "invalid")
        if id in self.files:
            raise _error(409, "fileIdInUse")
        self.put(id, about.pop("name"), call.content, **about)
        return _without(self.files[id], call)

    def _update(self, call: Call, id: str) -> None:
        before = self.files[id]
        about = {**call.body}
        marks = {**before.get("appProperties", {}), **about.pop("appProperties", {})}
        parents = [one for one in before["parents"] if one != call.query.get("removeParents")]
        if (added := call.query.get("addParents")) and added not in parents:
            parents.append(added)
        assert len(parents) == 1, "Google refuses a file in two folders"
        content = call.content if call.path.startswith("/upload") else self.contents[id]
        name = about.pop("name", before["name"])
        self.put(id, name, content, **about, appProperties=marks, parents=parents)

    def _of_document(self, call: Call) -> dict[str, Any]:
        """Indices are in units of UTF-16; the first of a body is 1, and its last an end of line."""
        id = call.path.removeprefix("/v1/documents/").removesuffix(":batchUpdate")
        if id not in self.files or self.files[id]["mimeType"] != NATIVE:
            raise _error(404, "notFound")
        text = self.contents[id].decode("utf-8-sig").encode("utf-16-le")
        end, revision = len(text) // 2 + 2, f"rev-{self.files[id]['version']}"
        if call.method == "GET":
            named = {name: {"name": name} for name in self.ranges.get(id, {})}
            content = [{"endIndex": 1}, {"endIndex": end}]
            said = {"revisionId": revision, "body": {"content": content}, "namedRanges": named}
            return said if self.files[id].get("may_change", True) else {"body": said["body"]}
        if call.body["writeControl"] != {"requiredRevisionId": revision}:
            raise _error(400, "failedPrecondition")
        insert, mark = (next(iter(one.values())) for one in call.body["requests"])
        added = insert["text"].encode("utf-16-le")
        if insert["location"] != {"index": end - 1} or b"\0\0" in added:
            raise _error(400, "badRequest")
        inside = mark["range"]["startIndex"], mark["range"]["endIndex"]
        assert inside == (end - 1, end - 1 + len(added) // 2)
        self.put(id, self.files[id]["name"], (text + added).decode("utf-16-le"))
        self.ranges.setdefault(id, {})[mark["name"]] = inside
        return {"documentId": id, "writeControl": {"requiredRevisionId": f"rev-{self.number}"}}

    def _share(self, call: Call, id: str, entry: str = "") -> tuple[int, Any]:
        """Google itself writes to who is let in, unless it is asked not to; and has to, where they
        have no account."""
        people = list(self.files[id]["permissions"])
        if not entry:
            email = call.body["emailAddress"]
            silent = call.query.get("sendNotificationEmail") == "false"
            if silent and email.endswith("@nowhere.test"):
                raise _error(400, "invalidSharingRequest")
            if not silent:
                self.told.append(email)
            found = {"id": f"p{len(people)}-{email.partition('@')[0]}", **call.body}
            people.append(found)
        else:
            named = [one for one in people if one["id"] == entry]
            if not named:
                raise _error(404, "notFound")
            found = named[0]
            people.remove(found)
            if call.method == "PATCH":
                found = {**found, **call.body}
                people.append(found)
        self.put(id, self.files[id]["name"], self.contents[id], permissions=people)
        return (204, None) if call.method == "DELETE" else (200, {"id": found["id"]})

    def _list(self, call: Call) -> dict[str, Any]:
        query, start = call.query["q"], int(call.query.get("pageToken", "0"))
        found = [one for one in self.files.values() if one["id"] != ROOT and _fits(one, query)]
        found.sort(key=lambda one: one["modifiedTime"], reverse=True)
        size = self.page or int(call.query["pageSize"])
        more = {"nextPageToken": str(start + size)} if found[start + size :] else {}
        return {"files": [_without(one, call) for one in found[start : start + size]], **more}

    def _changes(self, call: Call) -> dict[str, Any]:
        since = int(call.query["pageToken"])
        if since < self.oldest:
            raise _error(400, "invalid")
        rows = [(at, id) for at, id in self.feed if at > since]
        size = self.page or int(call.query["pageSize"])
        shown, rest = rows[:size], rows[size:]
        token = "nextPageToken" if rest else "newStartPageToken"
        newest = shown[-1][0] if rest else self.number
        return {"changes": [self._change(id, call) for _, id in shown], token: str(newest)}

    def _change(self, id: str, call: Call) -> dict[str, Any]:
        said = {"fileId": id, "time": f"{self.now:%Y-%m-%dT%H:%M:%S.000Z}"}
        file = self.files.get(id)
        return said | ({"removed": True} if file is None else {"file": _without(file, call)})


def _without(file: dict[str, Any], call: Call) -> dict[str, Any]:
    """The fields that were asked for, and no others: all but a few have to be named."""
    asked = set(re.findall(r"\w+", call.query.get("fields", "")))
    return {name: value for name, value in file.items() if name in asked and value is not None}


def _fits(file: dict[str, Any], query: str) -> bool:
    """Drive's search, as far as Remit uses it."""
    for part in query.split(" and "):
        if part == "trashed = false":
            fits = not file["trashed"]
        elif part == "'root' in parents":
            fits = ROOT in file["parents"]
        else:
            name, how, value = re.fullmatch(r"(\w+) (=|!=|>=) '(.*)'", part).groups()  # type: ignore[union-attr]
            mine = file[name]
            fits = {"=": mine == value, "!=": mine != value, ">=": mine >= value}[how]
        if not fits:
            return False
    return True


def _both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Two descriptions as one."""
    schemas = one["components"]["schemas"], other["components"]["schemas"]
    assert not schemas[0].keys() & schemas[1].keys()
    paths = {**one["paths"], **other["paths"]}
    return {"paths": paths, "components": {"schemas": {**schemas[0], **schemas[1]}}}


def _error(code: int, reason: str) -> Refuse:
    errors = [{"domain": "global", "reason": reason}]
    return Refuse(code, {"error": {"code": code, "errors": errors, "message": reason}})


@contextlib.contextmanager
def running_google_drive() -> Iterator[GoogleDrive]:
    room = ROOM / "google_drive"
    docs = as_openapi(json.loads((room / "docs_discovery.json").read_text()))
    described = Description(
        room / "discovery.json", read=lambda said: _both(as_openapi(said), docs)
    )
    google = GoogleDrive(described=described, token=TOKEN, login=ADDRESS)
    with serving_tracker(google):
        yield google
