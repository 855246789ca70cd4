"""Whether the pages of a full house stay quick: many ledger rows, accounts and activities.

    make bench NAME=pages_of_many      1,000,000 rows, 10,000 accounts, 100,000 activities;
                                       ROWS, ACCOUNTS and ACTIVITIES make it fewer

Each page is asked for as the browser of an administrator of one organisation does (who asks for
more than a superuser: rights and memberships), three times after WARM ones: by then PostgreSQL has
chosen whether it plans a statement for any parameters. Of the last time the statements in both
databases are counted and explained. The floor is a bare page of the same ledger by primary key, in
the same run. The last line is JSON. What makes it fail: a page with more than 15 statements; one
whose quickest time is over 300 ms (others on the machine only add to that); one that reads a table
that grows with each mail and action from one end to the other. Tables that grow with people may be
read so, and it says how long that takes: text in the middle of 10,000 names is found in a few ms,
and an index of all their parts (pg_trgm) is not in every PostgreSQL that Remit runs on.
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
WARM, TIMES, MOST_STATEMENTS, ENOUGH_MS, SMALL_READ = 9, 3, 15, 300.0, 2_000
OF_PEOPLE = {"integrations_account", "guardrails_person"}


def fill(organisation: Any) -> dict[str, Any]:
    """The rows, and the ids of some of them. Half of the activities are mails that were read in;
    of the turns every second one is a chat."""
    from django.utils import timezone

    from agents.models import Conversation, Message, Turn
    from benchmarks import many_rows
    from benchmarks.many_chunks import query
    from guardrails.models import LearnedPattern, PatternAction, PatternEvidence, PatternHit, Person
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
    person = Person.objects.create(**of, name="Person 0", address="user-0@company.com")
    pattern = LearnedPattern.objects.create(account=account, name="News", list_id="news")
    for order, name in enumerate(("archive", "mark_read")):
        PatternAction.objects.create(pattern=pattern, order=order, action_type=name)
    at = timezone.now()
    PatternEvidence.objects.create(pattern=pattern, item_id="m", side="supporting", occurred_at=at)
    PatternHit.objects.create(
        pattern=pattern, account=account, item_id="m", subject="News", turn_id="t", at=at
    )
    people = f"'user-' || n % {ACCOUNTS}"
    past = "now() - make_interval(mins => n)"
    clone(
        account,
        ACCOUNTS - 1,
        external_user_id="'user-' || n",
        address="'user-' || n || '@company.com'",
    )
    clone(person, ACCOUNTS - 1, name="'Person ' || n", address="'user-' || n || '@company.com'")
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
    other = Account.objects.get(organisation=organisation, external_user_id="user-77")
    return {
        "account": account.id,
        "other": other.id,
        "chat": chat.id,
        "delivery": delivery.id,
        "pattern": pattern.id,
    }


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
    deliveries = "/admin/integrations/delivery/"
    return {
        "activity": "/admin/",
        "activity of words": "/admin/?words=news",
        "ledger": ledger,
        "ledger, of a user": f"{ledger}?on_behalf_of=maya",
        "ledger, refused": f"{ledger}?status=blocked",
        "ledger, begun": f"{ledger}?status=pending",
        "ledger, clocks apart": f"{ledger}?clocks=apart",
        "ledger, by words": f"{ledger}?q=send_email",
        "ledger, by a person": f"{ledger}?q=user-77",
        "ledger, by a subject": f"{ledger}?q=Quarterly%20News",
        "ledger, refused, by words": f"{ledger}?q=refused%20send_email",
        "ledger, nothing": f"{ledger}?q=zebra",
        "held sends by words": "/admin/guardrails/heldsend/?q=Quarterly%20News",
        "requests by words": "/admin/guardrails/changerequest/?q=Quarterly%20News",
        "turns": turn,
        "one turn": f"{turn}{known['chat']}/change/",
        "accounts": "/admin/integrations/account/",
        "accounts by address": "/admin/integrations/account/?q=user-77%40company.com",
        "one account": f"/admin/integrations/account/{known['account']}/change/",
        "deliveries": deliveries,
        "deliveries of one": f"{deliveries}?account__id__exact={known['account']}",
        "deliveries of another": f"{deliveries}?account__id__exact={known['other']}",
        "approvals": "/admin/guardrails/approval/",
        "found by words": "/admin/find/?q=user-77",
        "console": "/console/?user=user-0",
        "console of the last": f"/console/?user=user-{ACCOUNTS - 1}",
        "its approvals": "/console/approvals?user=user-0",
        "its drafts": "/console/drafts?user=user-0",
        "its patterns": "/console/patterns?user=user-0",
        "one pattern": f"/admin/guardrails/learnedpattern/{known['pattern']}/change/",
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
    """Of one page: medians in ms, what of it is the databases', the quickest time, statements, and
    what they read."""
    from django.db import connections
    from django.test.utils import CaptureQueriesContext

    taken: list[tuple[float, float]] = []
    asked: list[str] = []
    for _ in range(WARM + TIMES):
        begun = time.perf_counter()
        with ExitStack() as stack:
            heard = [stack.enter_context(CaptureQueriesContext(one)) for one in connections.all()]
            answer = client.get(address)
        assert answer.status_code == 200, (address, answer.status_code)
        passed = (time.perf_counter() - begun) * 1000
        queries = [one for each in heard for one in each.captured_queries]
        taken.append((passed, sum(float(one["time"]) for one in queries) * 1000))
        asked = [one["sql"] for one in queries]
    counted = taken[WARM:]
    wall, database = (statistics.median(column) for column in zip(*counted, strict=True))
    reads = [one for one in asked if one.lstrip().startswith(("SELECT", "WITH"))]
    return {
        "ms": wall,
        "database_ms": database,
        "quickest_ms": min(counted)[0],
        "statements": len(reads),
        "scans": {name: read for one in reads for name, read in scans(one).items()},
    }


def scans(statement: str) -> dict[str, tuple[int, float]]:
    """Tables that it reads from one end to the other, with their rows, where those are many, and
    ms."""
    from benchmarks.many_chunks import query

    [[plan]] = query(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}")
    found: dict[str, tuple[int, float]] = {}
    nodes = [plan[0]["Plan"]]
    while nodes:
        node = nodes.pop()
        nodes += node.get("Plans", [])
        times = node["Actual Loops"]
        read = times * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
        if node["Node Type"] == "Seq Scan" and read > SMALL_READ:
            found[node["Relation Name"]] = int(read), round(times * node["Actual Total Time"], 1)
    return found


def main() -> None:
    with own_database(durable=False):
        from django.conf import settings
        from django.contrib.auth.models import Group, User
        from django.test import Client

        from agents.office.roles import make_roles
        from integrations.models import Membership, Organisation

        settings.ALLOWED_HOSTS, settings.SECURE_SSL_REDIRECT = ["testserver"], False
        organisation, _ = Organisation.objects.get_or_create(slug="default")
        client = Client()
        make_roles()
        user = User.objects.create_user("administrator", is_staff=True)
        user.groups.set(Group.objects.filter(name__in=["Administrator"]))
        Membership.objects.create(user=user, organisation=organisation)
        client.force_login(user)
        begun = time.perf_counter()
        known = fill(organisation)
        print(f"{ROWS:,} rows in {time.perf_counter() - begun:.0f} s", flush=True)
        bare, found = floor(), {}
        print(f"{'a bare page of the ledger':<24}{bare:>8.1f} ms")
        for name, address in pages(known).items():
            found[name] = one = measure(client, address)
            read = ", ".join(
                f"{table} ({rows:,} in {took} ms)" for table, (rows, took) in one["scans"].items()
            )
            print(
                f"{name:<24}{one['ms']:>8.1f} ms, the databases' {one['database_ms']:.1f},"
                f" {one['statements']} statements{'  READS ALL OF ' + read if read else ''}",
                flush=True,
            )
    many = [name for name, one in found.items() if one["statements"] > MOST_STATEMENTS]
    slow = [name for name, one in found.items() if one["quickest_ms"] > ENOUGH_MS]
    big = [name for name, one in found.items() if one["scans"].keys() - OF_PEOPLE]
    result = {
        "benchmark": "pages_of_many",
        "rows": ROWS,
        "accounts": ACCOUNTS,
        "activities": ACTIVITIES,
        "floor_ms": round(bare, 2),
        "statements": {name: one["statements"] for name, one in found.items()},
        "ms": {name: round(one["ms"], 1) for name, one in found.items()},
        "slow": slow,
        "scans": {name: one["scans"] for name, one in found.items() if one["scans"]},
        "big_scans": big,
        "many": many,
    }
    print(json.dumps(result))
    sys.exit(bool(many or slow or big))


if __name__ == "__main__":
    main()
