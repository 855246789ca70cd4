"""Real mail, documents, issues and calendars read and changed while everything goes wrong.

    make bench NAME=faults

Two users of one sandbox have the same items, of the folder of real data (REMIT_CORPUS). One is
read and followed in peace. The other while 5 % of requests are answered 500, 5 % never and 2 %
with 429, webhooks come twice and in the wrong order, the task cluster is killed (SIGKILL)
every 20 s and the database is restarted twice. Meanwhile items are changed, deleted and put
back. Afterwards both must hold the same, and all that came in must be accounted for.

FAULTS="300 60 100 60" says how many mails, documents, issues and events; FAULTS=all takes all
there are.
The sweep that the schedule runs every minute runs every second here. The last line is JSON;
a database of its own is made, and removed at the end.
"""

import gzip
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path
from config.local.ports import answers

PROJECT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("REMIT_CORPUS") or PROJECT.parent / "shared" / "corpus")
USUAL = "300 60 100 60"
KILL_SECONDS = float(os.environ.get("KILL_SECONDS", "20"))
KILLS, RESTARTS = 4, 2
PATIENCE_SECONDS = 3600.0
KEY, SECRET = "benchmark-key", "whsec_YmVuY2htYXJrLXNlY3JldA=="
FAULTS = {
    "error_rate": 0.05,
    "timeout_rate": 0.05,
    "rate_limit_rate": 0.02,
    "duplicate_webhooks": True,
    "reorder_webhooks": True,
    "seed": 1,
}
SOURCES = {"emails": "gmail", "documents": "gdrive", "issues": "jira", "events": "calendar"}
BATCH = 50
Item = dict[str, Any]


def corpus(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(CORPUS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def instant(text: str | None) -> str:
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        found = datetime(2020, 1, 1, tzinfo=UTC)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat()


def short(id: str) -> str:
    return hashlib.sha256(id.encode()).hexdigest()[:24]


def emails() -> Iterator[Item]:
    from integrations.mail.mail import parse

    seen: set[str] = set()
    for mail in corpus("mail"):
        raw = mail["raw"].encode("latin-1")
        if raw.startswith(b"From "):
            raw = raw.partition(b"\n")[2]
        found = parse(raw, fallback_date=datetime(2002, 1, 1, tzinfo=UTC)).wire()
        if found["id"] not in seen:
            seen.add(found["id"])
            yield found


def documents() -> Iterator[Item]:
    for document in corpus("documents"):
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


def issues() -> Iterator[Item]:
    for issue in corpus("issues"):
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


def events() -> Iterator[Item]:
    """What can be read of each calendar file, but for events without length, which the data
    service refuses. Several files have the same ids: each is a place of its own."""
    from integrations.contracts import Rejected
    from integrations.imports.calendar_files import read_events

    for file in corpus("calendar"):
        seen: set[str] = set()
        for event in read_events(file["raw"].encode("latin-1"), zone=ZoneInfo("Europe/Berlin")):
            if isinstance(event, Rejected) or event.id in seen or event.end <= event.start:
                continue
            seen.add(event.id)
            yield event.model_dump(mode="json", exclude={"revision", "version", "updated_at"}) | {
                "id": short(f"{file['id']} {event.id}"),
                "series_id": event.series_id and short(f"{file['id']} {event.series_id}"),
            }


def chosen(wanted: str) -> dict[str, list[Item]]:
    readers: dict[str, Callable[[], Iterator[Item]]] = {
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


class World:
    """The sandbox, the model, the web process and the cluster, each a process of its own."""

    def __init__(self, folder: Path, ports: dict[str, int]) -> None:
        self.folder, self.ports = folder, ports
        self.kills = self.restarts = 0
        self.cluster: subprocess.Popen[bytes] | None = None
        self.log = (folder / "faults.log").open("ab")

    def start(self, *command: str, **environment: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, *command],
            cwd=PROJECT,
            env=os.environ | environment,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )

    @contextmanager
    def running(self) -> Iterator[None]:
        address = f"http://127.0.0.1:{self.ports['web']}"
        web = ("-m", "uvicorn", "config.asgi:application", "--port", str(self.ports["web"]))
        with ExitStack() as stack:
            for process in (
                self.start(
                    *("-m", "sandbox.data_service"),
                    SANDBOX_PORT=str(self.ports["sandbox"]),
                    SANDBOX_STATE=str(self.folder / "sandbox.sqlite3"),
                    DATA_SERVICE_KEY=KEY,
                    WEBHOOK_URL=f"{address}/webhooks",
                    WEBHOOK_SECRET=SECRET,
                ),
                self.start(
                    *("-m", "sandbox.offline_model"),
                    MODEL_PORT=str(self.ports["model"]),
                ),
                self.start(*web, REMIT_PROCESS="web"),
            ):
                stack.callback(kill, process)
            stack.callback(self.kill_cluster)
            self.start_cluster()
            for port in self.ports.values():
                until(lambda port=port: answers(port), "a server")  # type: ignore[misc]
            yield

    def start_cluster(self) -> None:
        self.cluster = self.start("manage.py", "qcluster", REMIT_PROCESS="cluster")

    def kill_cluster(self) -> None:
        if self.cluster is not None:
            kill(self.cluster)
            self.cluster = None

    def control(self, method: str, path: str, body: Any = None) -> Any:
        import httpx

        answer = httpx.request(
            method,
            f"http://127.0.0.1:{self.ports['sandbox']}/sandbox{path}",
            json=body,
            headers={"Authorization": f"Bearer {KEY}"},
            timeout=60,
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def restart_database(self) -> None:
        from django.db import connections

        from config.local import embedded

        connections.close_all()
        embedded.stop(self.folder)
        time.sleep(2)
        assert embedded.start(self.folder) == os.environ["DATABASE_URL"]
        self.restarts += 1


def kill(process: subprocess.Popen[bytes]) -> None:
    """The whole group: the cluster's own workers would go on without it."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited too long for {what}")
        time.sleep(1)


def connect(world: World, user: str, items: dict[str, list[Item]]) -> None:
    """A user with these items at the provider and accounts for them here."""
    from integrations.models import Account, Organisation

    organisation, _ = Organisation.objects.get_or_create(slug="default", name="Default")
    world.control("POST", f"/users/{user}", {"address": f"{user}@company.example", "name": user})
    for collection, wanted in items.items():
        Account.objects.create(
            organisation=organisation, external_user_id=user, source=SOURCES[collection]
        )
        for start in range(0, len(wanted), BATCH):
            body = {"items": wanted[start : start + BATCH], "notify": False}
            world.control("POST", f"/users/{user}/{collection}", body)


def change(world: World, user: str, items: dict[str, list[Item]]) -> Iterator[None]:
    """The same changes for every user: contents, flags, deletions, and some put back."""
    texts = {
        "emails": "subject",
        "documents": "content_text",
        "issues": "summary",
        "events": "title",
    }
    for collection, wanted in items.items():
        path = f"/users/{user}/{collection}"
        for number, item in enumerate(wanted):
            match number % 12:
                case 1:
                    body = {texts[collection]: f"Changed {number} {item[texts[collection]][:50]}"}
                    world.control("PATCH", f"{path}/{item['id']}", body)
                    body = {texts[collection]: f"Changed again {number}"}
                    world.control("PATCH", f"{path}/{item['id']}", body)
                case 4:
                    world.control("DELETE", f"{path}/{item['id']}")
                case 7 if collection != "emails":  # a mail that comes back is a new mail
                    world.control("DELETE", f"{path}/{item['id']}")
                    back = item | {texts[collection]: f"Put back {number}"}
                    world.control("POST", path, {"items": [back]})
                case _:
                    continue
            yield


def begin(user: str) -> None:
    from integrations.models import Organisation
    from knowledge.tasks import start_sync

    organisation = Organisation.objects.get(slug="default")
    assert start_sync(organisation_id=organisation.pk, external_user_id=user)


def quiet(world: World) -> bool:
    """Whether nothing is left to be done. The sweep runs on the way, as the schedule's would."""
    from django.db import DatabaseError, connections

    from agents.tasks import sweep
    from integrations.models import Delivery
    from knowledge.models import SyncSource

    try:
        sweep()
        active = ["queued", "running"]
        return (
            not SyncSource.objects.filter(state__in=active).exists()
            and not Delivery.objects.filter(state__in=active).exists()
            and not world.control("GET", "/webhooks")["pending"]
        )
    except DatabaseError:
        connections.close_all()
        return False


def work_of(user: str) -> tuple[bool, int]:
    """Whether a sync of this user goes on, and a number that grows with what was done."""
    from django.db import DatabaseError, connections

    from integrations.models import Delivery
    from knowledge.models import SyncSource

    try:
        syncs = SyncSource.objects.filter(run__external_user_id=user)
        finished = Delivery.objects.filter(finished_at__isnull=False).count()
        counts = syncs.values_list("attempt", "received")
        going_on = syncs.filter(state__in=["queued", "running"]).exists()
        return going_on, finished + sum(map(sum, counts))
    except DatabaseError:
        connections.close_all()
        return True, -1


def in_peace(world: World, items: dict[str, list[Item]]) -> float:
    begun = time.monotonic()
    begin("calm")
    for _ in change(world, "calm", items):
        pass
    until(lambda: quiet(world), "the calm user")
    return time.monotonic() - begun


def in_trouble(world: World, items: dict[str, list[Item]]) -> float:
    world.control("PUT", "/faults", FAULTS)
    begun = killed = time.monotonic()
    begin("storm")
    changes = change(world, "storm", items)
    # A share of them comes after each kill, so that each kill hits work.
    share = sum(len(wanted) // 4 for wanted in items.values()) // (KILLS + 1)
    done, left = 0, True
    seen = work_of("storm")[1]
    while not quiet(world) or left:
        if time.monotonic() - begun > PATIENCE_SECONDS:
            raise TimeoutError("the storm did not end")
        while left and (world.kills >= KILLS or done < share * (world.kills + 1)):
            left, done = next(changes, "none") is None, done + 1
        # A kill hits a cluster that has worked. It locks what that one had taken for a while, so
        # the end comes without kills.
        going_on, done_now = work_of("storm")
        if (left or going_on) and done_now > seen and time.monotonic() - killed > KILL_SECONDS:
            seen = done_now
            world.kill_cluster()
            world.kills += 1
            if world.kills <= RESTARTS:
                world.restart_database()
            world.start_cluster()
            killed = time.monotonic()
        time.sleep(1)
    world.control("PUT", "/faults", {})
    return time.monotonic() - begun


def contents(user: str) -> dict[tuple[str, str], tuple[Any, ...]]:
    from knowledge.models import Chunk, Item

    rows = Item.objects.filter(account__external_user_id=user)
    passages: dict[Any, list[str]] = {}
    chunks = Chunk.objects.filter(item__in=rows, vectors__isnull=False).order_by("position")
    for item_id, digest in chunks.values_list("item_id", "digest"):
        passages.setdefault(item_id, []).append(digest)
    return {
        (row.source, row.source_id): ("deleted", row.title, row.text)
        if row.deleted_at  # before it was read or after: its version differs
        else (
            *(row.title, row.text, row.summary, row.content_hash, row.source_version),
            *(row.metadata, passages.get(row.pk, [])),
        )
        for row in rows
    }


def measure(world: World, items: dict[str, list[Item]]) -> dict[str, Any]:
    from integrations.models import Delivery, Organisation
    from knowledge.models import SyncSource
    from knowledge.sync.accounting import balance

    for user in ("calm", "storm"):
        connect(world, user, items)
    calm = in_peace(world, items)
    before = Delivery.objects.count()
    storm = in_trouble(world, items)
    expected, found = contents("calm"), contents("storm")
    organisation = Organisation.objects.get(slug="default")
    lines = balance(organisation_id=organisation.pk, since=datetime(2000, 1, 1, tzinfo=UTC))
    sent = world.control("GET", "/webhooks")
    syncs = SyncSource.objects.filter(run__external_user_id="storm")
    return {
        "items": sum(map(len, items.values())),
        "seconds_calm": round(calm, 1),
        "seconds_storm": round(storm, 1),
        "kills": world.kills,
        "database_restarts": world.restarts,
        "webhooks_in_storm": Delivery.objects.count() - before,
        "claims_of_syncs": sum(syncs.values_list("attempt", flat=True)),
        "balance": [
            {
                name: getattr(line, name)
                for name in (
                    *("account", "way", "source", "received", "processed", "skipped", "dead"),
                    "reasons",
                )
            }
            for line in lines
        ],
        "syncs_not_done": syncs.exclude(state="done").count(),
        "not_accounted_for": sum(abs(line.missing) for line in lines),
        "dead": sum(line.dead for line in lines),
        "webhooks_lost": sent["delivered"] + sent["dead"] - Delivery.objects.count(),
        "items_missing": len(expected.keys() - found.keys()),
        "items_too_many": len(found.keys() - expected.keys()),
        "items_different": sum(found.get(key) != value for key, value in expected.items()),
    }


WRONG = (
    *("syncs_not_done", "not_accounted_for", "dead", "webhooks_lost"),
    *("items_missing", "items_too_many", "items_different"),
)


def main() -> int:
    ports = {}
    with ExitStack() as stack:
        for name in ("web", "sandbox", "model"):
            probe = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            ports[name] = probe.getsockname()[1]
    os.environ |= {
        "DATA_SERVICES": f"default=http://127.0.0.1:{ports['sandbox']}/v1/data",
        "DATA_SERVICE_KEYS": f"default={KEY}",
        "DATA_SERVICE_TIMEOUT_SECONDS": "1",
        "WEBHOOK_SECRETS": f"default={SECRET}",
        "SANDBOX_PORT": str(ports["sandbox"]),
        "MODEL_PORT": str(ports["model"]),
        "SYNC_LEASE_SECONDS": "5",
        "SYNC_EVERY_MINUTES": "0",
        "TURN_LEASE_SECONDS": "10",
        "TASK_TIMEOUT_SECONDS": "20",
        "LOG_LEVEL": "WARNING",
    }
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        os.environ.pop(name, None)
    if not CORPUS.exists():
        print(f"There is no real data at {CORPUS}. Set REMIT_CORPUS.")
        return 1
    with own_database() as folder:
        world = World(folder, ports)
        try:
            with world.running():
                found = measure(world, chosen(os.environ.get("FAULTS", USUAL)))
        except BaseException:
            print((folder / "faults.log").read_text(errors="replace")[-4000:], file=sys.stderr)
            raise
    print(json.dumps(found))
    return 1 if any(found[name] for name in WRONG) else 0


if __name__ == "__main__":
    sys.exit(main())
