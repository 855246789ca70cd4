"""Many chunks of many accounts for a benchmark, with vectors as the offline model makes them.

Texts are topics and sentences of words as frequent as words are that say something. The offline
embedding model adds up what it makes of words; so a chunk's vector is the sum of those of its
topic and its two sentences, at length one. There are as many topics and sentences as fit the
number of chunks, so that chunks are as much alike among a million as among ten thousand.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

OF_A_TOPIC, OF_A_SENTENCE = 50, 40  # chunks
VOCABULARY = 20_000
DAY = "timestamptz '2026-11-01' - make_interval(mins => chunk.n %% 500000)"

LOAD = f"""
CREATE TEMP TABLE fresh AS
SELECT chunk.n, md5('item ' || chunk.n)::uuid AS item_id, owner.id AS account_id,
       topic.text AS title, one.text || '. ' || two.text || '.' AS text, {DAY} AS at,
       l2_normalize(topic.vector + one.vector + two.vector) AS vector, owner.in_graph
FROM bench_chunk chunk
JOIN bench_owner owner ON owner.n = chunk.owner
JOIN bench_part topic ON topic.n = chunk.topic
JOIN bench_part one ON one.n = chunk.one
JOIN bench_part two ON two.n = chunk.two;
INSERT INTO knowledge_item (id, account_id, source, source_id, content_type, title, summary, text,
    sender_name, sender_address, identifiers, content_hash, metadata, occurred_at,
    source_version, ingested_at, languages, search)
SELECT item_id, account_id, 'gmail', n::text, 'email', title, '', text, '', '', '{{}}', '', '{{}}',
       at, 1, at, '{{}}',
       setweight(to_tsvector('simple', title), 'A') || setweight(to_tsvector('simple', text), 'C')
FROM fresh;
INSERT INTO knowledge_chunk (id, item_id, position, text, digest)
SELECT n, item_id, 0, text, md5(text) FROM fresh;
INSERT INTO knowledge_chunkvector (id, chunk_id, item_id, account_id, model, vector, in_graph)
SELECT n, n, item_id, account_id, %(model)s, vector, in_graph FROM fresh;
INSERT INTO knowledge_writecount (account_id, language, slot, writes)
SELECT account_id, 'simple', 0, count(*) FROM fresh GROUP BY account_id;
DROP TABLE fresh;
"""  # a constant


def query(statement: str, values: Any = None) -> list[Any]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall()) if cursor.description else []


def copy(table: str, rows: Iterator[tuple[Any, ...]]) -> None:
    from django.db import connection

    with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as out:
        for row in rows:
            out.write_row(row)


def vocabulary(chance: random.Random) -> Callable[[int], str]:
    """So many words at once, as frequent as words are."""
    syllables = [c + v + e for c in "bdfgklmnprst" for v in "aeiou" for e in ("", "n", "r", "s")]
    words = sorted({"".join(chance.choices(syllables, k=3)) for _ in range(VOCABULARY)})
    chance.shuffle(words)
    sums = [0.0]
    for place in range(1, len(words) + 1):
        sums.append(sums[-1] + 1 / (place + 100))
    return lambda count: " ".join(chance.choices(words, cum_weights=sums[1:], k=count))


def parts(size: int, chance: random.Random) -> list[str]:
    """Of so many chunks: topics first, then sentences, stored with their vectors."""
    from sandbox.offline_model import vectors

    some = vocabulary(chance)
    texts = [some(8) for _ in range(size // OF_A_TOPIC)]
    texts += [some(14) for _ in range(2 * size // OF_A_SENTENCE)]
    query("DROP TABLE IF EXISTS bench_part, bench_owner, bench_chunk")
    query("CREATE TABLE bench_part (n int PRIMARY KEY, text text, vector halfvec(384))")
    query("CREATE TABLE bench_owner (n int PRIMARY KEY, id uuid, in_graph bool)")
    query("CREATE TABLE bench_chunk (n int, owner int, topic int, one int, two int)")
    copy(
        "bench_part",
        ((n, text, json.dumps(vectors.embed(text))) for n, text in enumerate(texts)),
    )
    return texts


@contextmanager
def without_indexes() -> Iterator[None]:
    """First load, then index: what a big first sync does too."""
    found = query(
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename IN"
        " ('knowledge_item', 'knowledge_chunkvector') AND indexname NOT IN"
        " (SELECT conname FROM pg_constraint)"
    )
    for name, _ in found:
        query(f'DROP INDEX "{name}"')
    yield
    query("SET maintenance_work_mem = '2GB'")
    for _, definition in found:
        query(definition)


def fill(size: int, accounts: int, chance: random.Random, *, with_graph: bool = True) -> list[Any]:
    """Chunks of this many accounts; the biggest, the middle and the smallest account.

    Those of large accounts are in the graph, which a million take the best part of an hour to
    build; or, as long as no task has run, in none.
    """
    from integrations.models import Account, Organisation
    from knowledge.models import Item, LargeAccount
    from knowledge.search.queries import EXACT_VECTORS

    query(f"TRUNCATE {Item._meta.db_table}, bench_owner, bench_chunk CASCADE")
    organisation = Organisation.objects.create(slug=f"company-{size}-{accounts}", name="Company")
    owners = Account.objects.bulk_create(
        [
            Account(organisation=organisation, external_user_id=f"user-{n}", source="gmail")
            for n in range(accounts)
        ],
        batch_size=2_000,
    )
    shares = [1 / (n + 1) for n in range(accounts)]
    whose = list(range(min(accounts, size)))  # everybody has something
    whose += chance.choices(range(accounts), shares, k=size - len(whose))
    large = {n for n, count in Counter(whose).items() if with_graph and count > EXACT_VECTORS}
    LargeAccount.objects.bulk_create(LargeAccount(account_id=owners[n].id) for n in large)
    copy("bench_owner", ((n, owner.id, n in large) for n, owner in enumerate(owners)))
    topics, sentences = size // OF_A_TOPIC, 2 * size // OF_A_SENTENCE
    sentence = range(topics, topics + sentences)
    copy(
        "bench_chunk",
        (
            (n, owner, chance.randrange(topics), *chance.choices(sentence, k=2))
            for n, owner in enumerate(whose, start=1)
        ),
    )
    with without_indexes():
        for statement in filter(str.strip, LOAD.split(";")):  # one at a time is prepared
            query(statement, {"model": model()})
        for table in ("knowledge_chunk", "knowledge_chunkvector"):
            query(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {size})")
    query("VACUUM ANALYZE")
    return [owners[place].ref() for place in (0, accounts // 2, accounts - 1)]


def model() -> str:
    from integrations.llm import llm

    return llm.embedding_model_name()
