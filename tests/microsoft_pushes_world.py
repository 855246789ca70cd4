"""Subscriptions at a fake Microsoft Graph, written from Microsoft's documents: it tries the address
that it is given, and calls it over real HTTP. No real Microsoft is reached by any test.

    graph.subscriptions.door = live_server.url
    ...
    graph.subscriptions.notify()
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from starlette.responses import Response

from tests.openapi import Description, Operation
from tests.tracker_world import Call, FakeTracker, Refuse

DESCRIBED = Path(__file__).parent / "integrations" / "providers" / "microsoft" / "openapi.json"
PATH = "/v1.0/subscriptions"
PUBLIC = "https://remit.office.test"
TENANT = "84bd8158-6d4d-4958-8b9f-9d6445542f95"
# The least that an edition of the reference allows, in minutes.
LONGEST = {"me/messages": 4230, "me/events": 4230, "me/drive/root": 42300}
# As people report that Microsoft's looks.
TRIED_WITH = "Validation: Testing client application reachability for subscription Request-Id: {}"


@dataclass(kw_only=True)
class GraphSubscriptions(FakeTracker):
    """`door` is where the installation listens, whose public address is `PUBLIC`. `held` are the
    subscriptions that there are, `answers` what the door said, to trials and to calls."""

    door: str = ""
    held: dict[str, dict[str, Any]] = field(default_factory=dict)
    answers: list[httpx.Response] = field(default_factory=list)
    token_to_try: str = ""
    page: int = 100

    def clear(self) -> None:
        self.problems, self.writes, self.refuse, self.answers = [], [], [], []
        self.lose = self.fail = self.reads = 0
        self.held, self.token_to_try, self.page = {}, "", 100
        self.now = datetime.now(UTC)

    @property
    def asked(self) -> list[str]:
        """What changed something here: the method of each."""
        return [one.method for one in self.writes]

    def notify(self, *, times: int = 1, **said: Any) -> list[int]:
        """Says of each subscription that something changed; the answers."""
        return [
            self.call(one["notificationUrl"], [self.notification(id, **said)] * times)
            for id, one in self.held.items()
        ]

    def notify_lifecycle(self, event: str, **said: Any) -> list[int]:
        return [
            self.call(
                one["lifecycleNotificationUrl"],
                [self._about(id) | {"lifecycleEvent": event} | said],
            )
            for id, one in self.held.items()
        ]

    def notification(self, id: str, **said: Any) -> dict[str, Any]:
        kind = {"@odata.type": "#Microsoft.Graph.Message", "id": "AAkALgAA1="}
        about = {"changeType": "updated", "resource": "Users/1/Messages/2", "resourceData": kind}
        return self._about(id) | about | said

    def _about(self, id: str) -> dict[str, Any]:
        return {
            "subscriptionId": id,
            "subscriptionExpirationDateTime": self.held[id]["expirationDateTime"],
            "clientState": self.held[id]["clientState"],
            "tenantId": TENANT,
        }

    def call(self, address: str, said: list[dict[str, Any]]) -> int:
        """As Microsoft does it; the status that it got."""
        body = {"value": said}
        schema = {"$ref": "#/components/schemas/ChangeNotificationCollection"}
        self.described.check(schema, body, what="notification")
        return self._post(address, json=body).status_code

    def answer(self, call: Call, operation: Operation) -> tuple[int, Any]:
        if call.headers.get("authorization") != f"Bearer {self.token}":
            raise _error(401, "InvalidAuthenticationToken")
        id = call.path.removeprefix(PATH).strip("/")
        if not id and call.method == "POST":
            return 201, self._open(call.body)
        if not id:
            return 200, self._list(call.query)
        if id not in self.held:
            raise _error(404, "ResourceNotFound")
        if call.method == "DELETE":
            del self.held[id]
            return 204, None
        self._check_until(self.held[id]["resource"], call.body["expirationDateTime"])
        self.held[id] |= call.body
        return 200, self.held[id] | {"clientState": None}

    def _open(self, body: dict[str, Any]) -> dict[str, Any]:
        self._check_until(body["resource"], body["expirationDateTime"])
        if body["resource"] == "me/drive/root" and body["changeType"] != "updated":
            raise _error(400, "InvalidRequest")
        for name in ("notificationUrl", "lifecycleNotificationUrl"):
            self._try(body[name])
        id = str(uuid4())
        self.held[id] = {**body, "id": id, "applicationId": str(uuid4()), "creatorId": str(uuid4())}
        return self.held[id]

    def _list(self, query: Mapping[str, str]) -> dict[str, Any]:
        skip = int(query.get("$skiptoken", "0"))
        rows = [one | {"clientState": None} for one in self.held.values()]
        found: dict[str, Any] = {"value": rows[skip : skip + self.page]}
        if skip + self.page < len(rows):
            found["@odata.nextLink"] = f"{self.origin}{PATH}?$skiptoken={skip + self.page}"
        return found

    def _check_until(self, resource: str, until: str) -> None:
        longest = self.now + timedelta(minutes=LONGEST[resource])
        if not self.now < datetime.fromisoformat(until) <= longest:
            raise _error(400, "ExtensionError")

    def _try(self, address: str) -> None:
        token = self.token_to_try or TRIED_WITH.format(uuid4())
        mark = "&" if "?" in address else "?"
        query = str(httpx.QueryParams({"validationToken": token}))
        answer = self._post(f"{address}{mark}{query}", headers={"Content-Type": "text/plain"})
        kind = answer.headers.get("content-type", "")
        if answer.status_code != 200 or not kind.startswith("text/plain") or answer.text != token:
            raise _error(400, "ValidationError")

    def _post(self, address: str, **what: Any) -> httpx.Response:
        assert address.startswith(f"{PUBLIC}/"), address
        place = address.replace(PUBLIC, self.door, 1)
        self.answers.append(httpx.post(place, timeout=30, **what))
        return self.answers[-1]


@dataclass(kw_only=True)
class FakeGraph(FakeTracker):
    """What the fakes of mail, calendars and files have in common."""

    subscriptions: GraphSubscriptions = field(init=False)

    def __post_init__(self) -> None:
        self.subscriptions = GraphSubscriptions(
            described=Description(DESCRIBED), token=self.token, login=self.login
        )

    def respond(self, call: Call) -> Response:
        if call.path.startswith(PATH):
            self.subscriptions.origin = self.origin
            return self.subscriptions.respond(call)
        return super().respond(call)


def _error(status: int, code: str) -> Refuse:
    return Refuse(status, {"error": {"code": code, "message": code}})
