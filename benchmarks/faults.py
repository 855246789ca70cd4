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

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import corpus, storm  # after the path
from benchmarks.corpus_objects import chosen
from benchmarks.database import own_database
from config.local.ports import answers

USUAL = "300 60 100 60"
KILL_SECONDS = float(os.environ.get("KILL_SECONDS", "20"))
KILLS, RESTARTS = 4, 2
PATIENCE_SECONDS = 3600.0
KEY, SECRET = "benchmark-key", "whsec_YmVuY2htYXJrLXNlY3JldA=="


class World:
    """The sandbox, the model, the web process and the cluster, each a process of its own."""

    def __init__(self, folder: Path, ports: dict[str, int]) -> None:
        self.folder, self.ports = folder, ports
        self.kills = self.restarts = 0
        self.cluster: subprocess.Popen[bytes] | None = None
        self.servers: dict[str, subprocess.Popen[bytes]] = {}
        self.log = (folder / "faults.log").open("ab")

    def start(self, *command: str, **environment: str) -> subprocess.Popen[bytes]:
        """A program of Python."""
        return self.launch([sys.executable, *command], environment)

    def launch(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        listener: socket.socket | None = None,
    ) -> subprocess.Popen[bytes]:
        """A program, with the socket that it is to answer at if one is given."""
        return subprocess.Popen(
            command,
            cwd=corpus.PROJECT,
            env={**os.environ, "MALLOC_ARENA_MAX": "2", **environment},  # as it is deployed
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
            pass_fds=[listener.fileno()] if listener else (),
        )

    @contextmanager
    def running(self) -> Iterator[None]:
        with ExitStack() as stack:
            for name in ("sandbox", "model", "web"):
                self.begin(name)
                stack.callback(self.end, name)
            stack.callback(self.kill_cluster)
            self.start_cluster()
            for port in self.ports.values():
                until(lambda port=port: answers(port), "a server")  # type: ignore[misc]
            yield

    def begin(self, name: str) -> None:
        """Start one of the servers, on its port."""
        port = str(self.ports[name])
        match name:
            case "sandbox":
                self.servers[name] = self.start(
                    *("-m", "sandbox.data_service"),
                    SANDBOX_PORT=port,
                    SANDBOX_STATE=str(self.folder / "sandbox.sqlite3"),
                    DATA_SERVICE_KEY=KEY,
                    WEBHOOK_URL=f"http://127.0.0.1:{self.ports['web']}/webhooks",
                    WEBHOOK_SECRET=SECRET,
                )
            case "model":
                self.servers[name] = self.start("-m", "sandbox.offline_model", MODEL_PORT=port)
            case _:
                web = ("-m", "config.serve", "--port", port)
                self.servers[name] = self.start(*web, REMIT_PROCESS="web")

    def end(self, name: str) -> None:
        kill(self.servers.pop(name))

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

    def performed(self) -> Counter[str]:
        """How often each path was written to. A call that only found what had been done under its
        key does not count."""
        found: Counter[str] = Counter()
        after, more = 0, True
        while more:
            answer = self.control("GET", f"/calls?after={after}")
            found.update(call["path"] for call in answer["items"] if call["performed"])
            after, more = (
                answer["items"][-1]["id"] if answer["items"] else after,
                answer["has_more"],
            )
        return found

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


def in_peace(world: World, objects: storm.Objects) -> float:
    begun = time.monotonic()
    storm.begin(storm.CALM)
    for _ in storm.change(world.control, storm.CALM, objects):
        pass
    until(lambda: quiet(world), "the calm user")
    return time.monotonic() - begun


def in_trouble(world: World, objects: storm.Objects) -> float:
    world.control("PUT", "/faults", storm.FAULTS)
    begun = killed = time.monotonic()
    storm.begin(storm.STORM)
    changes = storm.change(world.control, storm.STORM, objects)
    # A share of them comes after each kill, so that each kill hits work.
    share = sum(len(wanted) // 4 for wanted in objects.values()) // (KILLS + 1)
    done, left = 0, True
    seen = work_of(storm.STORM)[1]
    while not quiet(world) or left:
        if time.monotonic() - begun > PATIENCE_SECONDS:
            raise TimeoutError("the storm did not end")
        while left and (world.kills >= KILLS or done < share * (world.kills + 1)):
            left, done = next(changes, "none") is None, done + 1
        # A kill hits a cluster that has worked. It locks what that one had taken for a while, so
        # the end comes without kills.
        going_on, done_now = work_of(storm.STORM)
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


def measure(world: World, objects: storm.Objects) -> dict[str, Any]:
    from integrations.models import Delivery
    from knowledge.models import SyncSource

    for user in (storm.CALM, storm.STORM):
        storm.connect(world.control, user, objects)
    calm = in_peace(world, objects)
    before = Delivery.objects.count()
    trouble = in_trouble(world, objects)
    syncs = SyncSource.objects.filter(run__external_user_id=storm.STORM)
    return {
        "items": sum(map(len, objects.values())),
        "seconds_calm": round(calm, 1),
        "seconds_storm": round(trouble, 1),
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
            for line in storm.balance()
        ],
    }


def configure() -> dict[str, int]:
    """The settings of all processes; their ports."""
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
    return ports


def main() -> int:
    ports = configure()
    corpus.require()
    with own_database() as folder:
        world = World(folder, ports)
        try:
            with world.running():
                said = measure(world, chosen(os.environ.get("FAULTS", USUAL)))
                wrong = storm.findings(world.control)
        except BaseException:
            print((folder / "faults.log").read_text(errors="replace")[-4000:], file=sys.stderr)
            raise
    print(json.dumps(said | wrong))
    return 1 if any(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
