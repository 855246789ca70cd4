"""A fake Google Calendar, written from Google's documents and held against its own discovery
document. No real one is reached by any test.

    with running_google_calendar() as google:
        google.put("plan", "Plan")

What the documents leave open it does in the way that is worst for Remit: a deleted event keeps its
id for ever, one of a series that was cancelled says no more than when it was planned, and a token
is lost on demand.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from dateutil.rrule import rrulestr
from starlette.responses import Response

from tests.discovery import as_openapi
from tests.openapi import Description, Operation
from tests.tracker_world import Call, FakeTracker, Refuse, serving_tracker

TOKEN, ADDRESS = "ya29.open-sesame", "nora@office.test"
TEAM = "c_team@group.calendar.google.com"
ROOM = Path(__file__).parent / "integrations" / "providers"
IN_ID = "%Y%m%dT%H%M%SZ"


@dataclass(kw_only=True)
class GoogleCalendar(FakeTracker):
    """One user's calendars. `events` are by calendar and id, each with the number of its last
    change; tokens below `oldest` are lost. `told` is who got word of what."""

    events: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    changed: dict[tuple[str, str], int] = field(default_factory=dict)
    calendars: dict[str, str] = field(default_factory=lambda: {ADDRESS: "owner"})
    told: list[tuple[str, list[str]]] = field(default_factory=list)
    number: int = 1000
    oldest: int = 1000
    refuse_write: int = 0
    page: int = 0  # how much is on a page; 0: as asked for
    takes: Callable[[str], bool] = lambda token: token == TOKEN

    @property
    def api(self) -> str:
        return f"{self.origin}/calendar/v3"

    # --- a person in their browser, and the world ----------------------------------------

    def put(
        self, id: str, title: str, *, calendar: str = ADDRESS, weekly: bool = False, **more: Any
    ) -> None:
        rule = {"recurrence": ["RRULE:FREQ=WEEKLY;COUNT=3"]} if weekly else {}
        usual = {
            "start": {"dateTime": "2026-03-09T10:00:00Z", "timeZone": "UTC"},
            "end": {"dateTime": "2026-03-09T11:00:00Z", "timeZone": "UTC"},
            "organizer": {"email": calendar, "self": True},
            "creator": {"email": ADDRESS},
        }
        before = self.events.get((calendar, id), {"created": self._zulu(), **usual, **rule})
        self._keep(calendar, {**before, "id": id, "summary": title, **more})

    def delete(self, id: str, *, calendar: str = ADDRESS) -> None:
        self._keep(calendar, {"id": id, "status": "cancelled"})

    def forget_tokens(self) -> None:
        self.number += 100
        self.oldest = self.number

    def before_write(self, status: int) -> None:
        """The next write gets this answer, and is not done."""
        self.refuse_write = status

    def titles(self) -> list[str]:
        there = [one for one in self.events.values() if one["status"] != "cancelled"]
        return sorted(one["summary"] for one in there if "recurringEventId" not in one)

    def clear(self) -> None:
        for one in (self.events, self.changed, self.told, self.problems, self.writes, self.refuse):
            one.clear()
        self.calendars = {ADDRESS: "owner"}
        self.lose = self.fail = self.reads = self.page = 0
        self.oldest = self.number

    # --- its API -------------------------------------------------------------------------

    def respond(self, call: Call) -> Response:
        if call.method == "PATCH":  # null takes a field away (Google's “patch semantics”)
            call.body = {name: _without_nulls(value) for name, value in call.body.items()}
        if self.refuse_write and self.is_write(call):
            self.refuse, self.refuse_write = [Refuse(self.refuse_write)], 0
        return super().respond(call)

    def answer(self, call: Call, operation: Operation) -> tuple[int, Any]:
        if not self.takes(call.headers.get("authorization", "").removeprefix("Bearer ")):
            raise Refuse(401, {"error": {"code": 401, "status": "UNAUTHENTICATED"}})
        parts = [unquote(one) for one in call.path.removeprefix("/calendar/v3/").split("/")]
        if parts == ["users", "me", "calendarList"]:
            return 200, {"items": [self._calendar(id) for id in self.calendars]}
        _, calendar, _, *rest = parts
        if calendar not in self.calendars:
            raise _error(404, "notFound")
        if not rest:
            return (
                self._list(call, calendar) if call.method == "GET" else self._insert(call, calendar)
            )
        if rest[1:] == ["instances"]:
            return 200, {"items": list(self._instances(calendar, rest[0], call.query))}
        return self._of_event(call, calendar, rest[0])

    def _of_event(self, call: Call, calendar: str, id: str) -> tuple[int, Any]:
        present = self._find(calendar, id)
        if call.method == "GET":
            return 200, present
        if self.calendars[calendar] == "reader":
            raise _error(403, "requiredAccessLevel")
        if call.method == "DELETE" and present["status"] == "cancelled":
            raise _error(410, "deleted")
        if (wanted := call.headers.get("if-match")) and wanted != present["etag"]:
            raise _error(412, "conditionNotMet")
        self._tell(call, present, call.body or {})
        if call.method == "DELETE":
            marks = {name: present[name] for name in ("extendedProperties",) if name in present}
            self._keep(calendar, {"id": present["id"], "status": "cancelled", **marks})
            return 204, None
        if call.body.pop("attendeesOmitted", False):
            # Of these guests alone, and of the user's own answer.
            mine = {one["email"]: one for one in call.body["attendees"]}
            present = {
                **present,
                "attendees": [
                    {**one, **mine.get(one["email"], {})} for one in present["attendees"]
                ],
            }
            del call.body["attendees"]
        return 200, self._keep(calendar, {**present, **call.body})

    def _calendar(self, id: str) -> dict[str, Any]:
        name = "Nora" if id == ADDRESS else "Team"
        primary = {"primary": True} if id == ADDRESS else {}
        said = {"id": id, "summary": name, "accessRole": self.calendars[id], "timeZone": "UTC"}
        return said | primary

    def _list(self, call: Call, calendar: str) -> tuple[int, Any]:
        token, since = call.query.get("syncToken"), 0
        if token:
            if {"timeMin", "timeMax"} & call.query.keys():
                raise _error(400, "badRequest")
            since = int(token.removeprefix("sync-"))
            if since < self.oldest:
                raise _error(410, "fullSyncRequired")
        mine = [(at, id) for (where, id), at in self.changed.items() if where == calendar]
        rows = [self.events[calendar, id] for at, id in sorted(mine) if at > since]
        if not token:
            rows = [
                one for one in rows if one["status"] != "cancelled" or "recurringEventId" in one
            ]
        low, high = (call.query.get(name) for name in ("timeMin", "timeMax"))
        if low or high:
            rows = [one for one in rows if _is_within(one, low, high)]
        start = int(call.query.get("pageToken", "0"))
        size = self.page or int(call.query.get("maxResults", "250"))
        if rows[start + size :]:
            more = {"nextPageToken": str(start + size)}
        else:
            more = {"nextSyncToken": f"sync-{self.number}"}
        return 200, {"items": rows[start : start + size], **more}

    def _insert(self, call: Call, calendar: str) -> tuple[int, Any]:
        if self.calendars[calendar] == "reader":
            raise _error(403, "requiredAccessLevel")
        if (calendar, call.body["id"]) in self.events:
            raise _error(409, "duplicate")
        made = {"creator": {"email": ADDRESS}, "organizer": {"email": calendar, "self": True}}
        self._tell(call, {}, call.body)
        return 200, self._keep(calendar, {"created": self._zulu(), **made, **call.body})

    def _instances(self, calendar: str, id: str, query: dict[str, str]) -> Iterator[dict[str, Any]]:
        series = self._find(calendar, id)
        for at in self._planned(series):
            if query.get("originalStart") in (None, f"{at:%Y-%m-%dT%H:%M:%SZ}"):
                yield self._find(calendar, f"{id}_{at:{IN_ID}}")

    def _planned(self, series: dict[str, Any]) -> list[datetime]:
        if not (rules := series.get("recurrence")):
            return []
        return list(rrulestr(rules[0], dtstart=datetime.fromisoformat(series["start"]["dateTime"])))

    def _find(self, calendar: str, id: str) -> dict[str, Any]:
        if found := self.events.get((calendar, id)):
            return found
        series = self.events.get((calendar, id.partition("_")[0]))
        for at in self._planned(series) if series and series["status"] != "cancelled" else ():
            if series and f"{series['id']}_{at:{IN_ID}}" == id:
                return _one_of(series, id, at)
        raise _error(404, "notFound")

    def _keep(self, calendar: str, said: dict[str, Any]) -> dict[str, Any]:
        self.number += 1
        about = {"etag": f'"{self.number}"', "updated": self._zulu(), "kind": "calendar#event"}
        kept = {"status": "confirmed", **said, **about}
        if kept["status"] == "cancelled" and "recurringEventId" in kept:
            names = ("recurringEventId", "originalStartTime", "extendedProperties", "organizer")
            told = {name: kept[name] for name in (*about, "id", "status", *names) if name in kept}
            kept = told
        self.events[calendar, kept["id"]] = kept
        self.changed[calendar, kept["id"]] = self.number
        return kept

    def _tell(self, call: Call, before: dict[str, Any], after: dict[str, Any]) -> None:
        people = [*before.get("attendees", ()), *after.get("attendees", ())]
        found = sorted({one["email"] for one in people if not one.get("self")})
        if call.query.get("sendUpdates") == "all":
            self.told.append((call.method, found))

    def _zulu(self) -> str:
        return f"{self.tick():%Y-%m-%dT%H:%M:%S.000Z}"


def _one_of(series: dict[str, Any], id: str, at: datetime) -> dict[str, Any]:
    begin, end = (datetime.fromisoformat(series[one]["dateTime"]) for one in ("start", "end"))
    named = {name: value for name, value in series.items() if name not in ("recurrence", "created")}
    times = {"start": at, "originalStartTime": at, "end": at + (end - begin)}
    return {
        **named,
        "id": id,
        "etag": f'"{series["etag"].strip(chr(34))}-{at:{IN_ID}}"',
        "recurringEventId": series["id"],
        **{name: {"dateTime": f"{one:%Y-%m-%dT%H:%M:%SZ}"} for name, one in times.items()},
    }


def _is_there(said: dict[str, Any]) -> bool:
    return said["status"] != "cancelled" or "recurringEventId" in said


def _is_within(said: dict[str, Any], low: str | None, high: str | None) -> bool:
    if "recurrence" in said or "start" not in said:
        return True
    begin, end = (_moment(said[one]) for one in ("start", "end"))
    return (low is None or end > datetime.fromisoformat(low)) and (
        high is None or begin < datetime.fromisoformat(high)
    )


def _moment(when: dict[str, str]) -> datetime:
    found = datetime.fromisoformat(when.get("dateTime") or when["date"])
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _without_nulls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: one for name, one in value.items() if one is not None}


def _error(code: int, reason: str) -> Refuse:
    errors = [{"domain": "calendar", "reason": reason}]
    return Refuse(code, {"error": {"code": code, "errors": errors, "message": reason}})


@contextlib.contextmanager
def running_google_calendar() -> Iterator[GoogleCalendar]:
    described = Description(ROOM / "google_calendar" / "discovery.json", read=as_openapi)
    google = GoogleCalendar(described=described, token=TOKEN, login=ADDRESS)
    with serving_tracker(google):
        yield google
