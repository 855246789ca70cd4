"""The folder of real data as an office: one user's mail, documents, calendar and issues.

It is no part of the project (see `tests/corpus.py`); REMIT_CORPUS names it, else it is looked
for beside the project. Every document, every fourth mail, every fifth issue, and the events of
calendar files with fewer than LONG of them. An item's id at its provider is its id in the
folder, an issue's its key.
"""

import email.utils
import gzip
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock
from zoneinfo import ZoneInfo

PROJECT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("REMIT_CORPUS") or PROJECT.parent / "shared" / "corpus")
USER = "maya"
ZONE = "Europe/Berlin"
LONG = 20
READ = datetime(2022, 1, 1, tzinfo=UTC)  # the date of mails that have none


def require() -> None:
    """Ends the program with a sentence where there is no such folder."""
    if not CORPUS.exists():
        raise SystemExit(f"There is no real data at {CORPUS}. Set REMIT_CORPUS.")


def lines(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(CORPUS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as rows:
        yield from map(json.loads, rows)


def embed(texts: Any, **_: Any) -> list[list[float]]:
    """What the offline model answers, without the way there."""
    from sandbox.offline_model import vectors

    return [vectors.embed(text) for text in texts]


def read(*, system: str, user: str, **_: Any) -> dict[str, Any]:
    """The same of an item that is read in."""
    from sandbox.offline_model import roster, transcript

    asked = transcript.Transcript(system=system, request=user, results=(), decisions=(), offers=())
    answer: dict[str, Any] = json.loads(roster.next_reply(asked).text)
    return answer


def store() -> tuple[Any, list[Any]]:
    """The organisation and the accounts, filled."""
    from django.utils import timezone

    from integrations.llm import llm
    from integrations.models import Account, Organisation
    from knowledge.ingest.ingest import ingest

    organisation = Organisation.objects.create(slug="company", name="Company")
    accounts = []
    with (
        mock.patch.object(llm, "complete_json", read),
        mock.patch.object(llm, "embed", embed),
    ):
        for source, items in sources().items():
            account = Account.objects.create(
                organisation=organisation,
                external_user_id=USER,
                source=source,
                address=f"{USER}@company.example",
                display_name="Maya Lindqvist",
                time_zone=ZONE,
            ).ref()
            accounts.append(account)
            for id, item in items:
                ingest(account=account, source_id=id, item=item, now=timezone.now())
    return organisation, accounts


def sources() -> Mapping[str, Iterable[tuple[str, Any]]]:
    return {"gmail": mails(), "gdrive": documents(), "jira": issues(), "calendar": events()}


def documents() -> Iterator[tuple[str, Any]]:
    from integrations.contracts import Document

    for one in lines("documents"):
        yield (
            one["id"],
            Document.model_validate(
                {
                    "id": one["id"],
                    "name": one["title"] or one["name"],
                    "content_text": one["text"],
                    "folder_path": str(Path(one["path"]).parent),
                    "created_at": one["created"] or one["modified"],
                    "modified_at": one["modified"],
                }
            ),
        )


def mails() -> Iterator[tuple[str, Any]]:
    from integrations.mail.mail import parse

    for one in islice(lines("mail"), None, None, 4):
        raw = one["raw"].encode("latin-1")
        if raw.startswith(b"From "):
            raw = raw.partition(b"\n")[2]
        found = parse(raw, fallback_date=READ).email
        if not found.sender:  # the lists' archives write “name at host (Name)”
            name, address = email.utils.parseaddr(_header(raw, b"from").replace(" at ", "@"))
            found = found.model_copy(update={"sender": address, "sender_name": name})
        yield one["id"], found


def _header(raw: bytes, name: bytes) -> str:
    head = raw.partition(b"\n\n")[0]
    start = name + b":"
    line = next((one for one in head.splitlines() if one.lower().startswith(start)), b"")
    return line.partition(b":")[2].decode("latin-1").strip()


def issues() -> Iterator[tuple[str, Any]]:
    from integrations.contracts import Issue

    def named(person: Any) -> str:
        return person.get("displayName", "").strip() if person else ""

    for one in islice(lines("issues"), None, None, 5):
        fields = one["fields"]
        yield (
            one["key"],
            Issue.model_validate(
                {
                    "id": one["key"],
                    "key": one["key"],
                    "project_key": one["key"].partition("-")[0],
                    "type": fields["issuetype"]["name"],
                    "summary": fields["summary"],
                    "description": fields.get("description") or "",
                    "status": fields["status"]["name"],
                    "priority": (fields.get("priority") or {}).get("name"),
                    "assignee": named(fields.get("assignee")) or None,
                    "reporter": named(fields.get("reporter")),
                    "labels": fields.get("labels") or [],
                    "components": [each["name"] for each in fields.get("components") or ()],
                    "comments": [
                        {
                            "id": each["id"],
                            "author": named(each.get("author")),
                            "body": each.get("body", ""),
                            "created_at": each["created"],
                        }
                        for each in fields["comment"]["comments"]
                    ],
                    "created_at": fields["created"],
                    "updated_at": fields["updated"],
                }
            ),
        )


def events() -> Iterator[tuple[str, Any]]:
    from integrations.contracts import Event
    from integrations.imports.calendar_files import read_events

    for one in lines("calendar"):
        if one["raw"].count("BEGIN:VEVENT") < LONG:
            for event in read_events(one["raw"].encode("latin-1"), zone=ZoneInfo(ZONE)):
                if isinstance(event, Event):
                    yield event.id, event
