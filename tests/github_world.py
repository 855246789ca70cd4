"""A fake GitHub Enterprise Server, written from GitHub's documents and held against GitHub's own
OpenAPI description. No real GitHub is reached by any test.

    with running_github() as github:
        github.put("octo/plans", "A plan")
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.openapi import Description, Operation
from tests.tracker_world import Call, FakeTracker, Refuse, serving_tracker

TOKEN, LOGIN, ADDRESS = "ghp_open-sesame", "nora-berg", "nora@office.test"
DESCRIPTION = Path(__file__).parent / "integrations" / "providers" / "github" / "openapi.json"
PLANS, OTHER = "octo:plans", "octo:reading"  # as Remit calls them


def moment(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


@dataclass(kw_only=True)
class GitHub(FakeTracker):
    """Two repositories; in the second the user may read and comment alone. Its own keys are those
    of Remit."""

    repositories: dict[str, dict[str, bool]] = field(
        default_factory=lambda: {"octo/plans": {"push": True}, "octo/reading": {"pull": True}}
    )
    people: list[str] = field(default_factory=lambda: [LOGIN, "tom", "ann"])
    issues: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    comments: dict[tuple[str, int], list[dict[str, Any]]] = field(default_factory=dict)
    numbers: int = 0

    # --- a person in their browser -------------------------------------------------------

    def put(self, repository: str, title: str, body: str = "", *, by: str = "tom") -> str:
        name = repository.replace(":", "/")
        return str(self._create(name, {"title": title, "body": body}, by=by)["key"])

    def change(self, key: str, **fields: Any) -> None:
        issue = self.issue(key)
        issue.update(fields, updated_at=moment(self.tick()))

    def comment(self, key: str, body: str, *, by: str = "tom") -> dict[str, Any]:
        repository, number = split(key)
        found = {
            "id": self._next(),
            "user": by,
            "body": body,
            "created_at": moment(self.tick()),
            "html_url": f"https://github.test/{repository}/issues/{number}#c",
        }
        self.comments.setdefault((repository, number), []).append(found)
        self.issue(key)["updated_at"] = found["created_at"]
        return found

    def issue(self, key: str) -> dict[str, Any]:
        return self.issues[split(key)]

    def clear(self) -> None:
        self.issues.clear()
        self.comments.clear()
        self.problems.clear()
        self.writes.clear()
        self.refuse.clear()
        self.lose = self.fail = self.reads = 0

    # --- its API -----------------------------------------------------------------------

    def answer(self, call: Call, operation: Operation) -> tuple[int, Any]:
        if call.headers.get("authorization") != f"Bearer {TOKEN}":
            raise Refuse(401, {"message": "Bad credentials"})
        parts = call.path.strip("/").split("/")
        if call.path == "/user":
            return 200, self._user(LOGIN, operation.answer["oneOf"][1])
        if call.path == "/user/repos":
            schema = operation.answer["items"]
            return 200, _paged([self._repository(one, schema) for one in self.repositories], call)
        if call.path == "/issues":
            return 200, self._list(list(self.issues), call, operation.answer["items"])
        repository = "/".join(parts[1:3])
        if repository not in self.repositories:
            raise Refuse(404, {"message": "Not Found"})
        if len(parts) == 3:
            return 200, self._repository(repository, operation.answer)
        if parts[3] == "assignees":
            return 200, _paged([self._user(one) for one in self.people], call)
        return self._of_issues(call, operation, repository, parts[4:])

    def _of_issues(
        self, call: Call, operation: Operation, repository: str, rest: list[str]
    ) -> tuple[int, Any]:
        if not rest and call.method == "POST":
            made = self._create(repository, call.body, by=LOGIN)
            return 201, self._shown(repository, made, operation.answer)
        if not rest:
            keys = [one for one in self.issues if one[0] == repository]
            return 200, self._list(keys, call, operation.answer["items"])
        key = (repository, int(rest[0]))
        if key not in self.issues:
            raise Refuse(404, {"message": "Not Found"})
        if rest[1:] == ["comments"] and call.method == "GET":
            since = call.query.get("since", "")
            found = [one for one in self.comments.get(key, ()) if one["created_at"] >= since]
            schema = operation.answer["items"]
            return 200, _paged([self._comment(one, schema) for one in found], call)
        if rest[1:] == ["comments"]:
            made = self.comment(spell(*key), call.body["body"], by=LOGIN)
            return 201, self._comment(made, operation.answer)
        if call.method == "PATCH":
            self._patch(repository, self.issues[key], call.body)
        return 200, self._shown(repository, self.issues[key], operation.answer)

    def _create(self, repository: str, given: dict[str, Any], *, by: str) -> dict[str, Any]:
        number = 1 + max([0, *(one[1] for one in self.issues if one[0] == repository)])
        at = moment(self.tick())
        issue = {
            "key": spell(repository, number),
            "number": number,
            "title": given["title"],
            "body": given.get("body"),
            "state": "open",
            "state_reason": None,
            "labels": [],
            "assignees": [],
            "user": by,
            "created_at": at,
            "updated_at": at,
        }
        self.issues[repository, number] = issue
        self._sort(repository, issue, given)
        return issue

    def _patch(self, repository: str, issue: dict[str, Any], given: dict[str, Any]) -> None:
        if not self.repositories[repository].get("push") and issue["user"] != LOGIN:
            raise Refuse(403, {"message": "Must have push access"})
        plain = ("title", "body", "state", "state_reason")
        issue.update({one: given[one] for one in plain if one in given})
        self._sort(repository, issue, given)
        issue["updated_at"] = moment(self.tick())

    def _sort(self, repository: str, issue: dict[str, Any], given: dict[str, Any]) -> None:
        """Without push access these are silently dropped, as the documents say."""
        if not self.repositories[repository].get("push"):
            return
        known = [one for one in given.get("assignees", ()) if one in self.people]
        if len(known) < len(given.get("assignees", ())):
            raise Refuse(422, {"message": "Validation Failed"})
        issue.update({one: given[one] for one in ("labels", "assignees") if one in given})

    def _list(self, keys: list[tuple[str, int]], call: Call, schema: Any) -> list[Any]:
        query, found = call.query, [(one[0], self.issues[one]) for one in keys]
        state = query.get("state", "open")
        found = [one for one in found if state in ("all", one[1]["state"])]
        if "creator" in query:
            found = [one for one in found if one[1]["user"] == query["creator"]]
        found = [one for one in found if one[1]["updated_at"] >= query.get("since", "")]
        order = query.get("sort", "created")
        found.sort(key=lambda one: one[1][f"{order}_at"])
        if query.get("direction", "desc") == "desc":
            found.reverse()
        return _paged([self._shown(*one, schema) for one in found], call)

    def _shown(self, repository: str, issue: dict[str, Any], schema: Any) -> dict[str, Any]:
        number = issue["number"]
        said = {name: value for name, value in issue.items() if name != "key"}
        people = [self._user(one) for one in issue["assignees"]]
        labels = [{"id": 1, "name": one, "color": "fff"} for one in issue["labels"]]
        return self.described.fill(
            schema,
            {
                **said,
                "comments": len(self.comments.get((repository, number), ())),
                "user": self._user(issue["user"]),
                "assignees": people,
                "assignee": people[0] if people else None,
                "labels": labels,
                "repository_url": f"{self.origin}{self.prefix}/repos/{repository}",
                "html_url": f"https://github.test/{repository}/issues/{number}",
            },
        )

    def _comment(self, comment: dict[str, Any], schema: Any) -> dict[str, Any]:
        said = {**comment, "user": self._user(comment["user"])}
        return self.described.fill(schema, {**said, "updated_at": comment["created_at"]})

    def _user(self, login: str, schema: Any = None) -> dict[str, Any]:
        schema = schema or {"$ref": "#/components/schemas/simple-user"}
        return self.described.fill(schema, {"login": login, "type": "User"})

    def _repository(self, name: str, schema: Any) -> dict[str, Any]:
        may = {"admin": False, "push": False, "pull": True, **self.repositories[name]}
        fields = {"full_name": name, "has_issues": True, "permissions": may}
        return self.described.fill(schema, fields)

    def _next(self) -> int:
        self.numbers += 1
        return self.numbers


def spell(repository: str, number: int) -> str:
    return f"{repository.replace('/', ':')}:{number}"


def split(key: str) -> tuple[str, int]:
    owner, name, number = key.split(":")
    return f"{owner}/{name}", int(number)


def _paged(found: list[Any], call: Call) -> list[Any]:
    size = int(call.query.get("per_page", "30"))
    start = (int(call.query.get("page", "1")) - 1) * size
    return found[start : start + size]


@contextlib.contextmanager
def running_github() -> Iterator[GitHub]:
    github = GitHub(described=Description(DESCRIPTION), token=TOKEN, login=LOGIN, prefix="/api/v3")
    with serving_tracker(github):
        yield github
