"""An office at work, with a fault every 20 seconds (docs/operating.md).

    make bench NAME=day          (MINUTES=60)

Mails, chats, approvals, syncs, exports and pages come all the time, one after another of each kind
with PAUSE (1) seconds between. Two web processes, cluster, turns, sealer, data service and model
are processes of their own; where Linux and root allow it the database is on a disk of 1 GB, and a
second cluster works on a machine of its own (a network namespace). Every 20 seconds something is
killed, goes away, lies, is slow, full, cut off or an hour ahead (benchmarks/daily_faults.py), and
nobody helps. After each fault one more mail comes, whose end says how long recovery took; for chats
the first one says it that was asked after the fault and answered.

The last line is JSON: of each fault how often and the seconds to both; what came and what became of
it; what is wrong, which must be nothing; and the memory of each program.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

os.environ.setdefault("PAUSE", "1")

from benchmarks import disk as small_disk  # after the path
from benchmarks.daily_faults import Office, faults
from benchmarks.database import own_database
from benchmarks.faults import configure, until
from benchmarks.second_node import second_node
from benchmarks.soak import MAILS, Visitors, described, memory

MINUTES = float(os.environ.get("MINUTES", "60"))
EVERY = 20.0
ATTEMPTS_SECONDS = 600.0  # for recovery, which waits two minutes and runs every minute
CHATS = cycle(
    (
        "What did John propose?",
        "Create Jira tasks from John's proposal email",
        "What is on my calendar tomorrow?",
    )
)
USER = {"user_id": "maya"}


class Traffic(Visitors):
    """What people and their frontends do all day."""

    steps = (*Visitors.steps, "approve", "sync", "export")

    def __init__(self, world: Office, token: str) -> None:
        super().__init__(world, token)
        self.arrived: list[str] = []  # mails, by the id that the data service has for them
        self.answered: list[float] = []  # when each chat was asked that was answered

    def mail(self, client: Any) -> None:
        self.arrive()
        self.over.wait(1)

    def arrive(self) -> str:
        """One mail; its id at the data service."""
        id: str = self.world.control("POST", f"/users/maya/deliver/{next(MAILS)}")["id"]
        self.arrived.append(id)
        return id

    def chat(self, client: Any) -> None:
        asked_at = time.time()
        answer = client.post("/api/v1/chat", json=USER | {"message": next(CHATS)})
        self.counts[f"chat {answer.status_code}"] += 1
        if answer.status_code == 200:
            self.answered.append(asked_at)

    def approve(self, client: Any) -> None:
        answer = client.get("/api/v1/approvals", params=USER | {"state": "pending"})
        if answer.status_code != 200:
            self.counts[f"approvals {answer.status_code}"] += 1
            return
        for one in answer.json()[:3]:
            said = {**USER, "decision": "confirm", "digest": one["digest"]}
            done = client.post(f"/api/v1/approvals/{one['id']}/decide", json=said)
            self.counts[f"approval {done.status_code}"] += 1

    def sync(self, client: Any) -> None:
        answer = client.post("/api/v1/sync", json=USER | {"sources": ["gmail"]})
        self.counts[f"sync {answer.status_code}"] += 1
        self.over.wait(30)

    def export(self, client: Any) -> None:
        answer = client.get("/api/v1/ledger/export", params={"format": "csv"})
        self.counts[f"export {answer.status_code}"] += 1
        self.over.wait(30)


@dataclass(frozen=True)
class Recovery:
    """A fault that is over, and the mail that came after it."""

    name: str
    over_at: float
    mail: str


@contextmanager
def an_office() -> Iterator[Office]:
    """Everything that runs, on the small disk and with the second machine where there can be."""
    ports = configure()
    os.environ |= {"OPERATOR_PASSWORD": "of the benchmark", "TASK_TIMEOUT_SECONDS": "60"}
    small_disk.DISK_MEGABYTES = 1000
    with ExitStack() as stack:
        mount: Path | None = None
        there: tuple[str, ...] = ()
        if sys.platform == "linux" and os.geteuid() == 0:
            mount = stack.enter_context(small_disk.disk())
            there = stack.enter_context(second_node())
        folder = stack.enter_context(own_database())
        stack.enter_context(small_disk.watched(folder))
        office = Office(folder, ports, mount=mount, there=there)
        try:
            yield stack.enter_context(office)
        except BaseException:
            print((folder / "faults.log").read_text(errors="replace")[-4000:], file=sys.stderr)
            raise


def live(office: Office, traffic: Traffic) -> tuple[list[Recovery], dict[str, Any]]:
    """A day of faults; what came after each, and the memory of each program."""
    kinds = faults(has_small_disk=office.mount is not None, has_second_node=bool(office.there))
    recoveries = []
    held: dict[str, list[tuple[float, float]]] = defaultdict(list)
    began = time.monotonic()
    for number, (name, fault) in enumerate(cycle(kinds.items())):
        passed = time.monotonic() - began
        if passed > MINUTES * 60:
            break
        for program, process in office.servers.items():
            held[program].append((passed, memory(process.pid)))
        fault(office)
        over_at = time.time()
        until(lambda: answers_again(office), "the data service")
        recoveries.append(Recovery(name, over_at, traffic.arrive()))
        print(f"{passed:6.0f} s  {name}", flush=True)
        time.sleep(max(0.0, began + (number + 1) * EVERY - time.monotonic()))
    return recoveries, {name: described(found) for name, found in held.items() if len(found) > 10}


def answers_again(office: Office) -> bool:
    import httpx

    try:
        office.control("GET", "/webhooks")
    except httpx.HTTPError:
        return False
    return True


def is_done(office: Office) -> bool:
    """Whether nothing is on its way, to us or here."""
    from django.db import DatabaseError, connections

    from agents.models import Turn
    from integrations.models import Delivery

    try:
        return not (
            office.control("GET", "/webhooks")["pending"]
            or Delivery.objects.filter(finished_at=None).exists()
            or Turn.objects.filter(state__in=["queued", "running"]).exists()
        )
    except DatabaseError:
        connections.close_all()
        return False


def end_attempts(office: Office) -> dict[str, Any]:
    """How many attempts had no outcome when all else was done, and the seconds until recovery had
    closed them; those that it left open, each with whose it is."""
    began = time.monotonic()
    at_first = left = load_open()
    while left and time.monotonic() - began < ATTEMPTS_SECONDS:
        time.sleep(1)
        left = load_open()
    performed = {call["idempotency_key"] for call in calls(office) if call["performed"]}
    return {
        "open_when_done": [described_attempt(one, performed) for one in at_first],
        "closed_after_s": round(time.monotonic() - began, 1),
        "left_open": [described_attempt(one, performed) for one in left],
    }


def load_open() -> Sequence[Any]:
    from django.utils import timezone

    from audit.ledger.selectors import open_attempts

    return open_attempts(older_than=timezone.now() + timedelta(hours=2))


def described_attempt(attempt: Any, performed: set[str]) -> dict[str, Any]:
    from agents.models import Turn

    turn = Turn.objects.filter(id=attempt.run_id).first() if attempt.run_id else None
    return {
        "action_type": attempt.action_type,
        "trigger": attempt.trigger,
        "at": f"{attempt.recorded_at:%H:%M:%S}",
        "turn": turn.state if turn else "none",
        "performed": attempt.idempotency_key in performed,
    }


def seconds_to(recoveries: list[Recovery], answered: list[float]) -> dict[str, Any]:
    from integrations.models import Delivery

    ended = dict(Delivery.objects.filter(kind="created").values_list("source_id", "finished_at"))
    took: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for one in recoveries:
        chat = min((at for at in answered if at > one.over_at), default=time.time())
        mail = ended.get(one.mail) or datetime.now(UTC)
        took[one.name].append((mail.timestamp() - one.over_at, chat - one.over_at))
    return {
        name: {
            "times": len(found),
            **{
                f"{what}_{word}_s": round(of(each), 1)
                for what, each in zip(("mail", "chat"), zip(*found, strict=True), strict=True)
                for word, of in (("p50", median), ("most", max))
            },
        }
        for name, found in took.items()
    }


def calls(office: Office) -> list[dict[str, Any]]:
    """All writes that reached the data service."""
    found: list[dict[str, Any]] = []
    while True:
        answer = office.control("GET", f"/calls?after={found[-1]['id'] if found else 0}")
        found += answer["items"]
        if not answer["has_more"]:
            return found


def findings(office: Office, arrived: list[str]) -> dict[str, Any]:
    """What must be nothing."""
    from agents.models import Turn
    from audit.models import ExecutedAgentAction
    from integrations.models import Delivery

    stored = Delivery.objects.filter(kind="created")
    performed = [call for call in calls(office) if call["performed"]]
    # A mail is done one thing to once; under one key anything is done once.
    done = Counter(call["path"] for call in performed if "/emails/" in call["path"])
    done += Counter(call["idempotency_key"] for call in performed)
    rows = ExecutedAgentAction.objects.filter(phase="attempt").values_list("action_id", flat=True)
    attempts = {f"remit-{id}" for id in rows}
    verified = subprocess.run(
        [sys.executable, "manage.py", "verify_ledger"], capture_output=True, text=True, check=False
    )
    print(verified.stdout, verified.stderr, flush=True)
    return {
        "mails_lost": len(set(arrived) - set(stored.values_list("source_id", flat=True))),
        "not_finished": stored.filter(finished_at=None).count(),
        "dead": dict(Counter(stored.filter(state="dead").values_list("reason", flat=True))),
        "done_twice": [what for what, times in done.items() if times > 1],
        "without_row": [
            call["path"] for call in performed if call["idempotency_key"] not in attempts
        ],
        "turns_not_ended": Turn.objects.filter(state__in=["queued", "running"]).count(),
        "ledger_not_sound": verified.returncode,
    }


def main() -> int:
    with an_office() as office:
        from django.core.management import call_command

        from agents.models import Turn
        from integrations.models import Delivery, Organisation, ServiceToken

        until(lambda: answers_again(office), "the data service")
        call_command("load_demo", verbosity=0)
        call_command("first_sync", verbosity=0)
        organisation = Organisation.objects.get(slug="default")
        scopes = ["chat", "approvals", "sync", "audit:read"]
        token = ServiceToken.issue(organisation=organisation, name="day", scopes=scopes)[1]
        with Traffic(office, token) as traffic:
            recoveries, held = live(office, traffic)
        began = time.monotonic()
        until(lambda: is_done(office), "all that came")
        found = {
            "minutes": MINUTES,
            "faults": seconds_to(recoveries, traffic.answered),
            "mails": len(traffic.arrived),
            "states": dict(Counter(Delivery.objects.values_list("state", flat=True))),
            "turns": dict(Counter(Turn.objects.values_list("state", flat=True))),
            "writes": len(calls(office)),
            "all_done_after_s": round(time.monotonic() - began, 1),
            "heard": dict(sorted(traffic.counts.items())),
            "attempts": end_attempts(office),
            "memory": held,
        }
        wrong = findings(office, traffic.arrived)
        wrong["answered_500"] = {
            what: times for what, times in traffic.counts.items() if what.endswith(" 500")
        }
    print(json.dumps(found | {"wrong": wrong}))
    return 1 if any(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
