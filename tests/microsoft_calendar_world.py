"""A fake of calendars at Microsoft Graph, written from Microsoft's documents. No real one is
reached by any test.

    with running_outlook_calendar() as outlook:
        outlook.put("plan", "Plan")

What the documents leave open, or people report otherwise, it does in the way that is worst for
Remit: what changes tells of one of a series no more than its id and series, of a series nothing
itself, and of one that was cancelled nothing at all; what lies outside the window that was asked
for looks like deleted; a transaction's id that was used is refused; what is declined is gone.
"""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON
from starlette.responses import Response

from tests.microsoft_pushes_world import FakeGraph
from tests.openapi import Description, Operation
from tests.tracker_world import Call, Refuse, serving_tracker

TOKEN, ADDRESS = "eyJ0eXAi.open-sesame", "nora@office.test"
OWN, TEAM, BOSS = "AQMkAD-own=", "AQMkAD-team=", "AQMkAD-boss="
ROOM = Path(__file__).parent / "integrations" / "providers"
PREFERRED = {'IdType="ImmutableId"', 'outlook.body-content-type="text"'}
MARKED = r"singleValueExtendedProperties/Any\(ep: ep/id eq '(.*)' and ep/value eq '(.*)'\)"
ANSWERS = {
    "accept": "accepted",
    "tentativelyAccept": "tentativelyAccepted",
    "decline": "declined",
}
Place = tuple[str, str]


@dataclass(kw_only=True)
class OutlookCalendar(FakeGraph):
    """One user's calendars. `events` are by calendar and id, each with the number of its last
    change; tokens below `oldest` are lost. `notified` is who got word of what."""

    events: dict[Place, dict[str, Any]] = field(default_factory=dict)
    marks: dict[Place, dict[str, str]] = field(default_factory=dict)
    left_out: dict[Place, list[str]] = field(default_factory=dict)
    changed: dict[Place, int] = field(default_factory=dict)
    calendars: dict[str, tuple[str, str, bool]] = field(default_factory=dict)
    transactions: set[str] = field(default_factory=set)
    notified: list[tuple[str, list[str]]] = field(default_factory=list)
    number: int = 1000
    oldest: int = 0
    refuse_write: int = 0
    lists_marks: bool = True  # of what it has just created
    page: int = 0  # how much is on a page; 0: as asked for

    def __post_init__(self) -> None:
        super().__post_init__()
        self.calendars = {OWN: ("Calendar", ADDRESS, True)}

    @property
    def api(self) -> str:
        return f"{self.origin}/v1.0"

    # --- a person in their browser, and the world ----------------------------------------

    def put(
        self, id: str, title: str, *, calendar: str = OWN, weekly: bool = False, **more: Any
    ) -> None:
        usual: dict[str, Any] = {
            "start": when("2026-03-09T10:00:00"),
            "end": when("2026-03-09T11:00:00"),
            "originalStartTimeZone": "UTC",
            "organizer": person(ADDRESS),
            "isOrganizer": True,
            "isAllDay": False,
            "isCancelled": False,
            "isDraft": False,
            "hideAttendees": False,
            "allowNewTimeProposals": True,
            "attendees": [],
            "body": {"contentType": "text", "content": ""},
            "location": {"displayName": ""},
            "responseStatus": {"response": "organizer"},
            "seriesMasterId": None,
            "recurrence": None,
            "onlineMeeting": None,
            "isOnlineMeeting": False,
            "type": "seriesMaster" if weekly else "singleInstance",
            "createdDateTime": zulu(self.tick()),
        }
        if weekly:
            usual["recurrence"] = {
                "pattern": {
                    "type": "weekly",
                    "interval": 1,
                    "month": 0,
                    "dayOfMonth": 0,
                    "daysOfWeek": ["monday"],
                    "firstDayOfWeek": "sunday",
                    "index": "first",
                },
                "range": {
                    "type": "numbered",
                    "startDate": "2026-03-09",
                    "endDate": "0001-01-01",
                    "recurrenceTimeZone": "UTC",
                    "numberOfOccurrences": 3,
                },
            }
        before = self.events.get((calendar, id), usual)
        self._keep(calendar, {**before, "id": id, "subject": title, **more})

    def change_one(self, series: str, day: str, *, calendar: str = OWN, **more: Any) -> None:
        """One of a series, by the day for which it was planned."""
        one = self._find(calendar, f"{series}-{day}")
        self._keep(calendar, {**one, "type": "exception", **more})
        self._touch((calendar, series))

    def leave_out(self, series: str, day: str, *, calendar: str = OWN) -> None:
        self.left_out.setdefault((calendar, series), []).append(f"OID.{series}.{day}")
        self.events.pop((calendar, f"{series}-{day}"), None)
        self._touch((calendar, series))

    def delete(self, id: str, *, calendar: str = OWN) -> None:
        del self.events[calendar, id]
        self._touch((calendar, id))

    def forget_tokens(self) -> None:
        self.number += 100
        self.oldest = self.number

    def etag(self, id: str, *, calendar: str = OWN) -> str:
        return self._etag((calendar, id))

    def before_write(self, status: int) -> None:
        """The next write gets this answer, and is not done."""
        self.refuse_write = status

    def titles(self) -> list[str]:
        return sorted(one["subject"] for one in self.events.values() if one["type"] != "exception")

    def clear(self) -> None:
        for one in (self.events, self.marks, self.left_out, self.changed, self.transactions):
            one.clear()
        for rows in (self.notified, self.problems, self.writes, self.refuse):
            rows.clear()
        self.calendars = {OWN: ("Calendar", ADDRESS, True)}
        self.lose = self.fail = self.reads = self.page = self.refuse_write = 0
        self.oldest, self.lists_marks = self.number, True

    # --- its API -------------------------------------------------------------------------

    def respond(self, call: Call) -> Response:
        if self.refuse_write and self.is_write(call):
            self.refuse, self.refuse_write = [Refuse(self.refuse_write)], 0
        answer = super().respond(call)
        answer.headers["request-id"] = f"graph-{self.reads}-{len(self.writes)}"
        return answer

    def answer(self, call: Call, operation: Operation) -> tuple[int, Any]:
        if call.headers.get("authorization") != f"Bearer {TOKEN}":
            raise error(401, "InvalidAuthenticationToken")
        if not set(call.headers.get("prefer", "").split(", ")) >= PREFERRED:
            raise error(400, "these ids change")
        _, *parts = call.path.removeprefix("/v1.0/me").split("/")
        match parts:
            case []:
                return 200, {"mail": self.login, "userPrincipalName": f"x-{self.login}"}
            case ["calendars"]:
                return 200, {"value": [self._calendar(id) for id in self.calendars]}
            case ["calendars", calendar, *rest] if calendar in self.calendars:
                return self._of_calendar(call, calendar, rest)
        raise error(404, "ErrorItemNotFound")

    def _of_calendar(self, call: Call, calendar: str, rest: list[str]) -> tuple[int, Any]:
        match rest:
            case ["events"] if call.method == "POST":
                return 201, self._create(call, calendar)
            case ["events"]:
                return 200, self._list(call, calendar)
            case ["calendarView", "delta"]:
                return 200, self._delta(call, calendar)
            case ["events", id, "instances"]:
                return 200, {"value": list(self._instances(call, calendar, id))}
            case ["events", id, *more]:
                return self._of_event(call, (calendar, id), more)
        raise Refuse(404)

    def _of_event(self, call: Call, place: Place, rest: list[str]) -> tuple[int, Any]:
        present = self._find(*place)
        if call.method == "GET":
            return 200, self._shown(place, present, call)
        if not self.calendars[place[0]][2]:
            raise error(403, "ErrorAccessDenied")
        if rest:
            return self._answered(call, place, present, rest[0])
        if call.headers.get("if-match", self._etag(place)) != self._etag(place):
            raise error(412, "ErrorIrresolvableConflict")
        self._tell(call, present, call.body or {})
        if call.method == "DELETE":
            return self._delete(place, present)
        self.marks.setdefault(place, {}).update(_marks(call.body))
        body = {k: v for k, v in call.body.items() if k != "singleValueExtendedProperties"}
        if present["type"] == "occurrence":
            present = {**present, "type": "exception"}
        if present["type"] == "exception":
            self._touch((place[0], present["seriesMasterId"]))
        self._keep(place[0], {**present, **_in_utc(body)})
        return 200, self._shown(place, self.events[place], None)

    def _answered(
        self, call: Call, place: Place, present: dict[str, Any], how: str
    ) -> tuple[int, Any]:
        if present["isOrganizer"]:
            raise error(400, "ErrorInvalidRequest")
        if call.body.get("proposedNewTime") and not present["allowNewTimeProposals"]:
            raise error(400, "ErrorInvalidRequest")
        if call.body["sendResponse"]:
            self.notified.append((how, [present["organizer"]["emailAddress"]["address"]]))
        if how == "decline":
            self.delete(place[1], calendar=place[0])
        else:
            self._keep(place[0], {**present, "responseStatus": {"response": ANSWERS[how]}})
        return 202, None

    def _delete(self, place: Place, present: dict[str, Any]) -> tuple[int, Any]:
        if series := present["seriesMasterId"]:
            self.leave_out(series, place[1][-10:], calendar=place[0])
        else:
            self.delete(place[1], calendar=place[0])
        return 204, None

    def _calendar(self, id: str) -> dict[str, Any]:
        name, owner, can_edit = self.calendars[id]
        return {
            "id": id,
            "name": name,
            "owner": {"address": owner},
            "canEdit": can_edit,
            "isDefaultCalendar": id == OWN,
        }

    def _list(self, call: Call, calendar: str) -> dict[str, Any]:
        rows = [
            (place, one)
            for place, one in self.events.items()
            if place[0] == calendar and one["type"] != "exception"
        ]
        if said := call.query.get("$filter"):
            found = re.fullmatch(MARKED, said)
            if found is None:
                raise error(400, "ErrorInvalidUrlQueryFilter")
            rows = [
                (place, one)
                for place, one in rows
                if self.lists_marks and self.marks.get(place, {}).get(found[1]) == found[2]
            ]
        return self._paged(call, [self._shown(place, one, call) for place, one in rows], "$skip")

    def _create(self, call: Call, calendar: str) -> dict[str, Any]:
        if call.body["transactionId"] in self.transactions:
            raise error(409, "ErrorDuplicateTransactionId")
        self.transactions.add(call.body["transactionId"])
        self.number += 1
        place = calendar, f"AAkALgAA{self.number}="
        self._tell(call, {}, call.body)
        self.marks[place] = _marks(call.body)
        body = {k: v for k, v in call.body.items() if k != "singleValueExtendedProperties"}
        self.put(place[1], body.pop("subject", ""), calendar=calendar, **_in_utc(body))
        return self._shown(place, self.events[place], None)

    def _instances(self, call: Call, calendar: str, id: str) -> Iterator[dict[str, Any]]:
        low, high = (_at(call.query[one]) for one in ("startDateTime", "endDateTime"))
        for place, one in self._occurrences(calendar, id):
            if moment(one["end"]) > low and moment(one["start"]) < high:
                yield self._shown(place, one, call)

    def _occurrences(self, calendar: str, id: str) -> Iterator[tuple[Place, dict[str, Any]]]:
        series = self.events[calendar, id]
        times = (series["recurrence"] or {}).get("range", {}).get("numberOfOccurrences", 0)
        gone = {one.rpartition(".")[2] for one in self.left_out.get((calendar, id), ())}
        for week in range(times):
            begin, end = (moment(series[one]) + timedelta(weeks=week) for one in ("start", "end"))
            place = calendar, f"{id}-{begin:%Y-%m-%d}"
            if f"{begin:%Y-%m-%d}" in gone:
                continue
            yield (
                place,
                self.events.get(place)
                or {
                    **series,
                    "id": place[1],
                    "type": "occurrence",
                    "seriesMasterId": id,
                    "recurrence": None,
                    "originalStart": zulu(begin),
                    "start": when(f"{begin:%Y-%m-%dT%H:%M:%S}"),
                    "end": when(f"{end:%Y-%m-%dT%H:%M:%S}"),
                },
            )

    def _find(self, calendar: str, id: str) -> dict[str, Any]:
        if found := self.events.get((calendar, id)):
            return found
        if (calendar, id[:-11]) in self.events:
            for place, one in self._occurrences(calendar, id[:-11]):
                if place[1] == id:
                    return one
        raise error(404, "ErrorItemNotFound")

    def _delta(self, call: Call, calendar: str) -> dict[str, Any]:
        token = call.query.get("$deltatoken") or call.query.get("$skiptoken")
        if token is None:
            since, window = -1, (call.query["startDateTime"], call.query["endDateTime"])
        else:
            number, *ends = token.split("!")
            since, window = int(number), (ends[0], ends[1])
            if "$deltatoken" in call.query and since < self.oldest:
                raise error(410, "syncStateNotFound")
        rows = list(self._changes(calendar, since, window))
        start = int(token.split("!")[3]) if token and "$skiptoken" in call.query else 0
        size = self.page or 50
        if rows[start + size :]:
            name, at, till = "$skiptoken", since, [str(start + size)]
        else:
            name, at, till = "$deltatoken", self.number, []
        link = urlencode({name: "!".join([str(at), *window, *till])})
        where = "@odata.nextLink" if till else "@odata.deltaLink"
        return {"value": rows[start : start + size], where: f"{self.origin}{call.path}?{link}"}

    def _changes(
        self, calendar: str, since: int, window: tuple[str, str]
    ) -> Iterator[dict[str, Any]]:
        low, high = map(_at, window)
        for place, number in sorted(self.changed.items(), key=lambda one: one[1]):
            if place[0] != calendar or number <= since:
                continue
            said = self.events.get(place)
            if said is None:
                if since >= 0:
                    yield {"id": place[1], "@removed": {"reason": "deleted"}}
                continue
            if said["type"] == "exception":
                if self.changed[place[0], said["seriesMasterId"]] < number:
                    yield {"id": place[1], "@removed": {"reason": "deleted"}}
                continue  # it comes with its series
            rows = list(self._occurrences(*place)) if said["recurrence"] else [(place, said)]
            inside = [
                one for _, one in rows if moment(one["end"]) > low and moment(one["start"]) < high
            ]
            if not inside and since >= 0:
                yield {"id": place[1], "@removed": {"reason": "deleted"}}
            for one in inside:
                names = ("id", "seriesMasterId", "type", "start", "end")
                few = {name: one[name] for name in names if one[name] is not None}
                yield {"@odata.etag": self._etag(place), **few}

    def _paged(self, call: Call, rows: list[Any], name: str) -> dict[str, Any]:
        start = int(call.query.get(name, "0"))
        size = self.page or int(call.query.get("$top", "10"))
        more = urlencode({**call.query, name: start + size})
        link = {"@odata.nextLink": f"{self.origin}{call.path}?{more}"}
        return {"value": rows[start : start + size]} | (link if rows[start + size :] else {})

    def _shown(self, place: Place, said: dict[str, Any], call: Call | None) -> dict[str, Any]:
        """What was selected, and its id; where nothing was, what is usual."""
        series = place[0], said.get("seriesMasterId") or ""
        known = place if place in self.changed else series
        named = {"id": said["id"], "@odata.etag": self._etag(known)}
        query = call.query if call is not None else {}
        wanted = query.get("$select", "").split(",") if query.get("$select") else [*said]
        shown = {name: said[name] for name in wanted if name in said}
        if "cancelledOccurrences" in wanted:
            shown["cancelledOccurrences"] = self.left_out.get(place, [])
        if "exceptionOccurrences" in query.get("$expand", ""):
            shown["exceptionOccurrences"] = [
                {**one, "@odata.etag": self._etag(where)}
                for where, one in self.events.items()
                if where[0] == place[0] and one["seriesMasterId"] == place[1]
            ]
        marks = [{"id": id, "value": one} for id, one in self.marks.get(place, {}).items()]
        if marks and "singleValueExtendedProperties" in query.get("$expand", ""):
            shown["singleValueExtendedProperties"] = marks
        return {**shown, **named}

    def _etag(self, place: Place) -> str:
        known = place if place in self.changed else (place[0], place[1][:-11])
        return f'W/"DwAAABYAAA{self.changed[known]}"'

    def _keep(self, calendar: str, said: dict[str, Any]) -> None:
        place = calendar, said["id"]
        self.events[place] = {**said, "lastModifiedDateTime": zulu(self.tick())}
        self._touch(place)

    def _touch(self, place: Place) -> None:
        self.number += 1
        self.changed[place] = self.number

    def _tell(self, call: Call, before: dict[str, Any], after: dict[str, Any]) -> None:
        people = [*before.get("attendees", ()), *after.get("attendees", ())]
        if found := sorted({one["emailAddress"]["address"] for one in people}):
            self.notified.append((call.method, found))


def zone_of(name: str) -> ZoneInfo:
    return ZoneInfo(WINDOWS_TO_OLSON.get(name, name))


def when(text: str) -> dict[str, str]:
    return {"dateTime": f"{text}.0000000", "timeZone": "UTC"}


def person(address: str) -> dict[str, Any]:
    return {"emailAddress": {"address": address, "name": address.partition("@")[0].title()}}


def guest(address: str, answer: str = "none") -> dict[str, Any]:
    return {**person(address), "type": "required", "status": {"response": answer}}


def moment(said: dict[str, str]) -> datetime:
    return datetime.fromisoformat(said["dateTime"]).replace(tzinfo=UTC)


def zulu(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def error(status: int, code: str) -> Refuse:
    return Refuse(status, {"error": {"code": code, "message": code}})


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _marks(body: dict[str, Any]) -> dict[str, str]:
    return {one["id"]: one["value"] for one in body["singleValueExtendedProperties"]}


def _in_utc(body: dict[str, Any]) -> dict[str, Any]:
    """Times as they are shown where no zone is asked for, and guests with an answer of their
    own."""
    found = dict(body)
    for name in ("start", "end"):
        if name in body:
            zone = zone_of(body[name]["timeZone"])
            local = datetime.fromisoformat(body[name]["dateTime"]).replace(tzinfo=zone)
            found[name] = when(f"{local.astimezone(UTC):%Y-%m-%dT%H:%M:%S}")
    if "attendees" in body:
        found["attendees"] = [{"status": {"response": "none"}, **one} for one in body["attendees"]]
    return found


@contextlib.contextmanager
def running_outlook_calendar() -> Iterator[OutlookCalendar]:
    described = Description(ROOM / "microsoft_calendar" / "openapi.json")
    outlook = OutlookCalendar(described=described, token=TOKEN, login=ADDRESS)
    with serving_tracker(outlook):
        yield outlook
