"""What a search costs and whether it finds what an exact search finds.

    make bench NAME=retrieval

10,000 and 100,000 chunks, each in 1, 100 and 10,000 accounts; CHUNKS="1000000" adds or names
other sizes, ACCOUNTS="1 100" other numbers. ONLY="writing" measures no searches: then no graph is
built, which takes the best part of an hour for a million chunks and which storing does not touch.
Accounts are of very different sizes (the n-th has 1/n of the first), so in every cell questions are
put to the biggest, the middle and the smallest one, a third each.

Vectors are what the offline embedding model (384 dimensions) makes of texts: a chunk is of
one topic and two sentences, of words as frequent as words are that say something (Zipf, without
the first hundred); 50 chunks share a topic and 40 a sentence, however many there are. That model
adds up what it makes of words, so a chunk's vector is the sum of the vectors of its three parts,
at length one. Topics do not follow accounts: a small account's chunks lie among everybody's.

Reported for each cell, all from the same run:

- recall: of the ten nearest items an exact search of the account finds, how many ours finds, by
  vectors alone (the words of the question occur nowhere)
- the median of a whole search by words and vectors, through
  `knowledge.search.retrieval.search`. The question's vector is given: a model's time is not ours
- to_bare: against the same statements sent through a bare cursor, in turns
- to_halves: against two plain statements, the nearest vectors and the best words, that fuse,
  count and read nothing; the price of all the rest. to_halves_cpu: the same by CPU, the server's
  backend and this process together, which other work beside it changes less
- items a second through `knowledge.ingest.ingest.ingest`, the model's answer being given, and
  against bare inserts of the same rows, in turns, all indexes living; and what one costs of CPU,
  the server's and ours together

The last line is JSON. A database of its own is made, and removed at the end.
"""

import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import on_cpu, own_database  # after the path
from benchmarks.many_chunks import fill, model, parts, query

SIZES = (10_000, 100_000)
ACCOUNTS = (1, 100, 10_000)
QUESTIONS = 10  # to each of three accounts
WRITES = 100
NOWHERE = "qqxzv"  # a word of no text
EXACT = """
SELECT item_id FROM knowledge_chunkvector
WHERE account_id = %(account)s AND model = %(model)s
ORDER BY (vector <=> %(vector)s::halfvec) + 0, item_id LIMIT 10
"""
NEAREST = """
SELECT item_id, vector <=> %(vector)s::halfvec FROM knowledge_chunkvector
WHERE account_id = %(account)s AND model = %(model)s {exactly}
LIMIT 100
"""
FROM_GRAPH = "AND in_graph ORDER BY vector <=> %(vector)s::halfvec"
EXACTLY = "ORDER BY (vector <=> %(vector)s::halfvec) + 0"
BEST_WORDS = """
SELECT id, ts_rank(search, to_tsquery('simple', %(any_term)s), 1) AS rank FROM (
    SELECT id, search FROM knowledge_item
    WHERE account_id = %(account)s AND deleted_at IS NULL
      AND search @@ to_tsquery('simple', %(any_term)s)
    ORDER BY occurred_at DESC LIMIT 500) newest
ORDER BY rank DESC LIMIT 100
"""


def questions(account: Any, chance: random.Random) -> list[tuple[str, list[float]]]:
    """A few words of a topic and of a sentence of this account each."""
    from sandbox.offline_model import vectors

    chunks = query(
        "SELECT item.title, chunk.text FROM knowledge_item item"
        " JOIN knowledge_chunk chunk ON chunk.item_id = item.id"
        " WHERE item.account_id = %s ORDER BY md5(item.id::text) LIMIT %s",
        [account.id, QUESTIONS],
    )
    asked = []
    for topic, text in chunks:
        words = [*chance.sample(topic.split(), 4), *chance.sample(text.split(), 3)]
        question = " ".join(words).replace(".", "")
        asked.append((question, vectors.embed(question)))
    return asked


def searched(account: Any, text: str, vector: list[float]) -> Any:
    from django.utils import timezone

    from integrations.llm import llm
    from knowledge.contracts import SearchRequest
    from knowledge.search import retrieval

    llm.embed = lambda *_, **__: [vector]  # a mock would cost a tenth of a small search
    request = SearchRequest(account_ids=(account.id,), query=text)
    return retrieval.search(request, now=timezone.now())


def statements_of(account: Any, text: str, vector: list[float]) -> list[tuple[str, Any]]:
    """What a search sends, with its values, to be sent again without it."""
    from django.db import connection

    sent: list[tuple[str, Any]] = []

    def noted(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        sent.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(noted):
        searched(account, text, vector)
    return sent


def bare(statements: Sequence[tuple[str, Any]]) -> Callable[[], None]:
    from django.db import connection
    from psycopg import ClientCursor

    raw = connection.connection

    def send() -> None:
        with raw.transaction(), ClientCursor(raw) as cursor:
            for sql, values in statements:
                cursor.execute(sql, values)
                cursor.fetchall()

    return send


def halves(account: Any, text: str, vector: list[float]) -> list[tuple[str, Any]]:
    from knowledge.models import LargeAccount

    large = LargeAccount.objects.filter(account_id=account.id).exists()
    values = {
        "account": account.id,
        "model": model(),
        "vector": json.dumps(vector),
        "any_term": " | ".join(dict.fromkeys(text.split())),
    }
    settle = "SELECT set_config('hnsw.ef_search', '400', true)"
    nearest = NEAREST.format(exactly=FROM_GRAPH if large else EXACTLY)
    return [(settle, None), (nearest, values), (BEST_WORDS, values)]


def milliseconds(
    acts: dict[str, Callable[[], object]], times: int = 5
) -> dict[str, list[tuple[float, float]]]:
    """By the clock and by CPU; each in turns, after one turn that is not counted."""
    from django.db import connection

    server = connection.connection.info.backend_pid
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in acts}
    for turn in range(times + 1):
        for name, act in acts.items():
            used = on_cpu(server) + time.process_time()
            begun = time.perf_counter()
            act()
            clock = time.perf_counter() - begun
            cpu = time.process_time() + on_cpu(server) - used
            if turn:
                taken[name].append((clock * 1000, cpu * 1000))
    return taken


def recall(account: Any, vector: list[float]) -> float:
    from knowledge.search.queries import MAX_DISTANCE

    values = {"account": account.id, "model": model(), "vector": json.dumps(vector)}
    near = query(
        EXACT.replace("SELECT item_id", "SELECT item_id, vector <=> %(vector)s::halfvec"), values
    )
    wanted = {item for item, distance in near if distance <= MAX_DISTANCE}
    found = {item.id for item in searched(account, NOWHERE, vector).items}
    return len(wanted & found) / len(wanted) if wanted else 1.0


def searching(accounts: Sequence[Any], chance: random.Random) -> dict[str, Any]:
    taken: dict[str, list[tuple[float, float]]] = {"ours": [], "bare": [], "halves": []}
    recalls: list[list[float]] = []
    for account in accounts:
        recalls.append([])
        for text, vector in questions(account, chance):
            recalls[-1].append(recall(account, vector))
            one = milliseconds(
                {
                    "ours": lambda a=account, t=text, v=vector: searched(a, t, v),  # type: ignore[misc]
                    "bare": bare(statements_of(account, text, vector)),
                    "halves": bare(halves(account, text, vector)),
                }
            )
            for name, values in one.items():
                taken[name] += values
    p50, p50_cpu = (
        {name: statistics.median(one[place] for one in values) for name, values in taken.items()}
        for place in (0, 1)
    )
    return {
        "recall": round(statistics.mean(value for one in recalls for value in one), 3),
        "least_recall_of_an_account": round(min(statistics.mean(one) for one in recalls), 3),
        "p50_ms": round(p50["ours"], 2),
        "p95_ms": round(statistics.quantiles([clock for clock, _ in taken["ours"]], n=20)[18], 2),
        "to_bare": round(p50["ours"] / p50["bare"], 2),
        "to_halves": round(p50["ours"] / p50["halves"], 2),
        "cpu_ms": round(p50_cpu["ours"], 2),
        "to_halves_cpu": round(p50_cpu["ours"] / p50_cpu["halves"], 2),
    }


def writing(account: Any, texts: Sequence[str], chance: random.Random) -> dict[str, float]:
    """New items through the product, and the same rows through bare inserts, in turns."""
    from django.db import connection
    from django.utils import timezone

    from integrations.contracts import Email
    from integrations.llm import llm
    from knowledge.ingest.ingest import ingest
    from sandbox.offline_model import vectors

    ours, plain, cpu = 0.0, 0.0, 0.0
    connection.ensure_connection()
    server = connection.connection.info.backend_pid
    answer = {"summary": "", "entities": []}
    for number in range(WRITES):
        topic, one, two = (chance.choice(texts) for _ in range(3))
        text, vector = f"{one}. {two}.", vectors.embed(f"{topic} {one} {two}")
        mail = Email.model_validate(
            {
                "id": f"new-{number}",
                "from": "ada@client.com",
                "to": ["maya@company.com"],
                "subject": topic,
                "body_text": text,
                "date": timezone.now(),
            }
        )
        begun, used = time.perf_counter(), on_cpu(server) + time.process_time()
        with (
            mock.patch.object(llm, "complete_json", return_value=answer),
            mock.patch.object(llm, "embed", return_value=[vector]),
        ):
            ingest(account=account, source_id=mail.id, item=mail, now=timezone.now())
        between = time.perf_counter()
        cpu += on_cpu(server) + time.process_time() - used
        insert(account, topic, text, json.dumps(vector), number)
        ours += between - begun
        plain += time.perf_counter() - between
    return {
        "writes_a_second": round(WRITES / ours, 1),
        "write_cpu_ms": round(cpu / WRITES * 1000, 2),
        "writes_to_bare": round(ours / plain, 2),
    }


INSERT = """
WITH item AS (
    INSERT INTO knowledge_item (id, account_id, source, source_id, content_type, title, summary,
        text, sender_name, sender_address, identifiers, content_hash, metadata, occurred_at,
        source_version, ingested_at, languages, search)
    VALUES (gen_random_uuid(), %(account)s, 'gmail', %(id)s, 'email', %(title)s::text, '',
        %(text)s::text, '', '', '{}', '', '{}', now(), 1, now(), '{}',
        setweight(to_tsvector('simple', %(title)s::text), 'A')
        || setweight(to_tsvector('simple', %(text)s::text), 'C')) RETURNING id),
chunk AS (
    INSERT INTO knowledge_chunk (item_id, position, text, digest)
    SELECT id, 0, %(text)s::text, '' FROM item RETURNING id, item_id)
INSERT INTO knowledge_chunkvector (chunk_id, item_id, account_id, model, vector)
SELECT id, item_id, %(account)s, %(model)s, %(vector)s::halfvec FROM chunk
"""


def insert(account: Any, title: str, text: str, vector: str, number: int) -> None:
    values = {"account": account.id, "id": f"bare-{number}", "title": title, "text": text}
    query(INSERT, values | {"model": model(), "vector": vector})


def numbers(name: str, default: Sequence[int]) -> list[int]:
    return [int(word) for word in os.environ.get(name, "").split()] or list(default)


def measure() -> dict[str, Any]:
    chance, searches = random.Random(5), os.environ.get("ONLY") != "writing"
    cells: dict[str, Any] = {}
    for size in numbers("CHUNKS", SIZES):
        texts = parts(size, chance)
        for count in numbers("ACCOUNTS", ACCOUNTS):
            begun = time.perf_counter()
            accounts = fill(size, count, chance, with_graph=searches)
            cell: dict[str, Any] = {"filled_s": round(time.perf_counter() - begun)}
            cell |= searching(accounts, chance) if searches else {}
            cell |= writing(accounts[0], texts, chance)
            cells[f"{size}/{count}"] = cell
            print(f"{size:9,} chunks, {count:6,} accounts: {cell}", flush=True)
    if not searches:
        return {"cells": cells}
    return {
        "cells": cells,
        "least_recall": min(cell["recall"] for cell in cells.values()),
        "worst_to_bare": max(cell["to_bare"] for cell in cells.values()),
        "worst_to_halves": max(cell["to_halves"] for cell in cells.values()),
        "worst_to_halves_cpu": max(cell["to_halves_cpu"] for cell in cells.values()),
    }


def main() -> None:
    os.environ["SEARCH_CACHE_SECONDS"] = "0"
    with own_database():
        print(json.dumps(measure()))


if __name__ == "__main__":
    main()
