"""A fake of files at Microsoft Graph, written from Microsoft's documents. No real one is reached by
any test.

    with running_onedrive() as onedrive:
        onedrive.put("notes", "Notes.txt", "One")

What the documents leave open, or people report otherwise, it does in the way that is worst for
Remit: bytes come from another address, which takes no token; changes name a file twice and the
folders above it, and of what is gone no more than its id; sharing changes no version; who is let in
by a folder above looks as if they were let in here, where the drive is one at work.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.responses import Response

from tests.microsoft_pushes_world import FakeGraph
from tests.openapi import Description, NotDescribed, Operation
from tests.tracker_world import Call, Refuse, serving_tracker

TOKEN, ADDRESS, ROOT, NORA = "eyJ0eXAi.open-sesame", "nora@office.test", "R00T!root", "n0ra"
ROOM = Path(__file__).parent / "integrations" / "providers"
DRIVE = "/v1.0/me/drive"
READS = ("/v1.0/$batch",)


@dataclass(kw_only=True)
class OneDrive(FakeGraph):
    """One user's drive. `items` are by id, `bin` is what lies in the recycle bin; `feed` is what
    changed, in order; links below `oldest` are lost. `told` is to whom Microsoft wrote."""

    kind: str = "personal"
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    bin: dict[str, dict[str, Any]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    grants: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    feed: list[tuple[int, str]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    number: int = 1000
    oldest: int = 0
    page: int = 0  # how much is on a page; 0: as asked for
    refuse_write: int = 0  # the answer to the next write, which is not done
    place: str | None = None  # where bytes are said to be
    part_status: int = 200  # of what is asked within one request
    before_write: list[Callable[[], object]] = field(default_factory=list)
    """What a person does right before the next write."""

    @property
    def api(self) -> str:
        return f"{self.origin}/v1.0"

    @property
    def servers(self) -> dict[str, str]:
        """As a credential keeps them."""
        return {"api": self.api, "ends_at": "", "kind": self.kind, "owner": NORA}

    # --- a person in their browser -------------------------------------------------------

    def put(self, id: str, name: str, text: str | bytes = "", **more: Any) -> None:
        at = f"{self.tick():%Y-%m-%dT%H:%M:%SZ}"
        raw = text.encode() if isinstance(text, str) else text
        kind = {"file": {"mimeType": more.pop("mimeType", "text/plain")}, "size": len(raw)}
        usual = {"createdDateTime": at, "parentReference": {"id": ROOT}, **kind}
        said = {**usual, **self.items.get(id, {}), "lastModifiedDateTime": at, "name": name}
        if "file" in said:
            said["size"] = len(raw)
            if self.contents.get(id) != raw or id not in self.items:
                said["cTag"] = f'"c:{{{id}}},{self.number + 1}"'
        self.items[id] = said | {"id": id} | more
        self.contents[id] = raw
        self._touch(id)

    def make_folder(self, id: str, name: str, *, above: str = ROOT, **more: Any) -> None:
        at = f"{self.tick():%Y-%m-%dT%H:%M:%SZ}"
        times = {"createdDateTime": at, "lastModifiedDateTime": at}
        about = {"folder": {"childCount": 0}, "parentReference": {"id": above}}
        self.items[id] = {"id": id, "name": name, **about, **times, **more}
        self._touch(id)

    def let_in(self, id: str, address: str, role: str = "read", **more: Any) -> None:
        login = f"i:0#.f|membership|{address}"
        user = {"user": {"id": f"u-{address}"}, "siteUser": {"id": "7", "loginName": login}}
        named = len(self.grants.setdefault(id, []))
        grant = {"id": f"p{named}", "roles": [role], "grantedToV2": user, **more}
        self.grants[id].append(grant)

    def throw_away(self, id: str) -> None:
        """As everybody may do in their browser."""
        self.bin[id] = self.items.pop(id)
        self.number += 1
        self.feed.append((self.number, id))

    def restore(self, id: str) -> None:
        self.items[id] = self.bin.pop(id)
        self._touch(id)

    def empty_bin(self) -> None:
        self.bin.clear()

    def forget_links(self) -> None:
        self.number += 100
        self.oldest = self.number

    def held(self) -> dict[str, str]:
        """Text by path, without what is in the recycle bin."""
        names = {id: f"{one['name']}/" for id, one in self.items.items()} | {ROOT: ""}
        return {
            names.get(one["parentReference"]["id"], "?/") + one["name"]: self.contents[id].decode()
            for id, one in self.items.items()
            if "file" in one
        }

    def shared(self, id: str) -> dict[str, str]:
        """Roles of everybody else whom a grant of the file's own names."""
        return {
            _address(one): one["roles"][0]
            for one in self.grants.get(id, [])
            if one["roles"] != ["owner"]
        }

    def clear(self) -> None:
        for one in (self.items, self.bin, self.contents, self.grants):
            one.clear()
        for rows in (self.feed, self.told, self.problems, self.writes, self.refuse):
            rows.clear()
        self.before_write.clear()
        self.lose = self.fail = self.reads = self.page = self.refuse_write = 0
        self.kind, self.place, self.part_status = "personal", None, 200
        self.oldest = self.number
        self.make_folder(ROOT, "root", root={})
        self.items[ROOT]["parentReference"] = {"driveId": "d1"}

    # --- its API -------------------------------------------------------------------------

    def is_write(self, call: Call) -> bool:
        return super().is_write(call) and call.path not in READS

    def respond(self, call: Call) -> Response:
        if call.path.startswith("/downloads/"):
            return self._downloaded(call)
        if self.is_write(call):
            if self.before_write:
                self.before_write.pop()()
            if self.refuse_write:
                self.refuse, self.refuse_write = [Refuse(self.refuse_write)], 0
        answer = super().respond(call)
        answer.headers["request-id"] = f"graph-{self.reads}-{len(self.writes)}"
        return answer

    def _downloaded(self, call: Call) -> Response:
        """At another address, for all who know it: a token has no business here."""
        if "authorization" in call.headers:
            self.problems.append("a token was sent to another place")
        id = unquote(call.path.removeprefix("/downloads/"))
        if id not in self.contents:
            return Response(status_code=404)
        head = b"%PDF of " if call.query.get("as") == "pdf" else b""
        return Response(head + self.contents[id], media_type="application/octet-stream")

    def answer(self, call: Call, operation: Operation) -> tuple[int, Any]:
        if call.headers.get("authorization") != f"Bearer {TOKEN}":
            raise error(401, "InvalidAuthenticationToken")
        for name in (call.query.get("$select") or "id").split(","):
            if name not in {*DRIVE_FIELDS, *ITEM_FIELDS}:
                raise NotDescribed(f"the field {name}")
        if call.path == "/v1.0/$batch":
            return 200, {"responses": [self._part(one) for one in call.body["requests"]]}
        match call.path.removeprefix(DRIVE).split("/"):
            case ["", "v1.0", "me"]:
                return 200, {"mail": self.login, "userPrincipalName": f"x-{self.login}"}
            case [""]:
                owner = {"user": {"id": NORA, "displayName": "Nora"}}
                return 200, {"id": "d1", "driveType": self.kind, "owner": owner}
            case ["", "root", "children"]:
                return 200, {"value": [self._shown(one, call) for one in self._children(ROOT)]}
            case ["", "root", "delta"]:
                return 200, self._delta(call)
            case ["", "items", id, *rest]:
                return self._of_item(call, unquote(id), [unquote(one) for one in rest])
        raise error(404, "itemNotFound")

    def _part(self, asked: dict[str, Any]) -> dict[str, Any]:
        """One of several requests. It has to be one that is described, too."""
        path = f"/v1.0{asked['url']}"
        operation = self.described.find(asked["method"], path)
        if self.part_status != 200:
            headers = {"Retry-After": "90"} if self.part_status == 429 else {}
            return {"id": asked["id"], "status": self.part_status, "headers": headers, "body": {}}
        parts = path.removeprefix(f"{DRIVE}/items/").split("/")
        try:
            body = self._grants_of(unquote(parts[0]))
        except Refuse as no:
            return {"id": asked["id"], "status": no.status, "body": no.body}
        operation.check_answer(body)
        return {"id": asked["id"], "status": 200, "body": body}

    def _of_item(self, call: Call, id: str, rest: list[str]) -> tuple[int, Any]:
        if id.endswith(":"):
            return self._of_child(call, id.removesuffix(":"), rest)
        if rest == ["restore"]:
            return 200, self._restored(call, id)
        if id not in self.items:
            raise error(404, "itemNotFound")
        match [call.method, *rest]:
            case ["GET"]:
                return 200, self._shown(self.items[id], call)
            case ["GET", "content"]:
                if "file" not in self.items[id]:
                    raise error(400, "invalidRequest")
                if "format" in call.query and not self.items[id]["name"].endswith(".pptx"):
                    raise error(406, "notSupported")
                # Refuse is what this fake says beside a success.
                raise Refuse(302, {}, {"Location": self._place(call, id)})
            case ["GET", "permissions"]:
                return 200, self._grants_of(id)
        return self._changed(call, id, rest)

    def _changed(self, call: Call, id: str, rest: list[str]) -> tuple[int, Any]:
        present = self.items[id]
        if call.headers.get("if-match", present["eTag"]) != present["eTag"]:
            raise error(412, "resourceModified")
        match [call.method, *rest]:
            case ["PUT", "content"]:
                self.put(id, present["name"], call.content)
            case ["PATCH"]:
                above = call.body["parentReference"]["id"]
                self._check_free(above, present["name"])
                self.put(id, present["name"], self.contents[id], parentReference={"id": above})
            case ["DELETE"]:
                self.throw_away(id)
                return 204, None
            case ["POST", "invite"]:
                return 200, {"value": self._invite(call, id)}
            case [_, "permissions", entry]:
                return self._regrant(call, id, entry)
        return 200, self._shown(self.items[id], None)

    def _of_child(self, call: Call, above: str, rest: list[str]) -> tuple[int, Any]:
        name = rest[0].removesuffix(":")
        if above not in self.items or "folder" not in self.items[above]:
            raise error(404, "itemNotFound")
        if call.method == "GET":
            found = [one for one in self._children(above) if one["name"].lower() == name.lower()]
            if not found:
                raise error(404, "itemNotFound")
            return 200, self._shown(found[0], call)
        assert call.query["@microsoft.graph.conflictBehavior"] == "fail", "it would replace"
        self._check_free(above, name)
        id = f"NEW{self.number}!1"
        self.put(id, name, call.content, parentReference={"id": above})
        return 201, self._shown(self.items[id], None)

    def _check_free(self, above: str, name: str) -> None:
        if any(one["name"].lower() == name.lower() for one in self._children(above)):
            raise error(409, "nameAlreadyExists")

    def _restored(self, call: Call, id: str) -> dict[str, Any]:
        if self.kind != "personal":
            raise error(400, "notSupported")
        if id not in self.bin:
            raise error(404, "itemNotFound")
        self.restore(id)
        return self._shown(self.items[id], None)

    def _place(self, call: Call, id: str) -> str:
        form = f"?as={call.query['format']}" if "format" in call.query else ""
        return f"{self.origin}/downloads/{id}{form}" if self.place is None else self.place

    def _grants_of(self, id: str) -> dict[str, Any]:
        """Those of the folders above count, too."""
        owner = {"id": "0", "roles": ["owner"], "grantedToV2": {"user": {"id": NORA}}}
        found, at = [owner, *self.grants.get(id, [])], self.items.get(id)
        if at is None:
            raise error(404, "itemNotFound")
        while (above := at["parentReference"].get("id")) in self.items:
            told = {"inheritedFrom": {"id": above}} if self.kind == "personal" else {}
            found += [{**one, **told} for one in self.grants.get(above, [])]
            at = self.items[above]
        return {"value": found}

    def _invite(self, call: Call, id: str) -> list[dict[str, Any]]:
        assert call.body["requireSignIn"], "the link would be everybody's"
        for one in call.body["recipients"]:
            if call.body.get("sendInvitation", True):
                self.told.append(one["email"])
            self.let_in(id, one["email"], call.body["roles"][0], invitation={"email": one["email"]})
        return self.grants[id][-len(call.body["recipients"]) :]

    def _regrant(self, call: Call, id: str, entry: str) -> tuple[int, Any]:
        rows = self.grants.get(id, [])
        found = [one for one in rows if one["id"] == entry]
        if not found:
            raise error(404, "itemNotFound")
        if call.method == "DELETE":
            rows.remove(found[0])
            return 204, None
        found[0]["roles"] = call.body["roles"]
        return 200, found[0]

    def _children(self, above: str) -> list[dict[str, Any]]:
        return [one for one in self.items.values() if one["parentReference"].get("id") == above]

    def _delta(self, call: Call) -> dict[str, Any]:
        token = call.query.get("token", "0!all!0")
        if token == "latest":
            return {"value": [], "@odata.deltaLink": self._link(call, f"{self.number}!new!0")}
        since, kind, start = token.split("!")
        if kind == "new" and int(since) < self.oldest:
            raise error(410, "resyncChangesApplyDifferences")
        rows = self._all(call) if kind == "all" else list(self._since(int(since), call))
        size = self.page or int(call.query.get("$top", "200"))
        first, rest = int(start), rows[int(start) + size :]
        more = f"{since}!{kind}!{first + size}" if rest else f"{self.number}!new!0"
        name = "@odata.nextLink" if rest else "@odata.deltaLink"
        return {"value": rows[first : first + size], name: self._link(call, more)}

    def _link(self, call: Call, token: str) -> str:
        return f"{self.origin}{call.path}?token={token}"

    def _all(self, call: Call) -> list[dict[str, Any]]:
        return [self._shown(one, call) for one in self.items.values()]

    def _since(self, since: int, call: Call) -> Iterator[dict[str, Any]]:
        told = [id for number, id in self.feed if number > since]
        if told:
            yield self._shown(self.items[ROOT], call)
        for id in told:
            if (said := self.items.get(id)) is None:
                yield {"id": id, "deleted": {"state": "deleted"}}
            else:
                yield self._shown(said, call)

    def _shown(self, said: dict[str, Any], call: Call | None) -> dict[str, Any]:
        """What was selected, and its id; where nothing was, all of it. A link has its own
        selection."""
        wanted = (call.query.get("$select") if call else None) or ",".join(ITEM_FIELDS)
        return {name: value for name, value in said.items() if name in {"id", *wanted.split(",")}}

    def _touch(self, id: str) -> None:
        self.number += 1
        self.items[id]["eTag"] = f'"{{{id}}},{self.number}"'
        self.feed.append((self.number, id))


ITEM_FIELDS = (
    *("id", "name", "size", "eTag", "cTag", "createdDateTime", "lastModifiedDateTime"),
    *("parentReference", "file", "folder", "root", "deleted", "remoteItem", "package"),
)
DRIVE_FIELDS = ("id", "driveType", "owner", "mail", "userPrincipalName")


def _address(grant: dict[str, Any]) -> str:
    return str(grant["grantedToV2"]["siteUser"]["loginName"].rpartition("|")[2])


def error(status: int, code: str) -> Refuse:
    return Refuse(status, {"error": {"code": code, "message": code}})


@contextlib.contextmanager
def running_onedrive() -> Iterator[OneDrive]:
    described = Description(ROOM / "microsoft_files" / "openapi.json")
    onedrive = OneDrive(described=described, token=TOKEN, login=ADDRESS)
    with serving_tracker(onedrive):
        yield onedrive
