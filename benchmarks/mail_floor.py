"""The floor of benchmarks/inbound.py: the same durable facts in the fewest statements, with the
provider and the model called as often.

Tables like Remit's, indexes and all, are filled with what Remit stored for the same mails, by
plain psycopg: a statement for each webhook, for the item with its index, for the turn, for each
step with its calls, for the attempts and for the outcomes of a step, and for the end. Each is one
commit. Nothing is decided, checked or looked up.
"""

import json
import os
import time
from collections import defaultdict
from collections.abc import Collection, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from typing import Any
from uuid import UUID

PROCESSES = 4
Rows = Mapping[str, list[str]]  # of each table, as JSON


@dataclass(kw_only=True)
class Mail:
    """One mail's commits, in their order, and how often others are asked before each."""

    id: str
    text: str
    commits: list[tuple[int, int, Rows]] = field(default_factory=list)  # models, provider

    def add(self, rows: Rows, *, models: int = 0, provider: int = 0) -> None:
        kept = {table: found for table, found in rows.items() if found}
        if kept:
            self.commits.append((models, provider, kept))


def load(before: Collection[UUID], *, reads: int) -> list[Mail]:
    """What Remit stored of the mails that came since these deliveries; each asked the provider
    so often."""
    from django.db import connection

    def select(table: str, key: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {key}::text, to_jsonb(t)::text FROM {table} t ORDER BY 1")
            for owner, row in cursor.fetchall():
                found[owner].append(row)
        return found

    webhooks = select("integrations_delivery", "source_id")
    items = select("knowledge_item", "source_id")
    turns = select("agents_turn", "item_source_id")
    steps, calls = select("agents_step", "turn_id"), select("agents_toolcall", "step_id")
    events, asked = (
        select("agents_turnevent", "turn_id"),
        select("integrations_modelcall", "run_id"),
    )
    actions, payloads = select("audit_action", "run_id"), select("audit_payload", "row_id")
    of_item = {
        table: select(table, "item_id")
        for table in (
            *("knowledge_itemfile", "knowledge_chunk", "knowledge_chunkvector"),
            "knowledge_mention",
        )
    }
    mails = []
    for source_id, delivered in webhooks.items():
        new = [row for row in delivered if UUID(json.loads(row)["id"]) not in before]
        if not new or source_id not in turns:
            continue
        item = json.loads(items[source_id][0])
        turn_id = json.loads(turns[source_id][0])["id"]
        mail = Mail(id=source_id, text=item["text"])
        for row in new:
            mail.add({"integrations_delivery": [row]})
        index = {table: rows[item["id"]] for table, rows in of_item.items()}
        mail.add({"knowledge_item": items[source_id]} | index, models=2)
        mail.add({"agents_turn": turns[source_id]}, provider=reads)
        for number, step in enumerate(steps[turn_id]):
            made = {
                "agents_step": [step],
                "agents_toolcall": calls[str(json.loads(step)["id"])],
                "integrations_modelcall": asked[turn_id][number : number + 1],
            }
            mail.add(made, models=1)
        for phase in ("attempt", "blocked", "outcome"):
            written = [row for row in actions[turn_id] if json.loads(row)["phase"] == phase]
            hidden = [body for row in written for body in payloads[str(json.loads(row)["id"])]]
            mail.add({"audit_action": written, "audit_payload": hidden})
        # With the end of the turn and its delivery.
        mail.add({"agents_turnevent": events[turn_id]})
        mails.append(mail)
    tables = sorted({table for mail in mails for _, _, rows in mail.commits for table in rows})
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA floor")
        for table in tables:
            like = f"LIKE public.{table} INCLUDING ALL EXCLUDING GENERATED"
            cursor.execute(f"CREATE TABLE floor.{table} ({like})")
    return mails


def run(mails: list[Mail], world: Any) -> float:
    """The seconds that it takes to write them all."""
    from django.conf import settings
    from django.db import connections

    connections.close_all()
    write = partial(
        _write,
        provider=f"http://127.0.0.1:{world.ports['sandbox']}/v1/data/users/replay/emails",
        model=settings.OPENAI_BASE_URL,
        key=settings.DATA_SERVICE_KEYS["default"],
    )
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        list(pool.map(_ready, range(PROCESSES * 4)))
        began = time.monotonic()
        list(pool.map(write, [mails[number::PROCESSES] for number in range(PROCESSES)]))
        return time.monotonic() - began


def _ready(_: int) -> None:
    """Load what is loaded once."""
    import httpx  # noqa: F401
    import psycopg  # noqa: F401

    time.sleep(0.05)


def _write(mails: list[Mail], *, provider: str, model: str, key: str) -> None:
    import httpx
    import psycopg

    with (
        psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as session,
        httpx.Client(headers={"Authorization": f"Bearer {key}"}, timeout=30) as client,
    ):
        for mail in mails:
            said = [{"role": "user", "content": mail.text[:6000]}]
            for models, reads, rows in mail.commits:
                for _ in range(models):
                    client.post(
                        f"{model}/chat/completions",
                        json={"model": "offline-rules", "messages": said},
                    ).raise_for_status()
                for _ in range(reads):
                    client.get(f"{provider}/{mail.id}").raise_for_status()
                session.execute(*_statement(rows))


def _statement(rows: Rows) -> Any:
    parts = [
        f"{table}_ AS (INSERT INTO floor.{table} OVERRIDING SYSTEM VALUE"
        f" SELECT * FROM jsonb_populate_recordset(NULL::floor.{table}, %s::jsonb))"
        for table in rows
    ]
    return f"WITH {', '.join(parts)} SELECT 1", [f"[{','.join(found)}]" for found in rows.values()]
