"""An item that nobody has stored yet, with all that belongs to it, in one statement.

So it is there at once or not at all, and costs one way to the server and back. What is stored
already is changed step by step (`knowledge.ingest.ingest`).
"""

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cache
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models.expressions import RawSQL

from integrations.contracts import AccountRef
from integrations.llm import metering
from knowledge.ingest import write_counts
from knowledge.ingest.mentions import replace_mentions
from knowledge.ingest.passages import Passage, Vectors
from knowledge.models import Item, ItemFile
from knowledge.text.subjects import Subject, words

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

# What models used for it is spent, whether or not there is such an item by now.
_CALLS = f"""
    model_calls AS ({metering.RECORD_IN_PLACE})"""

# Everyone whom it mentions is known, by the name that it gives them, or is new: then nothing is to
# be done for the first but to keep them from being deleted as orphans meanwhile, and the others are
# made. They are locked in the order in which others lock them.
_PEOPLE = """
    wanted AS (
        SELECT * FROM jsonb_to_recordset(%s::jsonb) given (
            kind text, key text, role text, name text, address text, words text[]
        )
    ),
    owner AS (SELECT %s::uuid AS organisation_id, %s::text AS external_user_id),
    known AS (
        SELECT entity.id, wanted.role
        FROM wanted, owner JOIN knowledge_entity entity USING (organisation_id, external_user_id)
        WHERE (entity.kind, entity.key) = (wanted.kind, wanted.key)
            AND (wanted.name IN ('', entity.name)
                OR wanted.role <> 'sender' AND entity.name <> '')
        ORDER BY entity.id FOR KEY SHARE OF entity
    ),
    missing AS (
        SELECT owner.*, wanted.* FROM wanted, owner WHERE NOT EXISTS (
            SELECT FROM knowledge_entity entity
            WHERE entity.organisation_id = owner.organisation_id
                AND entity.external_user_id = owner.external_user_id
                AND (entity.kind, entity.key) = (wanted.kind, wanted.key)
        )
    ),
    made AS (
        INSERT INTO knowledge_entity (
            organisation_id, external_user_id, kind, name, address, key, words
        )
        SELECT organisation_id, external_user_id, kind, name, address, key, words
        FROM missing
        WHERE (SELECT count(*) FROM wanted)
                = (SELECT count(*) FROM known) + (SELECT count(*) FROM missing)
            AND NOT EXISTS (
                SELECT FROM knowledge_item
                WHERE (account_id, source, source_id) = (%s, %s, %s)
            )
        ORDER BY kind, key
        ON CONFLICT DO NOTHING
        RETURNING id, kind, key
    ),
    mentioned AS (
        SELECT id, role FROM known
        UNION ALL SELECT made.id, wanted.role FROM made JOIN wanted USING (kind, key)
    )"""
_ALL_THERE = "WHERE (SELECT count(*) FROM mentioned) = (SELECT count(*) FROM wanted)"

# Both wait for the item: who is about to store the same one waits for that first.
_MENTIONS = """
    mentions AS (
        INSERT INTO knowledge_mention (account_id, item_id, entity_id, role)
        SELECT item.account_id, item.id, mentioned.id, mentioned.role FROM item, mentioned
    ),
    counts AS (
        INSERT INTO knowledge_writecount (account_id, language, slot, writes)
        SELECT item.account_id, given.language, given.slot, 1
        FROM item, jsonb_to_recordset(%s::jsonb) given (language text, slot smallint)
        ON CONFLICT (account_id, language, slot)
        DO UPDATE SET writes = knowledge_writecount.writes + 1
    )"""


class Beside(NamedTuple):
    """A statement that is part of the one that stores a new item, where it does: `{condition}` in
    it stands for that. It returns what it made."""

    statement: str
    values: Sequence[Any]


NOTHING = Beside("SELECT WHERE FALSE", ())


class Stored(NamedTuple):
    """A new item, and whether what was to come beside it was made."""

    has_beside: bool


def store(
    row: Item,
    *,
    search: RawSQL,
    account: AccountRef,
    files: Sequence[ItemFile],
    passages: Sequence[Passage],
    vectors: Vectors,
    subjects: Sequence[Subject],
    calls: metering.Calls,
    beside: Callable[[], Beside | None] | None = None,
) -> Stored | None:
    """None if there is such an item by now: then nothing was changed. The calls of models for it
    are written down with it, where that takes no second statement. `beside` may read, in the
    transaction in which the item is stored, and is asked for each try.

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
    people = [
        json.dumps([_subject(one) for one in subjects]),
        *(account.organisation_id, account.external_user_id),
        *(row.account_id, row.source, row.source_id),
    ]
    counts = [
        {"language": language, "slot": slot}
        for _, language, slot in write_counts.find_counts([row])
    ]
    # Of one who is mentioned twice it takes more to know which name counts.
    simple = len({(one.kind, one.key) for one in subjects}) == len(subjects)
    if simple:
        with transaction.atomic() if beside else nullcontext():
            also, values = (beside and beside()) or NOTHING
            at_once = _statement(search.sql, all_there=True, beside=also)
            stored = _ran(at_once, [calls.dump(), *people, *content, json.dumps(counts), *values])
        calls.forget()
        if stored:
            return stored
    with transaction.atomic():
        also, values = (beside and beside()) or NOTHING
        alone = _statement(search.sql, all_there=False, beside=also)
        stored = _ran(alone, [*content, *values])
        if stored is None:
            return None
        replace_mentions(account=account, item_id=row.id, subjects=subjects, is_new=True)
        write_counts.count_writes([row])
    return stored


@cache
def _statement(search: str, *, all_there: bool, beside: str) -> str:
    content = _CONTENT.format(
        columns=", ".join(_COLUMNS),
        values=", ".join(search if name == "search" else f"given.{name}" for name in _COLUMNS),
        condition=_ALL_THERE if all_there else "",
        file_columns=", ".join(_FILE_COLUMNS),
        file_values=", ".join(f"given.{name}" for name in _FILE_COLUMNS),
    )
    also = beside.format(condition="WHERE EXISTS (SELECT FROM item)")
    parts = [_CALLS, _PEOPLE, content, _MENTIONS] if all_there else [content]
    return f"""
        WITH {",".join(parts)}, beside AS ({also})
        SELECT EXISTS (SELECT FROM beside) FROM item"""  # noqa: S608  # only constants


def _ran(statement: str, values: Sequence[Any]) -> Stored | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row = cursor.fetchone()
    return Stored(*row) if row else None


def _item(row: Item) -> dict[str, Any]:
    return _columns(row, [name for name in _COLUMNS if name != "search"])


def _subject(subject: Subject) -> dict[str, Any]:
    columns = ("kind", "key", "role", "name", "address")
    found = {name: getattr(subject, name) for name in columns}
    return found | {"words": list(dict.fromkeys(words(subject.name)))}


def _columns(row: Item | ItemFile, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
