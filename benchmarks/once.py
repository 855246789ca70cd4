"""Is a write done once, whatever happens to the connection and to the process?

    make bench NAME=once             (ONCE=300 for fewer writes)

Workers do writes of every kind through the executor on real servers: a mail server (Dovecot, and
SMTP that delivers what it takes by LMTP) and calendar servers (Radicale, Xandikos). A proxy cuts,
delays or swallows half of all connections at a random byte; workers are killed (SIGKILL) at random
and begun again. Whatever the policy would ask a person about is done, because this is about what
follows a decision. Afterwards recovery runs, and what each server holds is compared with the
ledger, action by action. The last line is JSON; the exit code is 1 if anything was done twice,
without a row, or said to have failed although it happened. The database is its own.
"""

import json
import os
import random
import re
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path
from benchmarks.kills import forked

WRITES, WORKERS = int(os.environ.get("ONCE", "2000")), 3
SECONDS = 3.0  # that a server is waited for
BYTES = 24_000  # of a conversation in which something may happen
KINDS = {
    "imap": ("archive", "mark_read", "trash_email", "draft"),
    "smtp": ("send_email", "forward_email"),
    "caldav": ("create_calendar_event", "update_calendar_event", "cancel_calendar_event"),
}
os.environ.setdefault("LOG_LEVEL", "ERROR")
TOM, MARK = "tom@office.test", "X-REMIT-ACTION:"


@dataclass(frozen=True, kw_only=True)
class Write:
    action_id: UUID
    account_id: UUID
    protocol: str
    kind: str
    arguments: dict[str, Any]
    target: str = ""  # a Message-ID, or the path of an event


def settings() -> None:
    """Of all processes. Keys are made here, servers are on loopback."""
    from django.conf import settings as found

    from integrations.credentials import sealing
    from integrations.network import gate
    from integrations.providers.imap import connection, submission
    from tests.integrations.conftest import PRIVATE

    found.OUTGOING_TO_PRIVATE, found.CREDENTIALS_PRIVATE_KEY = True, PRIVATE
    found.CREDENTIALS_PUBLIC_KEY = sealing.to_text(sealing.private_key(PRIVATE).public_key())
    found.DATA_SERVICE_TIMEOUT_SECONDS = found.DATA_SERVICE_ANSWER_SECONDS = SECONDS
    found.DATA_SERVICE_RATE = 10_000.0
    # Half of all connections fail: the circuit would only make this take longer.
    vars(gate)["CIRCUIT_FAILURES"] = 1_000_000
    vars(connection).update(CONNECT_SECONDS=SECONDS, ANSWER_SECONDS=SECONDS)
    vars(submission).update(SECONDS=SECONDS)


def execute(write: Write) -> None:
    from audit.contracts import LedgerError
    from guardrails.contracts import ActionRequest, Origin
    from guardrails.execute import executor
    from guardrails.gather.judgement import Judgement
    from integrations.models import Account

    real = vars(executor)["judge"]

    def judged(*about: Any, **named: Any) -> Judgement:
        found: Judgement = real(*about, **named)
        if found.decision.verdict != "ask":
            return found
        return replace(found, decision=found.decision._replace(verdict="allow", hold_seconds=0))

    vars(executor)["judge"] = judged
    account = Account.objects.select_related("organisation").get(id=write.account_id).ref()
    origin = Origin(trigger="chat", turn_id="1", call_id="1", agent="orchestrator")
    request = ActionRequest(
        action_id=write.action_id,
        account=account,
        action_type=write.kind,
        arguments=write.arguments,
        origin=origin,
    )
    try:
        executor.execute(request)
    except LedgerError as error:
        print("ledger", error, file=sys.stderr)
    finally:
        vars(executor)["judge"] = real


def work(writes: list[Write], note: Path) -> None:
    """From where it was killed, with the same ids."""
    begun = int(note.read_text() or 0) if note.exists() else 0
    for number in range(begun, len(writes)):
        note.write_text(str(number))
        execute(writes[number])
    note.write_text(str(len(writes)))
    os._exit(0)


def close_all() -> None:
    """Connections to the database, to mail servers and to calendar servers."""
    from django.db import connections

    from integrations.network import http
    from integrations.providers.imap import connection

    connections.close_all()
    for one in connections.all(initialized_only=True):
        if hasattr(one, "close_pool"):
            one.close_pool()
    connection.close_idle()
    http.close_clients()


def run(writes: list[Write], folder: Path, luck: random.Random) -> int:
    """Until all is tried; how often a worker was killed."""
    shares = [writes[number::WORKERS] for number in range(WORKERS)]
    notes = [folder / f"note.{number}" for number in range(WORKERS)]

    close_all()  # none may be open when a worker is forked

    def begin(number: int) -> int:
        return forked(lambda: work(shares[number], notes[number]))

    children = {begin(number): number for number in range(WORKERS)}
    killed, next_kill = 0, time.monotonic() + 1
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid in children:
            number = children.pop(pid)
            if status:
                children[begin(number)] = number
        elif time.monotonic() > next_kill:
            os.kill(luck.choice(list(children)), signal.SIGKILL)
            killed, next_kill = killed + 1, time.monotonic() + luck.uniform(0.2, 2.5)
        else:
            time.sleep(0.02)
    return killed


def finish(writes: list[Write]) -> None:
    """As callers and the sweep do it: what is open is tried again, and what nobody can tell is
    left to a person after a day."""
    from django.utils import timezone

    from guardrails.execute.recovery import recover_open_attempts

    for pause in (0.0, 31.0):  # a slow server may still do what it was sent
        time.sleep(pause)
        recover_open_attempts(now=timezone.now(), older_than_seconds=0)
        for one in writes:
            if last_status(one) in ("", "pending"):
                execute(one)
    recover_open_attempts(now=timezone.now() + timedelta(hours=25), older_than_seconds=0)


def last_status(write: Write) -> str:
    from audit.ledger.selectors import recorded
    from guardrails.decide import steps

    last = steps.last_word(recorded(write.action_id))
    if last is None:
        return ""
    return last.status if steps.is_final(last) else "pending"


def draw(luck: random.Random) -> Callable[[], Any]:
    from tests.fault_proxy import Fault

    def one() -> Fault | None:
        if luck.random() < 0.5:
            return None
        kind = luck.choice(["cut", "cut", "swallow", "delay"])
        return Fault(kind, luck.choice(["up", "down"]), luck.randrange(BYTES))  # type: ignore[arg-type]

    return one


def make_account(source: str, user: str, address: str, user_name: str, servers: Any) -> Any:
    from guardrails.actions import registry
    from guardrails.models import AllowedAction, AllowedActionOption
    from integrations.credentials import credentials
    from integrations.models import Account, Organisation
    from tests.guardrails.values import AGENT_TEXT, writes
    from tests.mail_world import PASSWORD

    organisation, _ = Organisation.objects.get_or_create(slug="office", defaults={"name": "Office"})
    row = Account.objects.create(
        organisation=organisation, external_user_id=user, source=source, address=address
    )
    credentials.keep(
        account_id=row.id,
        user_name=user_name,
        servers=servers,
        sealed=credentials.seal(PASSWORD, account_id=row.id),
    )
    for kind in (kind for kinds in KINDS.values() for kind in kinds):
        if registry.BY_NAME[kind].kind != row.kind:
            continue
        lifted = [AGENT_TEXT] if writes(kind) else []
        AllowedAction.objects.create(
            account=row, action_type=kind, approval_mode="auto", conditions=lifted
        )
        if kind in ("send_email", "forward_email", "draft"):
            AllowedActionOption.objects.create(
                account=row,
                action_type=kind,
                source=source,
                kind="recipient",
                external_id=TOM,
                name=TOM,
            )
    return row


def plan_mail(world: Any, row: Any, count: int) -> Iterator[Write]:
    from audit.ledger.ids import uuid7
    from integrations.accounts import reads

    kinds = [*KINDS["imap"], *KINDS["smtp"]]
    for number in range(count):
        world.deliver(
            row.address,
            f"From: {TOM}\r\nTo: {row.address}\r\nSubject: Offer {number}\r\n"
            f"Message-ID: <{number}.{row.external_user_id}@office.test>\r\n"
            f"Date: Mon, 09 Mar 2026 10:00:00 +0100\r\n\r\nHello {number}.\r\n".encode(),
        )
    cursor: str | None = None
    mails: list[Any] = []
    while True:
        page = reads.reader(row.ref()).items(since=None, cursor=cursor, limit=100)
        mails += page.items
        cursor = page.next_cursor
        if cursor is None:
            break
    for number, mail in enumerate(mails):
        kind: str = kinds[number % len(kinds)]
        text = {"to": [TOM], "body": f"Answer {number}", "subject": f"Answer {number}"}
        arguments: dict[str, Any] = {
            "send_email": text,
            "forward_email": {"email_id": mail.id, "to": [TOM], "body": "See below."},
            "draft": {**text, "reply_to_id": mail.id},
        }.get(kind, {"email_id": mail.id})
        yield Write(
            action_id=uuid7(),
            account_id=row.id,
            protocol="smtp" if kind in KINDS["smtp"] else "imap",
            kind=kind,
            arguments=arguments,
            target=mail.message_id.strip("<>"),
        )


def plan_events(server: Any, row: Any, count: int) -> Iterator[Write]:
    from audit.ledger.ids import uuid7
    from integrations.providers.caldav import events
    from tests.calendar_world import event

    times = {"start": "2099-03-09T12:00:00+00:00", "end": "2099-03-09T13:00:00+00:00"}
    for number in range(count):
        kind, path = KINDS["caldav"][number % 3], ""
        if kind != "create_calendar_event":
            name = f"{row.external_user_id}-{number}"
            server.put(name, event(f"Plan {number}", start="20990309T100000Z"))
            path = f"{server.calendar}{name}.ics"
        id = events.event_id(path) if path else ""
        arguments = {
            "create_calendar_event": {"title": f"New {number}", **times},
            "update_calendar_event": {"event_id": id, "title": f"Changed {number}"},
            "cancel_calendar_event": {"event_id": id},
        }[kind]
        yield Write(
            action_id=uuid7(),
            account_id=row.id,
            protocol="caldav",
            kind=kind,
            arguments=arguments,
            target=path,
        )


@dataclass(frozen=True)
class Held:
    """What the servers hold: how often each key's own object is there, and what became of
    targets."""

    keys: Counter[str]
    places: dict[str, list[tuple[str, frozenset[bytes]]]]
    events: dict[str, str]

    def times(self, write: Write, key: str) -> int:
        if write.kind in (*KINDS["smtp"], "draft"):
            return self.keys[key]
        if write.protocol == "caldav":
            if write.kind == "cancel_calendar_event":
                return int(write.target not in self.events)
            return self.keys[key]
        places = self.places.get(write.target, [])
        done = any(_is_so(write.kind, *one) for one in places)
        return len(places) if done else 0


def _is_so(kind: str, folder: str, flags: frozenset[bytes]) -> bool:
    if kind == "mark_read":
        return b"\\Seen" in flags
    return folder == {"archive": "Archive", "trash_email": "Trash"}[kind]


def look(world: Any, boxes: list[str], calendars: list[Any]) -> Held:
    keys: Counter[str] = Counter()
    places: dict[str, list[tuple[str, frozenset[bytes]]]] = defaultdict(list)
    for address in (*boxes, TOM):
        with world.client(address) as client:
            for folder in ("INBOX", "Archive", "Trash", "Drafts"):
                client.select_folder(folder, readonly=True)
                wanted = ["FLAGS", "BODY.PEEK[HEADER.FIELDS (MESSAGE-ID X-REMIT-ACTION)]"]
                uids = client.search()
                for found in (client.fetch(uids, wanted) if uids else {}).values():
                    text = next(v for k, v in found.items() if k.startswith(b"BODY")).decode()
                    own = re.search(r"(?im)^X-Remit-Action:\s*(\S+)", text)
                    id = re.search(r"(?im)^Message-ID:\s*(\S+)", text)
                    if own:
                        keys[own[1]] += 1
                    elif id:
                        places[id[1].strip("<>")].append((folder, frozenset(found[b"FLAGS"])))
    events: dict[str, str] = {}
    for one in calendars:
        events |= one.held()
    for text in events.values():
        keys.update(set(re.findall(rf"{MARK}(\S+)", text)))
    return Held(keys, places, events)


def judge(writes: list[Write], held: Held) -> dict[str, Any]:
    from audit.ledger.selectors import recorded

    found: dict[str, Counter[str]] = defaultdict(Counter)
    rows_of, about = set(), []
    for one in writes:
        rows = recorded(one.action_id)
        attempts = [row for row in rows if row.phase == "attempt"]
        key = attempts[0].idempotency_key if attempts else ""
        rows_of.add(key)
        times, status = held.times(one, key), last_status(one)
        count = found[one.protocol]
        count["writes"] += 1
        wrong = {
            "twice": times > 1,
            "without_row": times > 0 and not attempts,
            "said_failed_but_happened": times > 0 and status in ("failed", "blocked", ""),
            "said_done_but_did_not": times == 0 and status == "succeeded",
            "left_to_person": status == "unknown",
        }
        for name, is_so in wrong.items():
            count[name] += is_so
            if is_so:
                about.append(f"{name} {one.protocol} {one.kind} {one.action_id} {times} {status}")
        last = f"{rows[-1].decision_reason} {rows[-1].error_code}" if rows else ""
        count[f"{status or 'none'}: {last}".strip()] += 1
    stray = [key for key in held.keys if key not in rows_of]
    print(*about[:40], *stray[:5], sep="\n", file=sys.stderr)
    names = ("twice", "without_row", "said_failed_but_happened", "said_done_but_did_not")
    all = {name: sum(one[name] for one in found.values()) for name in names}
    all["without_row"] += len(stray)
    left = {name: one["left_to_person"] for name, one in found.items()}
    return {
        "writes": len(writes),
        **all,
        "left_to_person": left,
        "by_protocol": {name: dict(one) for name, one in found.items()},
    }


def measure(folder: Path, seed: int) -> dict[str, Any]:
    from integrations.providers.caldav import trial
    from tests.calendar_world import ADDRESS, NAMES, PASSWORD, USER, running_calendar_server
    from tests.fault_proxy import running_proxy
    from tests.mail_world import running_mail_world

    luck = random.Random(seed)  # no secret
    settings()
    with ExitStack() as stack:
        world = stack.enter_context(running_mail_world(delivers=True))
        writes: list[Write] = []
        half, boxes, calendars = WRITES // 2, [], []

        def proxied(port: int) -> int:
            return stack.enter_context(running_proxy(port, draw=draw(luck))).port

        row = make_account("imap", "nora", "nora@office.test", "nora@office.test", world.servers)
        boxes.append(row.address)
        writes += plan_mail(world, row, half)
        servers = world.servers
        servers["imap"]["port"] = proxied(world.imap)
        servers["smtp"]["port"] = proxied(world.smtp)
        point_to(row, servers)
        for name in NAMES:
            server = stack.enter_context(running_calendar_server(name))
            calendars.append(server)
            trust(folder, world.folder / "ca.pem", *(one.trusted for one in calendars))
            tried = trial.try_urls([server.origin], user_name=USER, secret=PASSWORD)
            known = json.dumps(tried.server.to_json())
            row = make_account("caldav", name, ADDRESS, USER, json.loads(known))
            writes += plan_events(server, row, (WRITES - half) // len(NAMES))
            read_in(row)
            port = server.origin.rpartition(":")[2]
            point_to(row, json.loads(known.replace(f":{port}", f":{proxied(int(port))}")))
        luck.shuffle(writes)
        began = time.monotonic()
        killed = run(writes, folder, luck)
        seconds = time.monotonic() - began
        finish(writes)
        said = judge(writes, look(world, boxes, calendars))
    return said | {"kills": killed, "seconds": round(seconds, 1), "seed": seed}


def trust(folder: Path, *authorities: Path) -> None:
    from integrations.network import http

    joined = folder / "authorities.pem"
    joined.write_bytes(b"".join(one.read_bytes() for one in authorities))
    os.environ["SSL_CERT_FILE"] = str(joined)
    http.close_clients()


def point_to(row: Any, servers: Any) -> None:
    from integrations.models import Credential
    from integrations.network import http
    from integrations.providers.imap import connection

    Credential.objects.filter(account=row).update(servers=servers)
    connection.close_idle()
    http.close_clients()


def read_in(row: Any) -> None:
    """The events' places are known by reading them once."""
    from integrations.accounts import reads

    cursor = None
    while True:
        page = reads.reader(row.ref()).items(since=None, cursor=cursor, limit=100)
        cursor = page.next_cursor
        if cursor is None:
            return


def main() -> int:
    with own_database() as folder:
        from django.db import connections

        seed = int(os.environ.get("SEED", "20"))
        try:
            said = measure(folder, seed)
        finally:
            connections.close_all()
    print(json.dumps(said))
    wrong = ("twice", "without_row", "said_failed_but_happened", "said_done_but_did_not")
    return 1 if any(said[name] for name in wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
