"""A fake Jira, Cloud or Data Center, written from Atlassian's documents. The cloud's requests and
answers are held against Atlassian's own OpenAPI description; for a data center the fake knows which
parameters and fields its documents name. No real Jira is reached by any test.

    with running_jira(is_cloud=True) as jira:
        jira.put("PLAN", "A plan")
"""

import base64
import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.openapi import Description, NotDescribed, Operation
from tests.tracker_world import Call, FakeTracker, Refuse, serving_tracker

TOKEN, LOGIN, ADDRESS = "jira-open-sesame", "nora", "nora@office.test"
DESCRIPTION = Path(__file__).parent / "integrations" / "providers" / "jira" / "openapi.json"
PROJECT, OTHER = "PLAN", "READ"
STEPS = {
    "To Do": {"11": "In Progress", "21": "Done"},
    "In Progress": {"21": "Done"},
    "Done": {"31": "To Do"},
}
FIELDS = [
    "summary",
    "description",
    "issuetype",
    "priority",
    "labels",
    "assignee",
    "duedate",
    "components",
]
# What a data center's documents name: parameters and fields of a body, by method and path.
DOCUMENTED: dict[tuple[str, str], tuple[str, set[str]]] = {
    ("GET", "/serverInfo"): ("", set()),
    ("GET", "/myself"): ("", set()),
    ("GET", "/mypermissions"): ("permissions", set()),
    ("GET", "/project"): ("", set()),
    ("GET", "/user/assignable/search"): ("username project issueKey startAt maxResults", set()),
    ("POST", "/search"): ("", {"jql", "startAt", "maxResults", "fields"}),
    ("POST", "/issue"): ("", {"fields", "properties"}),
    ("GET", "/issue/K"): ("fields", set()),
    ("PUT", "/issue/K"): ("", {"fields"}),
    ("GET", "/issue/K/editmeta"): ("", set()),
    ("GET", "/issue/K/transitions"): ("", set()),
    ("POST", "/issue/K/transitions"): ("", {"transition"}),
    ("GET", "/issue/K/comment"): ("startAt maxResults", set()),
    ("POST", "/issue/K/comment"): ("", {"body", "properties"}),
    ("GET", "/issue/K/properties/P"): ("", set()),
    ("GET", "/comment/K/properties/P"): ("", set()),
}


class Documented:
    """A data center's description, as far as its documents go."""

    def find(self, method: str, path: str) -> "Known":
        name = re.sub(r"^/(issue|comment)/[^/]+", r"/\1/K", path.removeprefix("/rest/api/2"))
        name = re.sub(r"/properties/[^/]+", "/properties/P", name)
        if (method, name) not in DOCUMENTED:
            raise NotDescribed(f"{method} {path}")
        return Known(*DOCUMENTED[method, name])


@dataclass
class Known:
    params: str
    fields: set[str]

    def check_request(self, *, query: dict[str, str], body: Any) -> None:
        unknown = set(query) - set(self.params.split()) | set(body or {}) - self.fields
        if unknown:
            raise NotDescribed(f"{sorted(unknown)}")

    def check_answer(self, body: Any) -> None:
        pass


@dataclass(kw_only=True)
class Jira(FakeTracker):
    """Two projects, where the user may do anything. The workflow has steps as in STEPS, and none to
    “In Review”. The address of “shy” is not shown."""

    is_cloud: bool
    people: dict[str, str] = field(
        default_factory=lambda: {LOGIN: ADDRESS, "tom": "tom@office.test", "shy": ""}
    )
    issues: dict[str, dict[str, Any]] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)  # from every list: its index is behind
    properties: dict[str, str] = field(default_factory=dict)
    number: int = 100
    not_editable: set[str] = field(default_factory=set)
    offered: dict[str, list[str]] = field(default_factory=dict)
    refuse_steps: bool = False

    # --- a person in their browser -------------------------------------------------------

    def put(self, project: str, title: str, text: str = "", *, by: str = "tom") -> str:
        given = {"summary": title, "description": self.kept(text), "issuetype": {"name": "Task"}}
        return self._create(project, given, by=by)

    def kept(self, text: str) -> Any:
        if not self.is_cloud:
            return text or None
        words = [{"type": "paragraph", "content": [{"type": "text", "text": text}]}]
        return {"type": "doc", "version": 1, "content": words} if text else None

    def change(self, key: str, **fields: Any) -> None:
        self.issues[key]["fields"].update(fields, updated=self._moment(self.tick()))

    def comment(self, key: str, text: str, *, by: str = "tom") -> dict[str, Any]:
        return self._comment(key, self.kept(text), by=by)

    def clear(self) -> None:
        for one in (self.issues, self.problems, self.writes, self.refuse, self.properties):
            one.clear()
        self.hidden.clear()
        self.not_editable.clear()
        self.offered.clear()
        self.lose = self.fail = self.reads = 0
        self.refuse_steps = False

    # --- its API -----------------------------------------------------------------------

    def is_write(self, call: Call) -> bool:
        return super().is_write(call) and "/search" not in call.path

    def answer(self, call: Call, operation: Operation) -> tuple[int, Any]:
        path = call.path.removeprefix(f"/rest/api/{3 if self.is_cloud else 2}")
        if path.endswith("/serverInfo"):
            kind = "Cloud" if self.is_cloud else "Server"
            return 200, {"deploymentType": kind, "version": "1001.0.0"}
        self._check_token(call)
        parts = path.strip("/").split("/")
        if path == "/myself":
            return 200, self._person(LOGIN) | {"timeZone": "Europe/Stockholm"}
        if path == "/mypermissions":
            names = ("CREATE_ISSUES", "ADD_COMMENTS", "EDIT_ISSUES", "TRANSITION_ISSUES")
            found = {one: {"havePermission": True} for one in (*names, "ASSIGN_ISSUES")}
            return 200, {"permissions": found}
        if parts[0] == "project":
            found_projects = [{"key": one, "name": f"The {one}"} for one in (PROJECT, OTHER)]
            page = {"values": found_projects, "isLast": True, "startAt": 0}
            return 200, page if self.is_cloud else found_projects
        if parts[0] == "user":
            return 200, self._assignable(call)
        if parts[0] == "search":
            return 200, self._search(call.body)
        if parts[0] == "comment":
            return 200, self._property(f"comment {parts[1]}")
        if len(parts) == 1:
            project = call.body["fields"]["project"]["key"]
            key = self._create(project, call.body["fields"], by=LOGIN)
            self._keep(f"issue {key}", call.body.get("properties", ()))
            said = {"id": self.issues[key]["id"], "key": key}
            return 201, {**said, "self": f"{self.origin}/rest/api/2/issue/{said['id']}"}
        return self._of_issue(call, parts[1], parts[2:])

    def _of_issue(self, call: Call, name: str, rest: list[str]) -> tuple[int, Any]:
        found = [key for key, one in self.issues.items() if name in (key, one["id"])]
        if not found:
            raise Refuse(404)
        key = found[0]
        if rest[:1] == ["properties"]:
            return 200, self._property(f"issue {key}")
        if rest == ["editmeta"]:
            names = [one for one in FIELDS if one not in self.not_editable]
            meta = {"required": False, "name": "", "key": "", "operations": []}
            meta["schema"] = {"type": "string"}
            offered = {
                one: {"allowedValues": [{"name": value} for value in values]}
                for one, values in self.offered.items()
            }
            fields = {one: {**meta, "key": one, **offered.get(one, {})} for one in names}
            return 200, {"fields": fields}
        if rest == ["transitions"]:
            return self._transitions(call, key)
        if rest == ["comment"] and call.method == "GET":
            start, size = int(call.query["startAt"]), int(call.query["maxResults"])
            every = self.issues[key]["fields"]["comment"]["comments"]
            page = {"startAt": start, "maxResults": size, "total": len(every)}
            return 200, {**page, "comments": every[start : start + size]}
        if rest == ["comment"]:
            made = self._comment(key, call.body["body"], by=LOGIN)
            self._keep(f"comment {made['id']}", call.body.get("properties", ()))
            return 201, made
        if call.method == "PUT":
            wrong = set(call.body["fields"]) & self.not_editable
            if wrong:
                raise Refuse(400, {"errors": dict.fromkeys(wrong, "not on the screen")})
            self.change(key, **self._read(call.body["fields"]))
            return 204, None
        return 200, self.issues[key]

    def _transitions(self, call: Call, key: str) -> tuple[int, Any]:
        fields = self.issues[key]["fields"]
        steps = STEPS[fields["status"]["name"]]
        if call.method == "GET":
            found = [{"id": id, "name": to, "to": {"name": to}} for id, to in steps.items()]
            return 200, {"transitions": found}
        if self.refuse_steps or call.body["transition"]["id"] not in steps:
            raise Refuse(400, {"errorMessages": ["It is not valid."]})
        self.change(key, status={"name": steps[call.body["transition"]["id"]]})
        return 204, None

    def _create(self, project: str, given: dict[str, Any], *, by: str) -> str:
        if project not in (PROJECT, OTHER):
            raise Refuse(400, {"errors": {"project": "valid project is required"}})
        self.number += 1
        key = f"{project}-{self.number}"
        at = self._moment(self.tick())
        fields = {
            "description": None,
            "priority": None,
            "labels": [],
            "assignee": None,
            "duedate": None,
            "components": [],
            **self._read(given),
            "status": {"name": "To Do"},
            "project": {"key": project},
            "reporter": self._person(by),
            "creator": by,
            "created": at,
            "updated": at,
            "comment": {"total": 0, "comments": []},
        }
        self.issues[key] = {"id": str(10_000 + self.number), "key": key, "fields": fields}
        return key

    def _read(self, given: dict[str, Any]) -> dict[str, Any]:
        """Fields as they are set, people looked up. In the cloud texts are documents."""
        found = dict(given)
        text = found.get("description")
        if text is not None and isinstance(text, dict) is not self.is_cloud:
            raise Refuse(400, {"errors": {"description": "Operation value is no document"}})
        if found.get("assignee"):
            (name,) = found["assignee"].values()
            id = "accountId" if self.is_cloud else "name"
            if set(found["assignee"]) != {id} or name.removeprefix("id-") not in self.people:
                raise Refuse(400, {"errors": {"assignee": "does not exist"}})
            found["assignee"] = self._person(name.removeprefix("id-"))
        return found

    def _comment(self, key: str, body: Any, *, by: str) -> dict[str, Any]:
        if isinstance(body, dict) is not self.is_cloud:
            raise Refuse(400, {"errors": {"comment": "is no document"}})
        self.number += 1
        at = self._moment(self.tick())
        made = {"id": str(self.number), "author": self._person(by), "body": body, "created": at}
        found = self.issues[key]["fields"]["comment"]
        found["comments"].append(made)
        found["total"] += 1
        self.issues[key]["fields"]["updated"] = at
        return made

    def _keep(self, about: str, properties: Any) -> None:
        for one in properties:
            self.properties[about] = one["value"]["key"]

    def _property(self, about: str) -> dict[str, Any]:
        if about not in self.properties:
            raise Refuse(404)
        return {"key": "remit", "value": {"key": self.properties[about]}}

    def _search(self, body: dict[str, Any]) -> dict[str, Any]:
        query, found = body["jql"], []
        zone_hours = 1 if self.now.month in (11, 12, 1, 2, 3) else 2  # Europe/Stockholm, roughly
        when = re.search(r'(updated|created) >= "([^"]+)"', query)
        project = re.search(r'project = "(\w+)"', query)
        among = re.search(r"project in \(([^)]+)\)", query)
        assert when is not None, query
        assert query.endswith("ORDER BY key ASC"), query
        since = datetime.strptime(when[2], "%Y-%m-%d %H:%M").replace(tzinfo=UTC).timestamp()
        for key, one in sorted(self.issues.items()):
            fields, name = one["fields"], one["fields"]["project"]["key"]
            at = datetime.strptime(fields[when[1]], "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()
            wrong = "creator = currentUser()" in query and fields["creator"] != LOGIN
            wrong = wrong or at + zone_hours * 3600 < since or key in self.hidden
            wrong = wrong or (project is not None and project[1] != name)
            if not wrong and (among is None or name in among[1].split(", ")):
                found.append(one)
        size, start = body["maxResults"], int(body.get("nextPageToken") or body.get("startAt") or 0)
        page = found[start : start + size]
        if not self.is_cloud:
            return {"issues": page, "total": len(found), "startAt": start}
        last = start + size >= len(found)
        return {"issues": page, "isLast": last} | (
            {} if last else {"nextPageToken": str(start + size)}
        )

    def _assignable(self, call: Call) -> list[dict[str, Any]]:
        asked = call.query.get("query" if self.is_cloud else "username", "")
        start, size = int(call.query["startAt"]), int(call.query["maxResults"])
        found = [self._person(one) for one, address in self.people.items() if asked in address]
        return found[start : start + size]

    def _person(self, name: str) -> dict[str, Any]:
        shown = {"emailAddress": self.people[name]} if self.people[name] else {}
        id = {"accountId": f"id-{name}"} if self.is_cloud else {"name": name}
        return {**id, **shown, "displayName": name.capitalize(), "active": True}

    def _check_token(self, call: Call) -> None:
        pair = base64.b64encode(f"{ADDRESS}:{TOKEN}".encode()).decode()
        wanted = f"Basic {pair}" if self.is_cloud else f"Bearer {TOKEN}"
        if call.headers.get("authorization") != wanted:
            raise Refuse(401, {"message": "You are not authenticated"})

    @staticmethod
    def _moment(at: datetime) -> str:
        return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.000+0000"


@contextlib.contextmanager
def running_jira(*, is_cloud: bool) -> Iterator[Jira]:
    described: Any = Description(DESCRIPTION) if is_cloud else Documented()
    jira = Jira(described=described, token=TOKEN, login=LOGIN, is_cloud=is_cloud)
    with serving_tracker(jira):
        yield jira
