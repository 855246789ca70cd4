"""Whether the pages of an account of a million items stay fast, and count and scan nothing.

    make bench NAME=pages           1,000,000 items; ITEMS="10000" makes it fewer

One account has them all but 1,000, which are another's, among the oldest. Each page is asked for
as an operator's browser does, five times after a first one; its statements are then explained.
The floor is a bare page of the same table by primary key, in the same run. The last line is JSON.
"""

import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path

ITEMS = int(os.environ.get("ITEMS", "1000000"))
SMALL, TIMES, ENOUGH_MS = 1_000, 5, 200.0
BIG = ("knowledge_item", "knowledge_entity", "knowledge_mention", "integrations_delivery")
# Word `often` is in every item, `some7` in one of 1,000, `once7` in one.
FILL = """
INSERT INTO knowledge_item (id, account_id, source, source_id, content_type, title, summary, text,
    sender_name, sender_address, identifiers, content_hash, metadata, occurred_at,
    source_version, ingested_at, languages, search)
SELECT md5('item ' || n)::uuid, CASE WHEN n <= %(small)s THEN %(other)s ELSE %(owner)s END::uuid,
    CASE WHEN n <= %(small)s THEN 'gdrive' ELSE 'gmail' END, 'id-' || n,
    CASE WHEN n <= %(small)s THEN 'document' ELSE 'email' END, 'Item ' || n, 'A summary.',
    'often some' || n %% 1000 || ' once' || n, 'Ann', 'ann@client.com',
    ARRAY['id-' || n, 'ann@client.com'], '', '{}',
    timestamptz '2020-01-01' + make_interval(mins => n), 1, now(), '{}',
    to_tsvector('simple', 'often some' || n %% 1000 || ' once' || n)
FROM generate_series(1, %(items)s) n;
INSERT INTO knowledge_entity (organisation_id, external_user_id, kind, name, address, key, words)
SELECT %(organisation)s, 'maya', 'person', 'Person ' || n, 'p' || n || '@x.com', 'p' || n, '{}'
FROM generate_series(1, %(items)s / 10) n;
INSERT INTO knowledge_mention (account_id, item_id, entity_id, role)
SELECT %(owner)s, md5('item ' || n)::uuid, e.id, 'sender'
FROM generate_series(1, %(items)s, 10) n JOIN LATERAL
    (SELECT min(id) + n %% (%(items)s / 10) AS id FROM knowledge_entity) e ON true;
INSERT INTO integrations_delivery (id, organisation_id, account_id, webhook_id, source, source_id,
    kind, body, state, reason, attempts, received_at)
SELECT md5('delivery ' || n)::uuid, %(organisation)s, %(owner)s, 'msg-' || n, 'gmail', 'id-' || n,
    'created', '{}', CASE WHEN n %% 100000 = 0 THEN 'dead' ELSE 'processed' END, '', 1,
    timestamptz '2020-01-01' + make_interval(mins => n)
FROM generate_series(1, %(items)s) n;
"""


def fill() -> dict[str, Any]:
    """The rows, and the values that pages are asked for with."""
    from django.db import connection

    from benchmarks.many_chunks import query, without_indexes
    from integrations.models import Account, Organisation

    organisation = Organisation.objects.get_or_create(slug="default", defaults={"name": "A"})[0]
    owner, other = (
        Account.objects.create(organisation=organisation, external_user_id="maya", source=source)
        for source in ("gmail", "gdrive")
    )
    with without_indexes(), connection.cursor() as cursor:
        ids = {"owner": owner.pk, "other": other.pk, "organisation": organisation.pk}
        for statement in FILL.split(";\n")[:-1]:
            cursor.execute(statement, {"items": ITEMS, "small": min(SMALL, ITEMS // 2), **ids})
    query("VACUUM ANALYZE")
    at = [int(ITEMS * share) for share in (0.5, 0.01)]
    middle, deep = query("SELECT md5('item ' || n)::uuid::text FROM unnest(%s) n", [at])
    return {"owner": owner.pk, "other": other.pk, "middle": middle[0], "deep": deep[0]}


def pages(known: dict[str, Any]) -> dict[str, str]:
    items, deliveries = "/admin/knowledge/item/", "/admin/integrations/delivery/"
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        "items": (items, {}),
        "in the middle": (items, {"before": known["middle"]}),
        "near the end": (items, {"before": known["deep"]}),
        "of a source": (items, {"source__exact": "gmail"}),
        "of a source, in the middle": (
            items,
            {"source__exact": "gmail", "before": known["middle"]},
        ),
        "of a small source": (items, {"source__exact": "gdrive"}),
        "of the account": (items, {"account__id__exact": known["owner"]}),
        "of a small account": (items, {"account__id__exact": known["other"]}),
        "since a day": (
            items,
            {
                "occurred_at__gte": "2021-01-01 00:00:00+00:00",
                "occurred_at__lt": "2021-01-02 00:00:00+00:00",
            },
        ),
        "with a word in all": (items, {"q": "often"}),
        "with a word in all, in the middle": (items, {"q": "often", "before": known["middle"]}),
        "with a word in some": (items, {"q": "some7"}),
        "with a word in one": (items, {"q": f"once{ITEMS // 2}"}),
        "with two words": (items, {"q": "often some7"}),
        "with no such word": (items, {"q": "submarine"}),
        "with an id": (items, {"q": f"id-{ITEMS // 3}"}),
        "with everybody's address": (items, {"q": "ann@client.com"}),
        "entities": ("/admin/knowledge/entity/", {}),
        "entities by name": ("/admin/knowledge/entity/", {"q": "Person 77"}),
        "deliveries": (deliveries, {}),
        "dead deliveries": (deliveries, {"state__exact": "dead"}),
        "syncs": ("/admin/knowledge/syncrun/", {}),
        "accounting of a week": ("/admin/knowledge/syncrun/accounting/", {"days": 7}),
        "activity": ("/admin/", {}),
        "dashboard": ("/admin/agents/turn/dashboard/", {}),
        "one item": (f"/admin/knowledge/item/{known['middle']}/change/", {}),
    }
    return {name: f"{path}?{urlencode(query)}" for name, (path, query) in asked.items()}


def floor() -> float:
    """Milliseconds of a bare page by primary key."""
    from benchmarks.many_chunks import query

    def once() -> float:
        begun = time.perf_counter()
        query("SELECT id, title, occurred_at FROM knowledge_item ORDER BY id LIMIT 101")
        return (time.perf_counter() - begun) * 1000

    return statistics.median(once() for _ in range(20))


def measured(client: Any, address: str) -> dict[str, Any]:
    """Medians: `ms` until the page is there, `cpu_ms` of them our own work, `database_ms` its."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    taken: list[tuple[float, float, float]] = []
    client.get(address)
    for _ in range(TIMES):
        begun, worked = time.perf_counter(), time.process_time()
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(address)
        assert answer.status_code == 200, (address, answer.status_code)
        passed = time.perf_counter() - begun, time.process_time() - worked
        asked = list(queries.captured_queries)
        taken.append((*passed, sum(float(query["time"]) for query in asked)))
    wall, cpu, database = (statistics.median(column) * 1000 for column in zip(*taken, strict=True))
    scanned, settings = set(), ""
    for query in asked:
        scanned.update(scans(query["sql"], settings))
        settings = query["sql"] if query["sql"].startswith("SET LOCAL") else ""
    return {"ms": wall, "cpu_ms": cpu, "database_ms": database, "scans": sorted(scanned)}


def scans(statement: str, settings: str) -> list[str]:
    """The big tables that it reads from one end to the other, under what was set for it."""
    from django.db import transaction

    from benchmarks.many_chunks import query

    if not statement.startswith("SELECT") or not any(table in statement for table in BIG):
        return []
    with transaction.atomic():
        if settings:
            query(settings)
        [[plan]] = query(f"EXPLAIN (FORMAT JSON) {statement}".replace("%", "%%"))
    found, nodes = [], [plan[0]["Plan"]]
    while nodes:
        node = nodes.pop()
        nodes += node.get("Plans", [])
        if node["Node Type"] == "Seq Scan" and node["Relation Name"] in BIG:
            found.append(node["Relation Name"])
    return found


def main() -> None:
    with own_database():
        from django.conf import settings
        from django.contrib.auth.models import User
        from django.test import Client

        settings.ALLOWED_HOSTS = ["testserver"]
        settings.SECURE_SSL_REDIRECT = False
        client = Client()
        client.force_login(User.objects.create_superuser("operator"))
        begun = time.perf_counter()
        known = fill()
        print(f"{ITEMS:,} items in {time.perf_counter() - begun:.0f} s", flush=True)
        bare = floor()
        print(f"{'a bare page by primary key':<36}{bare:>9.1f} ms")
        found = {}
        for name, address in pages(known).items():
            found[name] = one = measured(client, address)
            print(
                f"{name:<36}{one['ms']:>9.1f} ms, our own work {one['cpu_ms']:.1f},"
                f" the database's {one['database_ms']:.1f}"
                f"{'  SCANS ' + ', '.join(one['scans']) if one['scans'] else ''}",
                flush=True,
            )
    result = {
        "benchmark": "pages",
        "items": ITEMS,
        "floor_ms": round(bare, 2),
        "slowest_ms": round(max(one["database_ms"] for one in found.values()), 1),
        "ratio": {name: round(one["database_ms"] / bare, 1) for name, one in found.items()},
        "scans": {name: one["scans"] for name, one in found.items() if one["scans"]},
        "slow": [
            name for name, one in found.items() if one["cpu_ms"] + one["database_ms"] > ENOUGH_MS
        ],
    }
    print(json.dumps(result))
    sys.exit(bool(result["scans"]))


if __name__ == "__main__":
    main()
