"""Loads the demo office from its files: people, mail, documents, events, issues.

Times in the files are offsets from the moment of loading, so that the office always looks
like the last four weeks. `{"days_ago": 3, "at": "09:14"}` is that time of day in the
office's zone; `{"hours_ago": 2}` and `{"minutes_ago": 20}` count back from now;
`{"workday": 2, "at": "10:00"}` is a time two working days from today (negative: before).
"""

import json
from datetime import date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from sandbox.data_service import files, objects, places
from sandbox.data_service.errors import Refusal
from sandbox.data_service.places import User
from sandbox.data_service.store import JsonObject, Store
from sandbox.data_service.times import instant_text, now
from sandbox.data_service.values import DOCUMENT, EMAIL, EVENT, ISSUE, READ_ONLY, Kind

FOLDER = Path(__file__).resolve().parent.parent / "office"
ZONE = ZoneInfo("Europe/Stockholm")
TIMED = ("date", "sent_at", "created_at", "modified_at", "updated_at", "start", "end")


def load(store: Store) -> None:
    """Fills an empty store with the office. Sends no webhooks. Call it in a transaction."""
    moment = now()
    for person in _read("people.json")["users"]:
        user = create_user(store, id=person["id"], address=person["address"], name=person["name"])
        for kind in (EMAIL, DOCUMENT, EVENT, ISSUE, *READ_ONLY):
            _load_kind(store, user=user, kind=kind, moment=moment)


def create_user(store: Store, *, id: str, address: str, name: str) -> User:
    """A user with the office's labels, folders and projects and nothing else. A user who is
    there already stays as they are."""
    if store.row("SELECT 1 FROM users WHERE id = ?", (id,)):
        return places.user(store, id=id)
    store.execute("INSERT INTO users VALUES (?, ?, ?)", (id, address, name))
    rooms = _read("people.json")
    for label in rooms["labels"]:
        store.execute("INSERT INTO labels VALUES (?, ?, ?)", (id, label["id"], label["name"]))
    for folder in rooms["folders"]:
        store.execute(
            "INSERT INTO folders VALUES (?, ?, ?, ?)",
            (id, folder["id"], folder["name"], folder["kind"]),
        )
    for project in rooms["projects"]:
        store.execute(
            "INSERT INTO projects VALUES (?, ?, ?)", (id, project["key"], project["name"])
        )
    return places.user(store, id=id)


@cache
def members(project_key: str) -> tuple[str, ...]:
    """Who may be given an issue of this project of the office."""
    projects = {one["key"]: one["members"] for one in _read("people.json")["projects"]}
    return tuple(projects.get(project_key, ()))


@cache
def directory() -> tuple[JsonObject, ...]:
    """The people and groups of the office."""
    return tuple(_read("people.json")["directory"])


def incoming_names() -> list[JsonObject]:
    """The scripted mails that can be delivered: name and what each is for."""
    return [
        {"name": name, "about": script["about"]} for name, script in _read("incoming.json").items()
    ]


def incoming(store: Store, *, name: str, user: User) -> JsonObject:
    """A scripted mail to this user, new each time. Refuses 404 for an unknown name."""
    script = _read("incoming.json").get(name)
    if script is None:
        raise Refusal(404, "unknown_script", f"There is no scripted mail {name!r}.")
    fields: JsonObject = {
        "to": [user.address],
        **script["email"],
        "id": objects.new_id("mail"),
        "date": instant_text(now()),
    }
    return fields | _attached(store, user=user, item=fields)


def _load_kind(store: Store, *, user: User, kind: Kind, moment: datetime) -> None:
    items = [_placed(item, moment) for item in _read(f"{user.id}_{kind.collection}.json")]
    if kind is ISSUE:
        _set_issue_counters(store, user=user, issues=items)
    if kind is DOCUMENT:
        for item in items:
            item["folder_path"] = places.folder_name(
                store, user_id=user.id, kind="drive", folder_id=item["folder_id"]
            )
    items = [item | _attached(store, user=user, item=item) for item in items]
    for item in sorted(items, key=_changed_at):
        changed_at = _changed_at(item)
        fields = {name: value for name, value in item.items() if name != "updated_at"}
        if kind is EVENT:
            fields.setdefault("time_zone", ZONE.key)
        objects.add(
            store,
            user_id=user.id,
            kind=kind,
            fields=fields,
            notify=False,
            updated_at=min(changed_at, instant_text(moment)),
        )


def _attached(store: Store, *, user: User, item: JsonObject) -> JsonObject:
    """The item's attachments; those that lie in the office's folder of files with their bytes."""
    attachments = []
    for attachment in item.get("attachments", []):
        file = FOLDER / "files" / attachment["name"]
        if file.is_file():
            content = file.read_bytes()
            id = files.put(store, user_id=user.id, content=content)
            attachment |= {"size": len(content), "file_id": id}
        attachments.append(attachment)
    return {"attachments": attachments} if attachments else {}


def _changed_at(item: JsonObject) -> str:
    for name in ("updated_at", "modified_at", "created_at", "date", "sent_at", "start"):
        if name in item:
            return str(item[name])
    raise ValueError(f"{item['id']} has no time")


def _set_issue_counters(store: Store, *, user: User, issues: list[JsonObject]) -> None:
    highest: dict[str, int] = {}
    for issue in issues:
        project, _, number = issue["key"].rpartition("-")
        highest[project] = max(highest.get(project, 0), int(number))
    for project, number in highest.items():
        store.execute("INSERT INTO counters VALUES (?, ?)", (f"issue:{user.id}:{project}", number))


def _placed(item: JsonObject, moment: datetime) -> JsonObject:
    """The item with its offsets turned into times."""
    placed = dict(item)
    for name in TIMED:
        if isinstance(item.get(name), dict):
            placed[name] = instant_text(_moment(item[name], moment))
    if "comments" in item:
        placed["comments"] = [_placed(comment, moment) for comment in item["comments"]]
    if "minutes" in placed:
        start = datetime.fromisoformat(placed["start"])
        placed["end"] = instant_text(start + timedelta(minutes=placed.pop("minutes")))
    if "due_workday" in placed:
        placed["due_date"] = _workday(moment, placed.pop("due_workday")).isoformat()
    return placed


def _moment(offset: JsonObject, moment: datetime) -> datetime:
    if "hours_ago" in offset or "minutes_ago" in offset:
        return moment - timedelta(
            hours=offset.get("hours_ago", 0), minutes=offset.get("minutes_ago", 0)
        )
    clock = time.fromisoformat(offset["at"])
    if "workday" in offset:
        day = _workday(moment, offset["workday"])
    else:
        day = moment.astimezone(ZONE).date() - timedelta(days=offset["days_ago"])
    return datetime.combine(day, clock, tzinfo=ZONE)


def _workday(moment: datetime, distance: int) -> date:
    day = moment.astimezone(ZONE).date()
    step = timedelta(days=1 if distance >= 0 else -1)
    while day.weekday() > 4:
        day += step
    for _ in range(abs(distance)):
        day += step
        while day.weekday() > 4:
            day += step
    return day


def _read(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))
