"""An item that nobody has stored yet, with all that belongs to it, in one statement.

So it is there at once or not at all, and costs one way to the server and back. What is stored
already is changed step by step (`knowledge.ingest.ingest`).
"""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db import connection, transaction
from django.db.models.expressions import RawSQL

from integrations.contracts import AccountRef
from knowledge.ingest import write_counts
from knowledge.ingest.mentions import replace_mentions
from knowledge.ingest.passages import Passage, Vectors
from knowledge.models import Item, ItemFile
from knowledge.text.subjects import Subject

_COLUMNS = tuple(str(field.column) for field in Item._meta.concrete_fields)
_FILE_COLUMNS = tuple(
    str(field.column)
    for field in ItemFile._meta.concrete_fields
    if field.name not in ("id", "item")
)

_CONTENT = """
    item AS (
        INSERT INTO knowledge_item ({columns})
        SELECT {values} FROM jsonb_populate_record(NULL::knowledge_item, %s::jsonb) given
        {condition}
        ON CONFLICT (account_id, source, source_id) DO NOTHING
        RETURNING id, account_id
    ),
    files AS (
        INSERT INTO knowledge_itemfile (item_id, {file_columns})
        SELECT item.id, {file_values}
        FROM item, jsonb_populate_recordset(NULL::knowledge_itemfile, %s::jsonb) given
    ),
    chunk AS (
        INSERT INTO knowledge_chunk (item_id, position, digest, text)
        SELECT item.id, given.position, given.digest, given.text
        FROM item, jsonb_populate_recordset(NULL::knowledge_chunk, %s::jsonb) given
        RETURNING id, digest
    ),
    vectors AS (
        INSERT INTO knowledge_chunkvector (chunk_id, item_id, account_id, model, vector)
        SELECT chunk.id, item.id, item.account_id, given.model, given.vector
        FROM item, chunk
        JOIN jsonb_to_recordset(%s::jsonb) given (model text, digest text, vector halfvec)
            USING (digest)
    )"""

# Everyone whom it mentions is known, and by the name that it gives them: then nothing is to be
# done for them but to keep them from being deleted as orphans meanwhile.
_KNOWN = """
    wanted AS (
        SELECT *
        FROM jsonb_to_recordset(%s::jsonb) given (kind text, key text, role text, name text)
    ),
    known AS (
        SELECT entity.id, wanted.role
        FROM wanted JOIN knowledge_entity entity
            ON entity.organisation_id = %s AND entity.external_user_id = %s
            AND (entity.kind, entity.key) = (wanted.kind, wanted.key)
        WHERE wanted.name IN ('', entity.name) OR wanted.role <> 'sender' AND entity.name <> ''
        ORDER BY entity.id FOR KEY SHARE OF entity
    )"""
_ALL_KNOWN = "WHERE (SELECT count(*) FROM known) = (SELECT count(*) FROM wanted)"

# Both wait for the item: who is about to store the same one waits for that first.
_MENTIONS = """
    mentions AS (
        INSERT INTO knowledge_mention (account_id, item_id, entity_id, role)
        SELECT item.account_id, item.id, known.id, known.role FROM item, known
    ),
    counts AS (
        INSERT INTO knowledge_writecount (account_id, language, slot, writes)
        SELECT item.account_id, given.language, given.slot, 1
        FROM item, jsonb_to_recordset(%s::jsonb) given (language text, slot smallint)
        ON CONFLICT (account_id, language, slot)
        DO UPDATE SET writes = knowledge_writecount.writes + 1
    )"""


def store(
    row: Item,
    *,
    search: RawSQL,
    account: AccountRef,
    files: Sequence[ItemFile],
    passages: Sequence[Passage],
    vectors: Vectors,
    subjects: Sequence[Subject],
) -> bool:
    """Whether it was stored: not if there is such an item by now, and then nothing was changed.

    `row` is filled, `search` is its search column (`indexing.index`), and it is no event: times of
    events depend on others'. Call it outside of any transaction that has locked something.
    """
    content = [
        *search.params,
        json.dumps(_item(row), default=str),
        json.dumps([_columns(file, _FILE_COLUMNS) for file in files], default=str),
        json.dumps(
            [
                {"position": position, "digest": passage.digest, "text": passage.text}
                for position, passage in enumerate(passages)
            ]
        ),
        json.dumps(
            [
                {"model": model, "digest": digest, "vector": json.dumps([*vector])}
                for model, by_digest in vectors.items()
                for digest, vector in by_digest.items()
            ]
        ),
    ]
    known = [
        json.dumps([_columns(one, ("kind", "key", "role", "name")) for one in subjects]),
        account.organisation_id,
        account.external_user_id,
    ]
    counts = [
        {"language": language, "slot": slot}
        for _, language, slot in write_counts.find_counts([row])
    ]
    if _ran(_statement(search.sql, all_known=True), [*known, *content, json.dumps(counts)]):
        return True
    with transaction.atomic():
        if not _ran(_statement(search.sql, all_known=False), content):
            return False
        replace_mentions(account=account, item_id=row.id, subjects=subjects, is_new=True)
        write_counts.count_writes([row])
    return True


@cache
def _statement(search: str, *, all_known: bool) -> str:
    content = _CONTENT.format(
        columns=", ".join(_COLUMNS),
        values=", ".join(search if name == "search" else f"given.{name}" for name in _COLUMNS),
        condition=_ALL_KNOWN if all_known else "",
        file_columns=", ".join(_FILE_COLUMNS),
        file_values=", ".join(f"given.{name}" for name in _FILE_COLUMNS),
    )
    parts = [_KNOWN, content, _MENTIONS] if all_known else [content]
    return f"WITH {','.join(parts)} SELECT id FROM item"  # noqa: S608  # only constants


def _ran(statement: str, values: Sequence[Any]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone() is not None


def _item(row: Item) -> dict[str, Any]:
    return _columns(row, [name for name in _COLUMNS if name != "search"])


def _columns(row: Item | ItemFile | Subject, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
