"""All of the folder of real data (benchmarks/corpus.py), as objects that the sandbox takes."""

import hashlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

from benchmarks.corpus import lines
from benchmarks.storm import Object, Objects


def instant(text: str | None) -> str:
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        found = datetime(2020, 1, 1, tzinfo=UTC)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat()


def short(id: str) -> str:
    return hashlib.sha256(id.encode()).hexdigest()[:24]


def emails() -> Iterator[Object]:
    from integrations.mail.mail import parse, wire

    seen: set[str] = set()
    for mail in lines("mail"):
        raw = mail["raw"].encode("latin-1")
        if raw.startswith(b"From "):
            raw = raw.partition(b"\n")[2]
        found = wire(parse(raw, fallback_date=datetime(2002, 1, 1, tzinfo=UTC)).email)
        if found["id"] not in seen:
            seen.add(found["id"])
            yield found


def documents() -> Iterator[Object]:
    for document in lines("documents"):
        modified = instant(document["modified"])
        yield {
            "id": short(document["id"]),
            "name": document["title"] or document["name"],
            "content_text": document["text"],
            "folder_path": str(Path(document["path"]).parent),
            "created_at": instant(document["created"]) if document["created"] else modified,
            "modified_at": modified,
            "owner": "owner@company.example",
        }


def issues() -> Iterator[Object]:
    for issue in lines("issues"):
        fields = issue["fields"]
        yield {
            "id": short(issue["id"]),
            "key": issue["key"],
            "project_key": issue["key"].partition("-")[0],
            "summary": fields.get("summary") or "",
            "description": fields.get("description") or "",
            "reporter": (fields.get("reporter") or {}).get("displayName") or "nobody",
            "created_at": instant(fields.get("created")),
            "labels": fields.get("labels") or [],
        }


def events() -> Iterator[Object]:
    """What can be read of each calendar file, but for events without length, which the data
    service refuses. Several files have the same ids: each is a place of its own."""
    from integrations.contracts import Rejected
    from integrations.imports.calendar_files import read_events

    for file in lines("calendar"):
        seen: set[str] = set()
        for event in read_events(file["raw"].encode("latin-1"), zone=ZoneInfo("Europe/Berlin")):
            if isinstance(event, Rejected) or event.id in seen or event.end <= event.start:
                continue
            seen.add(event.id)
            yield event.model_dump(mode="json", exclude={"revision", "version", "updated_at"}) | {
                "id": short(f"{file['id']} {event.id}"),
                "series_id": event.series_id and short(f"{file['id']} {event.series_id}"),
            }


def chosen(wanted: str) -> Objects:
    """So many of each, or `all`."""
    readers: dict[str, Callable[[], Iterator[Object]]] = {
        "emails": emails,
        "documents": documents,
        "issues": issues,
        "events": events,
    }
    counts = [None] * len(readers) if wanted == "all" else [int(count) for count in wanted.split()]
    return {
        name: list(islice(read(), count))
        for (name, read), count in zip(readers.items(), counts, strict=True)
    }
