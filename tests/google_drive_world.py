"""A fake Google Drive, written from Google's documents and held against its own discovery document.
No real one is reached by any test.

    with running_google_drive() as google:
        google.put("1", "Notes.txt", "One")
"""

import contextlib
import hashlib
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
ME = {"type": "user", "role": "owner", "emailAddress": ADDRESS}


@dataclass(kw_only=True)
class GoogleDrive(FakeTracker):
    """One user's drive. `feed` is what changed, in order; tokens below `oldest` are lost."""

    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    feed: list[tuple[int, str]] = field(default_factory=list)
    number: int = 1000
    oldest: int = 1000
    page: int = 0  # how much is on a page; 0: as asked for
    takes: Callable[[str], bool] = lambda token: token == TOKEN

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

    def clear(self) -> None:
        for one in (self.files, self.contents, self.feed, self.problems, self.writes, self.refuse):
            one.clear()
        self.lose = self.fail = self.reads = self.page = 0
        self.oldest = self.number
        root = {"mimeType": FOLDER, "permissions": [ME], "version": "1", "trashed": False}
        self.files[ROOT] = {"id": ROOT, "name": "My Drive", **root}

    # --- its API -------------------------------------------------------------------------

    def respond(self, call: Call) -> Response:
        """Bytes are no JSON, so nothing describes them."""
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
        path = call.path.removeprefix("/drive/v3/")
        if path == "about":
            return 200, {"user": {"emailAddress": self.login}}
        if path == "changes/startPageToken":
            return 200, {"startPageToken": str(self.number)}
        if path == "changes":
            return 200, self._changes(call)
        if path == "files":
            return 200, self._list(call)
        id = path.removeprefix("files/").replace("root", ROOT)
        if id not in self.files:
            raise _error(404, "notFound")
        return 200, _without(self.files[id], call)

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


def _error(code: int, reason: str) -> Refuse:
    errors = [{"domain": "global", "reason": reason}]
    return Refuse(code, {"error": {"code": code, "errors": errors, "message": reason}})


@contextlib.contextmanager
def running_google_drive() -> Iterator[GoogleDrive]:
    described = Description(ROOM / "google_drive" / "discovery.json", read=as_openapi)
    google = GoogleDrive(described=described, token=TOKEN, login=ADDRESS)
    with serving_tracker(google):
        yield google
