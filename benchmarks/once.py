"""Is a write done once, whatever happens to the connection and to the process?

    make bench NAME=once             (ONCE=300 for fewer writes, ONCE_WORKERS=8 beside each other,
                                      ONCE_OF="smtp imap" for these protocols alone, ONCE_KILLS=no,
                                      ONCE_BCC_SELF=yes for a copy to the sender of each mail,
                                      ONCE_FAULTS=0.9 for faults in more than half of all)

Workers do writes of every kind through the executor on real servers: mail (Dovecot behind Postfix,
and Cyrus over JMAP), calendars (Radicale, Xandikos), files (WsgiDAV), and issues at fakes of GitHub
and Jira. A proxy cuts, delays or swallows half of all connections at a random byte; workers are
killed (SIGKILL) at random and begun again. Whatever the policy would ask a person about is done,
because this is about what follows a decision. Afterwards recovery runs, and what each server holds
is compared with the ledger, action by action. What is left to a person is counted by cuts, too: by
the conversations that a fault broke off. The last line is JSON; the exit code is 1 if anything was
done twice, without a row, or said to have failed although it happened. The database is its own.
"""

import json
import os
import random
import re
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.cut_servers import SECONDS, Servers
from benchmarks.database import own_database  # after the path
from benchmarks.kills import forked
from benchmarks.write_plans import FOLDER, KINDS, LABEL, SENDING, Write

WRITES = int(os.environ.get("ONCE", "2000"))
# A worker mostly waits: for answers that were swallowed.
WORKERS = int(os.environ.get("ONCE_WORKERS", "8"))
OF = frozenset(os.environ.get("ONCE_OF", "").split() or KINDS)
KILLS = os.environ.get("ONCE_KILLS") != "no"
FAULTS = float(os.environ.get("ONCE_FAULTS", "0.5"))  # the share of connections
BCC_SELF = os.environ.get("ONCE_BCC_SELF") == "yes"
os.environ.setdefault("LOG_LEVEL", "ERROR")
MARK = "X-REMIT-ACTION:"


def settings() -> None:
    """Of all processes. Keys are made here, servers are on loopback."""
    from django.conf import settings as found

    from integrations.network import gate
    from integrations.providers.imap import connection, submission
    from tests.own_accounts import have_keys

    have_keys(found)
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
        elif KILLS and time.monotonic() > next_kill:
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

    for pause in (0.0, 31.0, 122.0):  # a slow server may still do what it was sent
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


@dataclass(frozen=True)
class Held:
    """What the servers hold: how often each key's own object is there, where its sender has copies
    of it, what became of targets, the text of files by path, and titles of issues and texts of
    comments, each after its tracker."""

    keys: Counter[str]
    copies: dict[str, list[str]]
    places: dict[str, list[tuple[str, frozenset[bytes]]]]
    events: dict[str, str]
    files: dict[str, str]
    issues: Counter[str]

    def times(self, write: Write, key: str) -> int:
        if write.kind in (*SENDING, "draft"):
            return self.keys[key]
        if write.protocol == "webdav":
            return self._times_of_file(write)
        if write.protocol == "trackers":
            return self.issues[write.target]
        if write.protocol == "caldav":
            if write.kind == "cancel_calendar_event":
                return int(write.target not in self.events)
            return self.keys[key]
        places = self.places.get(write.target, [])
        done = any(_is_so(write.kind, *one) for one in places)
        return len(places) if done else 0

    def _times_of_file(self, write: Write) -> int:
        here, there = self.files.get(write.target), self.files.get(f"{FOLDER}/{write.target}")
        if write.kind == "append_document":
            return (here or "").count(write.arguments["content"])
        return 0 if there is None else 1 + (here is not None)


def _is_so(kind: str, folder: str, flags: frozenset[bytes]) -> bool:
    if kind == "mark_read":
        return b"\\Seen" in flags
    if kind == "classify":
        return LABEL.encode() in flags
    return folder == {"archive": "Archive", "move_email": FOLDER, "trash_email": "Trash"}[kind]


def look(servers: Servers) -> Held:
    keys: Counter[str] = Counter()
    copies: dict[str, list[str]] = defaultdict(list)
    places: dict[str, list[tuple[str, frozenset[bytes]]]] = defaultdict(list)
    for world, boxes in servers.worlds:
        if hasattr(world, "await_delivery"):
            world.await_delivery()
        for number, address in enumerate(boxes):
            look_into(world, address, keys, places, None if number else copies)
        keys.update(filter(None, (own_key(mail) for _, _, mail in world.sink.taken)))
    events: dict[str, str] = {}
    for one in servers.calendars:
        events |= one.held()
    for text in events.values():
        keys.update(set(re.findall(rf"{MARK}(\S+)", text)))
    issues = Counter(written(servers.trackers))
    files = servers.files.held() if servers.files else {}
    return Held(keys, copies, places, events, files, issues)


def look_into(world: Any, address: str, keys: Counter[str], places: Any, copies: Any) -> None:
    """`copies`: of what the owner of this mailbox sent; None: it is another's."""
    with world.client(address) as client:
        for folder in ("INBOX", "Archive", FOLDER, "Trash", "Drafts", "Sent"):
            if not client.folder_exists(folder):
                continue
            client.select_folder(folder, readonly=True)
            wanted = ["FLAGS", "BODY.PEEK[HEADER.FIELDS (MESSAGE-ID X-REMIT-ACTION)]"]
            uids = client.search()
            for found in (client.fetch(uids, wanted) if uids else {}).values():
                raw = next(v for k, v in found.items() if k.startswith(b"BODY"))
                id = re.search(rb"(?im)^Message-ID:\s*(\S+)", raw)
                own = own_key(raw)
                if own and copies is not None and folder != "Drafts":
                    copies[own].append(folder)
                elif own:
                    keys[own] += 1
                elif id:
                    name = id[1].decode().strip("<>")
                    places[name].append((folder, frozenset(found[b"FLAGS"])))


def own_key(mail: bytes) -> str:
    found = re.search(rb"(?im)^X-Remit-Action:\s*(\S+)", mail.partition(b"\r\n\r\n")[0])
    return found[1].decode() if found else ""


def written(trackers: list[tuple[str, Any]]) -> Iterator[str]:
    """Every title and every comment of the trackers."""
    for source, tracker in trackers:
        for key, issue in tracker.issues.items():
            fields = issue.get("fields")  # of Jira; GitHub's fake keeps comments apart
            yield f"{source} {fields['summary'] if fields else issue['title']}"
            comments = fields["comment"]["comments"] if fields else tracker.comments.get(key, ())
            for one in comments:
                said = re.search(r"Seen \d+\.", json.dumps(one["body"]))
                yield f"{source} {said[0] if said else ''}"


def judge(writes: list[Write], held: Held, cuts: Counter[str]) -> dict[str, Any]:
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
        if one.protocol == "smtp":
            found_in = " and ".join(sorted(held.copies.get(key, ()))) or "none"
            count[f"own copy in: {found_in}"] += 1
            count["left to a person, and had gone out"] += status == "unknown" and times > 0
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
        "cuts": dict(cuts),
        "left_per_cut": {
            name: round(count / cuts[name], 4) for name, count in left.items() if cuts[name]
        },
        "by_protocol": {name: dict(one) for name, one in found.items()},
    }


def measure(folder: Path, seed: int) -> dict[str, Any]:
    luck = random.Random(seed)  # no secret
    settings()
    with ExitStack() as stack:
        servers = Servers(stack, folder, luck, of=OF, faults=FAULTS, bcc_self=BCC_SELF)
        writes = list(servers.plan(WRITES))
        print(f"{len(writes)} writes are planned.", file=sys.stderr)
        luck.shuffle(writes)
        began = time.monotonic()
        killed = run(writes, folder, luck)
        seconds = time.monotonic() - began
        cuts = servers.cuts()
        finish(writes)
        said = judge(writes, look(servers), cuts)
    return said | {"kills": killed, "seconds": round(seconds, 1), "seed": seed}


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
