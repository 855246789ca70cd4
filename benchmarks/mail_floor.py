"""The floor of benchmarks/inbound.py: the same durable facts in the fewest statements, with the
provider and the model called as often, by plain psycopg and httpx.

It works in a copy of Remit's own database (indexes, foreign keys, triggers, partitions), emptied of
what came of the mails except for the ledger, and on a mailbox of its own in the same data service.
What is durable by itself is what has to be, each in one statement and one commit:

- a webhook, before it is answered;
- an item with its index, and its turn, before the first step;
- a step with the attempts of its actions, before their effects;
- their outcomes and results, before the next call of the model;
- the end of turn and delivery, with the last step and what the item has become.

The writes are those that Remit's actions made; word of them comes as the first webhooks do, through
benchmarks/mail_door.py. Nothing is decided, checked, looked up, claimed or leased, and no signature
is verified. Each process sends a mail's webhook and then works on that mail.
"""

import os
import time
from collections import Counter
from collections.abc import Collection, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.mail_facts import CHAT, EMBEDDINGS, EMPTIED, LEDGER, Mail, Row, Stored
from config.local.ports import answers

PROCESSES = 4
USER = "floor"


def load(before: Collection[Any], calls: Sequence[Row], *, reads: int) -> list[Mail]:
    """What Remit stored of the mails that came since these deliveries, with its `calls` that wrote
    to the provider; each asked that so often for something. All mails are put into the floor's
    own mailbox."""
    from agents.office import sandbox

    stored = Stored(calls)
    firsts = [
        one for rows in stored.deliveries.values() for one in rows if one["kind"] == "created"
    ]
    sandbox.add_user("default", external_user_id=USER, address="floor@example.org", name="Floor")
    for start in range(0, len(firsts), 100):
        mails = [one["body"]["data"] for one in firsts[start : start + 100]]
        wires = [{name: mail[name] for name in mail if name != "version"} for mail in mails]
        sandbox.add_mails("default", external_user_id=USER, mails=wires)
    old = set(map(str, before))
    return [
        stored.mail(first, reads=reads)
        for first in firsts
        if first["id"] not in old and first["source_id"] in stored.turns
    ]


def run(mails: list[Mail], world: Any) -> dict[str, float]:
    """The seconds that it takes until all is stored, and the webhooks that came. Remit's own web
    process and cluster end before."""
    import psycopg
    from django.conf import settings
    from django.db import connections

    world.kill_cluster()
    world.end("web")
    connections.close_all()
    copy = urlsplit(os.environ["DATABASE_URL"])._replace(path="/floor").geturl()
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as session:
        session.execute("CREATE DATABASE floor TEMPLATE remit")
    with psycopg.connect(copy, autocommit=True) as session:
        session.execute(f"TRUNCATE {', '.join(EMPTIED)} CASCADE")
        before = _counts(session)
        columns = {table: _columns(session, table) for table in (*EMPTIED, *LEDGER)}
    port, sandbox = world.ports["web"], world.ports["sandbox"]
    program = str(Path(__file__).with_name("mail_door.py"))
    world.servers["web"] = world.start(program, str(port), DATABASE_URL=copy)
    while not answers(port):
        time.sleep(0.05)
    work = partial(
        _work,
        database=copy,
        door=f"http://127.0.0.1:{port}/webhooks/item-created",
        provider=f"http://127.0.0.1:{sandbox}/v1/data/users/{USER}",
        model=settings.OPENAI_BASE_URL,
        key=settings.DATA_SERVICE_KEYS["default"],
    )
    jobs = [
        (
            replace(mail, commits=[replace(one, new={}, changed={}) for one in mail.commits]),
            [commit.statement(columns) for commit in mail.commits],
        )
        for mail in mails
    ]
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        list(pool.map(_ready, range(PROCESSES * 4)))
        began = time.monotonic()
        list(pool.map(work, [jobs[number::PROCESSES] for number in range(PROCESSES)]))
        while world.control("GET", "/webhooks")["pending"]:
            time.sleep(0.02)
        seconds = time.monotonic() - began
    with psycopg.connect(copy) as session:
        stored = _counts(session) - before
    webhooks = stored.pop("integrations_delivery")
    wanted: Counter[str] = Counter()
    for commit in chain.from_iterable(mail.commits for mail in mails):
        wanted.update({table: len(rows) for table, rows in commit.new.items() if rows})
    assert stored == wanted, (stored, wanted)
    return {"seconds": seconds, "webhooks": webhooks}


def _counts(session: Any) -> Counter[str]:
    tables = (*EMPTIED, *LEDGER)
    return Counter(
        {table: session.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}
    )


def _columns(session: Any, table: str) -> str:
    """Those that the database does not fill in by itself."""
    found = session.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
        " AND NOT attisdropped AND attgenerated = ''",
        [table],
    )
    return ", ".join(f'"{name}"' for (name,) in found)


def _ready(_: int) -> None:
    """Load what is loaded once."""
    import httpx  # noqa: F401
    import psycopg  # noqa: F401

    time.sleep(0.05)


def _work(
    jobs: Sequence[tuple[Mail, Sequence[tuple[str, list[str]]]]],
    *,
    database: str,
    door: str,
    provider: str,
    model: str,
    key: str,
) -> None:
    import httpx
    import psycopg

    with (
        psycopg.connect(database, autocommit=True) as session,
        httpx.Client(headers={"Authorization": f"Bearer {key}"}, timeout=30) as client,
    ):

        def ask(method: str, url: str, **given: Any) -> None:
            client.request(method, url, **given).raise_for_status()

        for mail, statements in jobs:
            event = {"id": mail.delivery["id"]} | mail.delivery["body"]
            ask("POST", door, json=event, headers={"webhook-id": mail.delivery["webhook_id"]})
            said = [{"role": "user", "content": mail.text[:6000]}]
            bodies: dict[str, Row] = {
                CHAT: {"model": "offline-rules", "messages": said},
                EMBEDDINGS: {"model": "offline-hash-384", "input": [mail.text[:6000] or "-"]},
            }
            for commit, (statement, values) in zip(mail.commits, statements, strict=True):
                for path in commit.models:
                    ask("POST", f"{model}/{path}", json=bodies[path])
                for _ in range(commit.reads):
                    ask("GET", f"{provider}/emails/{mail.id}")
                for call in commit.writes:
                    path = call["path"].split("/", 3)[3]
                    once = {"Idempotency-Key": call["idempotency_key"]}
                    ask(call["method"], f"{provider}/{path}", json=call["body"], headers=once)
                session.execute(statement, values)
