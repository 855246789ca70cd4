"""Many mailboxes in one process: is everything that arrives accounted for, how soon is it decided,
and how much memory does it take?

    make bench NAME=hundred          ACCOUNTS=100 MAILS=200 A_SECOND=5 PROTOCOL=imap

Real mails of the folder of real data are delivered over LMTP to mailboxes on Dovecot, at a steady
pace. One process listens to all of them (IDLE), looks, reads in and works through what came, with
the tasks and the queue of a real cluster in threads of its own. Each mailbox has the rules that
Remit offers. The offline model is another program, and answers at once. PROTOCOL=jmap is the same
at Cyrus, which Debian builds without events: a program of the tests says them, in this process, so
the memory is with its 100 connections.

`received` are mails delivered; `handled`, `read` and `left` have their reasons, `dead` too; what
is in none of them is `lost`. The seconds are from the mail server's yes to the ledger's first row
about the mail, or to the end of the work where there is nothing to decide; WARM mails before these
are not counted. `memory_mb` is the most that the process had, `before_mb` before it listened. The
last line is JSON.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import corpus  # after the path
from benchmarks.database import own_database
from benchmarks.goals import tell

ACCOUNTS, MAILS = int(os.environ.get("ACCOUNTS", "100")), int(os.environ.get("MAILS", "200"))
A_SECOND = float(os.environ.get("A_SECOND", "5"))
THREADS, WARM, PATIENCE_SECONDS = 4, 10, 600.0
MESSAGE_ID = re.compile(rb"(?im)^Message-ID:.*\r?\n(?:[ \t].*\r?\n)*")
GOAL_SECONDS, GOAL_MB = 2.0, 300
PROTOCOL = os.environ.get("PROTOCOL", "imap")


@dataclass(frozen=True)
class Mailboxes:
    """A server of them. `open` makes one; `deliver` returns when the server has said yes."""

    servers: dict[str, Any]
    open: Callable[[str], object]
    deliver: Callable[[str, bytes], object]


@contextmanager
def dovecot() -> Iterator[Mailboxes]:
    from tests.mail_world import running_mail_world

    with running_mail_world() as world:
        yield Mailboxes(world.servers, open=lambda address: None, deliver=world.deliver)


@contextmanager
def cyrus() -> Iterator[Mailboxes]:
    from tests.cyrus_world import running_cyrus
    from tests.jmap_push_world import running_pushes, state

    with running_cyrus() as world, running_pushes(world) as pushes:
        numbers = count()

        def deliver(address: str, raw: bytes) -> None:
            world.deliver(address, raw)
            pushes.say(address, state(address, str(next(numbers))))

        url = f"https://127.0.0.1:{pushes.port}/.well-known/jmap"
        yield Mailboxes(world.servers | {"session": url}, open=world.add, deliver=deliver)


SERVED = {"imap": dovecot, "jmap": cyrus}


def mails() -> Iterator[bytes]:
    """So many, spread over all that there are, each with a Message-ID that names it."""
    all = [one["raw"].encode("latin-1") for one in corpus.lines("mail")]
    wanted = WARM + MAILS
    spread = islice(all, 0, None, max(1, len(all) // wanted))
    for number, raw in enumerate(islice(spread, wanted)):
        plain = raw.partition(b"\n")[2] if raw.startswith(b"From ") else raw
        head, _, body = plain.partition(b"\n\n")
        named = f"Message-ID: {message_id(number)}\n".encode()
        yield named + MESSAGE_ID.sub(b"", head + b"\n") + b"\n" + body


def message_id(number: int) -> str:
    return f"<{number}@arriving.test>"


@contextmanager
def model(folder: Path) -> Iterator[str]:
    """The offline model as `make run` starts it."""
    from config.local import ports
    from tests.mail_world import await_port

    port, log = ports.pick(), folder / "model.log"
    with log.open("wb") as out:
        running = subprocess.Popen(
            [sys.executable, "-m", "sandbox.offline_model"],
            cwd=corpus.PROJECT,
            env=os.environ | {"MODEL_PORT": str(port)},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        await_port("The model", running, log, port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        running.terminate()
        running.wait()


def configure(url: str) -> None:
    from django.conf import settings

    from tests.own_accounts import have_keys

    have_keys(settings)
    settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "offline", url
    settings.MODEL_IS_OFFLINE = True
    settings.CHAT_MODEL = settings.INGEST_MODEL = "offline-rules"
    settings.EMBEDDING_MODEL = "offline-hash-384"


def connect(world: Mailboxes) -> list[str]:
    """The addresses, each read in and with the rules that are offered."""
    from agents import tasks
    from guardrails.policies import files, presets
    from guardrails.policies.changes import Author
    from guardrails.policies.text import read
    from integrations.credentials import credentials
    from integrations.models import Account, Organisation
    from tests.mail_world import DOMAIN, PASSWORD

    organisation, _ = Organisation.objects.get_or_create(slug="default", defaults={"name": "Us"})
    rules = read(presets.load(presets.default_for(PROTOCOL)))
    addresses = [f"user{number}@{DOMAIN}" for number in range(ACCOUNTS)]
    for address in addresses:
        world.open(address)
        row = Account(
            organisation=organisation,
            external_user_id=address.partition("@")[0],
            source=PROTOCOL,
            address=address,
        )
        row.clean()
        row.save()
        sealed = credentials.seal(PASSWORD, account_id=row.id)
        credentials.keep(account_id=row.id, user_name=address, servers=world.servers, sealed=sealed)
        files.apply(row, rules, author=Author(name="benchmark", door="command"))
        tasks.look_at_account(str(row.id))
    return addresses


@contextmanager
def one_process() -> Iterator[None]:
    """Listens to all mailboxes and works the queue off, in threads of this process."""
    from django.db import connections
    from django_q.signing import SignedPackage

    from agents import tasks
    from config.broker import Broker
    from integrations.accounts.watching import Watcher

    stop = threading.Event()

    def work() -> None:
        broker = Broker()
        while not stop.is_set():
            for id, payload in broker.dequeue() or ():
                task = SignedPackage.loads(payload)
                task["func"](*task.get("args", ()), **task.get("kwargs", {}))
                if id is not None:  # no row: deliveries wait
                    broker.acknowledge(id)
        broker.notices.close()
        connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    threads.append(threading.Thread(target=Watcher(ask=tasks.queue_look).run, args=(stop,)))
    for one in threads:
        one.start()
    try:
        yield
    finally:
        stop.set()
        for one in threads:
            one.join()


def await_quiet(wanted: int = 0) -> None:
    """Until so many mails have come in, and nothing is left to be done."""
    from django_q.models import OrmQ

    from integrations.models import Delivery

    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        created = Delivery.objects.filter(kind="created")
        open_ = Delivery.objects.filter(finished_at=None)
        if created.count() >= wanted and not open_.exists() and not OrmQ.objects.exists():
            return
        time.sleep(0.2)
    print("Something is not done yet.", file=sys.stderr)


def deliver(
    world: Mailboxes, addresses: list[str], found: list[bytes], *, first: int
) -> dict[str, Any]:
    """At a steady pace; when the server had said yes to each."""
    at: dict[str, datetime] = {}
    began = time.monotonic()
    for number, raw in enumerate(found, first):
        time.sleep(max(0.0, began + (number - first) / A_SECOND - time.monotonic()))
        world.deliver(addresses[number % len(addresses)], raw)
        at[message_id(number)] = datetime.now(UTC)
    return at


def judge(delivered: dict[str, datetime]) -> dict[str, Any]:
    from audit.models import ExecutedAgentAction
    from integrations.models import Delivery

    rows = Delivery.objects.filter(
        kind="created",
        body__data__message_id__in=[*delivered, *(name.strip("<>") for name in delivered)],
    ).select_related("turn")
    found = {f"<{one.body['data']['message_id'].strip('<>')}>": one for one in rows}
    seconds = []
    for name, at in delivered.items():
        one = found.get(name)
        if one is None or one.finished_at is None:
            continue
        turn = getattr(one, "turn", None)
        decided = (
            ExecutedAgentAction.objects.filter(run_id=str(turn.id))
            .order_by("id")
            .values_list("occurred_at", flat=True)
            .first()
            if turn
            else None
        )
        seconds.append(((decided or one.finished_at) - at).total_seconds())
    fates = rows.count_fates()
    known = sum(fates[name] for name in ("handled", "read", "left", "dead"))
    cuts = statistics.quantiles(seconds, n=100) if len(seconds) > 1 else [0.0] * 99
    return {
        "received": len(delivered),
        **fates,
        "lost": len(delivered) - known,
        "twice": len(rows) - len(found),
        "p50_s": cuts[49],
        "p95_s": cuts[94],
    }


def memory() -> int:
    """The most that this process had, in MB."""
    said = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", said)[1]) // 1024  # type: ignore[index]


def main() -> int:
    corpus.require()
    with own_database(durable=False) as folder, ExitStack() as stack:
        configure(stack.enter_context(model(folder)))
        world = stack.enter_context(SERVED[PROTOCOL]())
        addresses = connect(world)
        before = memory()
        with one_process():
            await_quiet()
            arriving = list(mails())
            deliver(world, addresses, arriving[:WARM], first=0)
            await_quiet(WARM)
            delivered = deliver(world, addresses, arriving[WARM:], first=WARM)
            await_quiet(len(arriving))
        found = judge(delivered)
    found |= {
        "protocol": PROTOCOL,
        "accounts": len(addresses),
        "before_mb": before,
        "memory_mb": memory(),
    }
    goals = tell(
        {
            "all accounted for": not found["lost"] and not found["in_work"],
            "none twice": not found["twice"],
            f"{GOAL_SECONDS} s": found["p95_s"] <= GOAL_SECONDS,
            f"{GOAL_MB} MB": found["memory_mb"] <= GOAL_MB,
        }
    )
    print(json.dumps(found | {"goals": goals}, default=lambda value: round(value, 3)))
    return 0 if goals["all accounted for"] and goals["none twice"] else 1


if __name__ == "__main__":
    sys.exit(main())
