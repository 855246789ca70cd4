"""Whether the pages of a full house stay quick: many ledger rows, accounts and activities.

    make bench NAME=pages_of_many      1,000,000 rows, 10,000 accounts, 100,000 activities;
                                       ROWS, ACCOUNTS and ACTIVITIES make it fewer

Each page is asked for as an operator's browser does, three times after a first one. Of the last
time its statements in both databases are counted and explained. The floor is a bare page of the
same ledger by primary key, in the same run. The last line is JSON; a page with more than 15
statements, or one that reads a big table from one end to the other, makes it fail.
"""

import json
import os
import statistics
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path

ROWS = int(os.environ.get("ROWS", "1000000"))
ACCOUNTS = int(os.environ.get("ACCOUNTS", "10000"))
ACTIVITIES = int(os.environ.get("ACTIVITIES", "100000"))
TIMES, MOST_STATEMENTS, ENOUGH_MS, SMALL_READ = 3, 15, 300.0, 2_000


def fill(organisation: Any) -> dict[str, Any]:
    """The rows, and the ids of some of them. Half of the activities are mails that were read in;
    of the turns every second one is a chat."""
    from agents.models import Conversation, Message, Turn
    from benchmarks import many_rows
    from benchmarks.many_chunks import query
    from integrations.models import Account, Delivery

    of = {"organisation": organisation}
    user = {**of, "external_user_id": "user-0"}
    account = Account.objects.create(**user, source="gmail", address="user-0@company.com")
    conversation = Conversation.objects.create(**user)
    mail = {**of, "account": account, "source": "gmail", "kind": "created", "body": {}}
    delivery = Delivery.objects.create(
        **mail, webhook_id="msg-0", source_id="id-0", state="processed", reason="own_mail"
    )
    ended = {"state": "finished", "ending": "reply"}
    chat = Turn.objects.create(**user, **ended, kind="chat", conversation=conversation)
    said = Message.objects.create(
        conversation=conversation, turn=chat, role="user", content="What is new?"
    )
    people = f"'user-' || n % {ACCOUNTS}"
    past = "now() - make_interval(mins => n)"
    clone(
        account,
        ACCOUNTS - 1,
        external_user_id="'user-' || n",
        address="'user-' || n || '@company.com'",
    )
    clone(
        delivery,
        ACTIVITIES // 2,
        webhook_id="'msg-' || n",
        source_id="'id-' || n",
        received_at=past,
    )
    clone(chat, ACTIVITIES // 2, external_user_id=people, created_at=past, finished_at=past)
    clone(said, ACTIVITIES // 2, turn_id=f"{key(chat)}", created_at=past)
    many_rows.fill(organisation.id, ROWS)
    query("VACUUM ANALYZE")
    return {"account": account.id, "chat": chat.id, "delivery": delivery.id}


def key(row: Any) -> str:
    """Of the nth copy of a row."""
    return f"md5('{row._meta.db_table} ' || n)::uuid"


def clone(row: Any, number: int, **changes: str) -> None:
    """So many copies of a row as SQL makes them from `n`, each under an id of its own."""
    from benchmarks.many_chunks import query

    table = row._meta.db_table
    columns = [one.column for one in row._meta.concrete_fields if not one.generated]
    named = ", ".join(f'"{one}"' for one in columns)
    taken = ", ".join({"id": key(row), **changes}.get(one, f'r."{one}"') for one in columns)
    query(
        f"INSERT INTO {table} ({named}) SELECT {taken}"
        f" FROM {table} r, generate_series(1, {number}) n WHERE r.id = '{row.pk}' RETURNING 1"
    )


def pages(known: dict[str, Any]) -> dict[str, str]:
    ledger, turn = "/admin/audit/executedagentaction/", "/admin/agents/turn/"
    return {
        "activity": "/admin/",
        "activity of words": "/admin/?q=news",
        "ledger": ledger,
        "ledger, of a user": f"{ledger}?on_behalf_of=maya",
        "ledger, refused": f"{ledger}?status__exact=blocked",
        "ledger, by words": f"{ledger}?q=send_email",
        "turns": turn,
        "one turn": f"{turn}{known['chat']}/change/",
        "accounts": "/admin/integrations/account/",
        "accounts by address": "/admin/integrations/account/?q=user-77%40company.com",
        "one account": f"/admin/integrations/account/{known['account']}/change/",
        "deliveries": "/admin/integrations/delivery/",
        "approvals": "/admin/guardrails/approval/",
        "found by words": "/admin/find/?q=user-77",
        "console": "/console/?user=user-0",
        "its drafts": "/console/drafts?user=user-0",
        "its patterns": "/console/patterns?user=user-0",
        "dashboard": f"{turn}dashboard/",
        "what may it do": "/admin/guardrails/allowedaction/explain/",
        "set up": "/admin/setup/",
        "for auditors": "/admin/guardrails/allowedaction/for-auditors/",
    }


def floor() -> float:
    """Milliseconds of a bare page of the ledger by primary key."""
    from benchmarks.many_chunks import query

    def once() -> float:
        begun = time.perf_counter()
        query("SELECT id, action_id, occurred_at FROM audit_action ORDER BY id DESC LIMIT 101")
        return (time.perf_counter() - begun) * 1000

    return statistics.median(once() for _ in range(20))


def measure(client: Any, address: str) -> dict[str, Any]:
    """Of one page: medians in ms, what of it is the databases', statements, and what they read."""
    from django.db import connections
    from django.test.utils import CaptureQueriesContext

    taken: list[tuple[float, float]] = []
    asked: list[str] = []
    for _ in range(TIMES + 1):
        begun = time.perf_counter()
        with ExitStack() as stack:
            heard = [stack.enter_context(CaptureQueriesContext(one)) for one in connections.all()]
            answer = client.get(address)
        assert answer.status_code == 200, (address, answer.status_code)
        passed = (time.perf_counter() - begun) * 1000
        queries = [one for each in heard for one in each.captured_queries]
        taken.append((passed, sum(float(one["time"]) for one in queries) * 1000))
        asked = [one["sql"] for one in queries]
    wall, database = (statistics.median(column) for column in zip(*taken[1:], strict=True))
    reads = [one for one in asked if one.lstrip().startswith(("SELECT", "WITH"))]
    scanned = {name: rows for one in reads for name, rows in scans(one).items()}
    return {"ms": wall, "database_ms": database, "statements": len(reads), "scans": scanned}


def scans(statement: str) -> dict[str, int]:
    """Tables that it reads from one end to the other, with their rows where those are many."""
    from benchmarks.many_chunks import query

    [[plan]] = query(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}")
    found: dict[str, int] = {}
    nodes = [plan[0]["Plan"]]
    while nodes:
        node = nodes.pop()
        nodes += node.get("Plans", [])
        read = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
        if node["Node Type"] == "Seq Scan" and read * node["Actual Loops"] > SMALL_READ:
            found[node["Relation Name"]] = int(read * node["Actual Loops"])
    return found


def main() -> None:
    with own_database(durable=False):
        from django.conf import settings
        from django.contrib.auth.models import User
        from django.test import Client

        from integrations.models import Organisation

        settings.ALLOWED_HOSTS, settings.SECURE_SSL_REDIRECT = ["testserver"], False
        organisation, _ = Organisation.objects.get_or_create(slug="default")
        client = Client()
        client.force_login(User.objects.create_superuser("operator"))
        begun = time.perf_counter()
        known = fill(organisation)
        print(f"{ROWS:,} rows in {time.perf_counter() - begun:.0f} s", flush=True)
        bare, found = floor(), {}
        print(f"{'a bare page of the ledger':<24}{bare:>8.1f} ms")
        for name, address in pages(known).items():
            found[name] = one = measure(client, address)
            read = ", ".join(f"{table} ({rows:,})" for table, rows in one["scans"].items())
            print(
                f"{name:<24}{one['ms']:>8.1f} ms, the databases' {one['database_ms']:.1f},"
                f" {one['statements']} statements{'  READS ALL OF ' + read if read else ''}",
                flush=True,
            )
    many = [name for name, one in found.items() if one["statements"] > MOST_STATEMENTS]
    result = {
        "benchmark": "pages_of_many",
        "rows": ROWS,
        "accounts": ACCOUNTS,
        "activities": ACTIVITIES,
        "floor_ms": round(bare, 2),
        "statements": {name: one["statements"] for name, one in found.items()},
        "ms": {name: round(one["ms"], 1) for name, one in found.items()},
        "slow": [name for name, one in found.items() if one["ms"] > ENOUGH_MS],
        "scans": {name: one["scans"] for name, one in found.items() if one["scans"]},
        "many": many,
    }
    print(json.dumps(result))
    sys.exit(bool(many or result["scans"]))


if __name__ == "__main__":
    main()
