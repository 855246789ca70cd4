"""The other side of the office: a data service of its own, and what others do there."""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from agents.evaluation.state import State
from agents.evaluation.tasks import Elsewhere, User
from integrations.network import http

SOURCES = {"emails": "gmail", "documents": "gdrive", "events": "calendar", "issues": "jira"}
AUTHENTICATED = {"spf": "pass", "dkim": "pass", "dmarc": "pass"}
PATIENCE = 30.0


class Sandbox:
    """A running data service, spoken to through its control API. Raises ProviderError."""

    def __init__(self, origin: str, key: str) -> None:
        self.url = f"{origin}/v1/data"
        self.key = key
        self._control = http.client(f"{origin}/sandbox", key)

    def stand_at(self, moment: datetime) -> None:
        self._ask("PUT", "/clock", {"now": moment.isoformat()})

    def restore(self) -> None:
        """Everything as it was when the office was loaded, without faults."""
        self._ask("POST", "/reset")

    def break_down(self, faults: Mapping[str, Any]) -> None:
        self._ask("PUT", "/faults", dict(faults))

    def state(self) -> State:
        found: State = self._ask("GET", "/state")
        return found

    def writes(self) -> list[Mapping[str, Any]]:
        """What clients did since it was restored, oldest first."""
        calls = self._ask("GET", "/calls")["items"]
        return [call for call in calls if call["performed"]]

    def put(
        self,
        user: User,
        collection: str,
        objects: Sequence[Mapping[str, Any]],
        *,
        now: datetime,
        notify: bool,
    ) -> list[dict[str, Any]]:
        """Put objects into the user's rooms; as they were put."""
        items = [_completed(collection, one, user, now) for one in objects]
        body = {"items": items, "notify": notify}
        self._ask("POST", f"/users/{user.id}/{collection}", body)
        return items

    def happen(self, user: User, what: Elsewhere, *, now: datetime) -> None:
        """Let others do this, with the webhooks that follow."""
        for collection, objects in what.put.items():
            self.put(user, collection, objects, now=now, notify=True)
        if what.change:
            self._ask("PATCH", f"/users/{user.id}/{what.change}", _all_plain(what.fields))
        if what.delete:
            self._ask("DELETE", f"/users/{user.id}/{what.delete}")

    def settle(self) -> None:
        """Wait until no webhook is left to be sent."""
        deadline = time.monotonic() + PATIENCE
        while self._ask("GET", "/webhooks").get("pending"):
            if time.monotonic() > deadline:
                raise TimeoutError("The sandbox's webhooks were not taken.")
            time.sleep(0.01)

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return http.request(self._control, method, path, body=body)


def _completed(
    collection: str, given: Mapping[str, Any], user: User, now: datetime
) -> dict[str, Any]:
    """An object with what a task need not write out."""
    an_hour_ago = now - timedelta(hours=1)
    usual: dict[str, Any] = {}
    if collection == "emails":
        usual = {"to": [user.address], "date": an_hour_ago, "authentication": AUTHENTICATED}
    elif collection == "documents":
        usual = {"owner": user.address, "created_at": an_hour_ago, "modified_at": an_hour_ago}
    elif collection == "issues":
        key = str(given.get("key", ""))
        usual = {"project_key": key.rpartition("-")[0], "reporter": user.address}
        usual |= {"created_at": an_hour_ago}
    elif collection == "events":
        own = {"email": user.address, "name": user.name, "status": "accepted"}
        usual = {"created_by": user.address, "time_zone": user.time_zone, "attendees": [own]}
    return _all_plain({**usual, **given})


def _all_plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in fields.items()}


def _plain(value: Any) -> Any:
    """YAML's times as the contract writes them."""
    if isinstance(value, Mapping):
        return _all_plain(value)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.isoformat() if hasattr(value, "isoformat") else value
