"""Several embedding models side by side: which one is searched by, and how a new one is filled.

EMBEDDING_MODEL names the model that is wanted. Until every passage has a vector of it, searches
go by the one before, and what is stored meanwhile gets vectors of both: nothing is missed.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.db import connection, transaction
from django.db.models import Max, Q
from psycopg.sql import SQL

from integrations.database.together import Read
from integrations.llm import llm
from knowledge.ingest.chunking import EMBEDDED_AT_ONCE, embedded_text
from knowledge.models import Chunk, ChunkVector, EmbeddingModel

LEASE = timedelta(minutes=2)
DELETED_AT_ONCE = 1_000

_WITHOUT = """
SELECT c.id, c.text, i.title
FROM knowledge_chunk c JOIN knowledge_item i ON i.id = c.item_id
WHERE c.id > %(after)s AND NOT EXISTS (
    SELECT FROM knowledge_chunkvector v WHERE v.chunk_id = c.id AND v.model = %(model)s)
ORDER BY c.id LIMIT %(limit)s
"""
# A passage that has gone meanwhile needs no vector; one that has one already keeps it.
_STORE = """
INSERT INTO knowledge_chunkvector (chunk_id, item_id, account_id, model, vector)
SELECT c.id, c.item_id, i.account_id, %(model)s, fresh.vector::halfvec
FROM unnest(%(ids)s::bigint[], %(vectors)s::text[]) fresh (id, vector)
JOIN knowledge_chunk c ON c.id = fresh.id
JOIN knowledge_item i ON i.id = c.item_id
ORDER BY c.id FOR KEY SHARE OF c
ON CONFLICT DO NOTHING
"""

# Asked before every search (`knowledge.ingest.write_counts`).
SEARCHED = """
SELECT name, completed_at IS NOT NULL AS is_complete FROM knowledge_embeddingmodel
ORDER BY completed_at IS NULL LIMIT 1
"""
_OF_SIZE = """
SELECT atttypmod FROM pg_attribute
WHERE attrelid = to_regclass('knowledge_chunkvector') AND attname = 'vector'
"""


@dataclass(frozen=True, kw_only=True)
class Passage:
    id: int
    embedded: str


def find_searched_model() -> str:
    """The model whose vectors searches compare; empty while the first one of a new size is being
    filled, so that no search goes by half of the vectors. One query."""
    return _read_searched().run()


def _read_searched() -> Read[str]:
    return Read(SEARCHED, [], lambda rows: name_searched(*(rows[0] if rows else (None, None))))


def name_searched(name: str | None, is_complete: bool | None) -> str:
    """The same by what SEARCHED has found."""
    if name is None:
        return llm.embedding_model_name()
    return name if is_complete else ""


def list_written_models() -> tuple[str, ...]:
    """The models that new passages get vectors of; the wanted one first. One query."""
    return read_written_models().run()


def read_written_models() -> Read[tuple[str, ...]]:
    """The same, to be run with others."""
    wanted = llm.embedding_model_name()
    return _read_searched().then(
        lambda searched: tuple(dict.fromkeys(name for name in (wanted, searched) if name))
    )


def claim(*, now: datetime) -> bool:
    """Whether the caller is to fill the wanted model now. Nobody else is, for two minutes.

    The first model of all is complete as it begins.
    """
    wanted = llm.embedding_model_name()
    if not EmbeddingModel.objects.exists() and not ChunkVector.objects.exists():
        EmbeddingModel.objects.bulk_create(
            [EmbeddingModel(name=wanted, started_at=now, completed_at=now)], ignore_conflicts=True
        )
        return False
    EmbeddingModel.objects.bulk_create(
        [EmbeddingModel(name=wanted, started_at=now)], ignore_conflicts=True
    )
    free = Q(lease_expires_at=None) | Q(lease_expires_at__lt=now)
    rows = EmbeddingModel.objects.filter(free, name=wanted, completed_at=None)
    return bool(rows.update(lease_expires_at=now + LEASE))


def fill(*, now: datetime) -> Literal["more", "complete"]:
    """Give the next passages their vectors of the wanted model; the claim is renewed.

    No transaction is open while the model is asked. Raises integrations.llm.completions.ModelError;
    then what was stored before stays.
    """
    row = EmbeddingModel.objects.get(name=llm.embedding_model_name())
    found = _without(row.name, after=row.done_up_to)
    if not found:
        # One that was written at the same time may have a smaller id: look from the start.
        found = _without(row.name, after=0)
        if not found:
            _complete(row.name, now=now)
            return "complete"
    vectors = llm.embed([passage.embedded for passage in found], payer=None, model=row.name)
    with connection.cursor() as cursor:
        cursor.execute(
            _STORE,
            {
                "model": row.name,
                "ids": [passage.id for passage in found],
                "vectors": [json.dumps(vector) for vector in vectors],
            },
        )
    EmbeddingModel.objects.filter(pk=row.pk).update(
        done_up_to=max(row.done_up_to, found[-1].id), lease_expires_at=now + LEASE
    )
    return "more"


def find_stored_size() -> int | None:
    """How many numbers a stored vector has; None where there is no table yet. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_OF_SIZE)
        row = cursor.fetchone()
    return row[0] if row else None


def resize(size: int, *, now: datetime) -> None:
    """Make room for vectors of another size. Those of the present size go, and searches go by
    words until every passage has one of the wanted model: fill it next."""
    index = next(one for one in ChunkVector._meta.indexes if one.name == "chunk_vector_in_graph")
    with transaction.atomic(), connection.schema_editor() as editor:
        EmbeddingModel.objects.all().delete()
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE knowledge_chunkvector")
            editor.remove_index(ChunkVector, index)
            cursor.execute(
                SQL(
                    "ALTER TABLE knowledge_chunkvector ALTER COLUMN vector TYPE halfvec({})"
                ).format(size)
            )
        editor.add_index(ChunkVector, index)
        EmbeddingModel.objects.create(name=llm.embedding_model_name(), started_at=now)


def count_percent(row: EmbeddingModel) -> int:
    """How far a model is filled, by the ids of passages: nothing is counted."""
    last = Chunk.objects.aggregate(last=Max("pk"))["last"]
    return 100 if row.completed_at or not last else min(99, 100 * row.done_up_to // last)


def drop(name: str) -> int:
    """Delete all vectors of a model, a thousand at a time; how many.

    Raises ValueError for the model that is searched by and for the one that is wanted.
    """
    if name in list_written_models():
        raise ValueError(f"{name} is in use")
    deleted = 0
    while ids := ChunkVector.objects.filter(model=name).values_list("pk")[:DELETED_AT_ONCE]:
        deleted += ChunkVector.objects.filter(
            pk__in=list(ids.values_list("pk", flat=True))
        ).delete()[0]
    EmbeddingModel.objects.filter(name=name).delete()
    return deleted


def _without(model: str, *, after: int) -> Sequence[Passage]:
    with connection.cursor() as cursor:
        cursor.execute(_WITHOUT, {"model": model, "after": after, "limit": EMBEDDED_AT_ONCE})
        return [
            Passage(id=id, embedded=embedded_text(title, text))
            for id, text, title in cursor.fetchall()
        ]


def _complete(name: str, *, now: datetime) -> None:
    """From now on searches go by this model. The others get no new vectors any more, so they
    start over should they be wanted again."""
    with transaction.atomic():
        rows = EmbeddingModel.objects.all()
        rows.exclude(name=name).update(completed_at=None, done_up_to=0)
        rows.filter(name=name).update(completed_at=now, lease_expires_at=None)
