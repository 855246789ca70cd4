"""What agents may know: search over the items of some accounts, and items by their ids."""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import router
from django.db.models import Q, QuerySet

from integrations.database.pipelines import fetch_all
from integrations.llm import llm
from integrations.llm.completions import ModelError, Payer
from integrations.llm.deadline import Deadline
from knowledge.contracts import FoundEntity, FoundItem, SearchRequest, SearchResult
from knowledge.ingest import write_counts
from knowledge.ingest.write_counts import WriteCounts
from knowledge.models import Item
from knowledge.search import cache, graph, newest, statements
from knowledge.search.queries import (
    Query,
    build_parameters,
    name_values,
    parse_query,
    write_arrays,
)
from knowledge.search.selection import MOST_ITEMS, put_best_first
from knowledge.search.statements import Graph, Shape
from knowledge.text.highlights import snippet

log = logging.getLogger(__name__)

ITEM_CHARS = 8_000
VECTOR_SECONDS = 3.0  # somebody waits for what is found, and words find most of it
NOTHING = SearchResult(items=(), entities=())
_PLANNING = """
SELECT set_config('jit', 'off', true),
       set_config('random_page_cost', '1.1', true),  -- what is asked often is in memory
       set_config('max_parallel_workers_per_gather', '0', true)
"""
# One plan that is good for any values is used again by the next search. No table is read as a
# whole for it, however large a part of it the accounts seem to be.
_PLANNED_ONCE = f"""{_PLANNING},
       set_config('plan_cache_mode', 'force_generic_plan', true),
       set_config('enable_seqscan', 'off', true)
"""
# The other plan goes by how much there is of each word.
_PLANNED_ANEW = f"""{_PLANNING},
       set_config('plan_cache_mode', 'force_custom_plan', true),
       set_config('hnsw.ef_search', '400', true),
       -- The statement sorts. In strict order what is found late would be dropped.
       set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('hnsw.max_scan_tuples', '100000', true),
       set_config('hnsw.scan_mem_multiplier', '4', true)
"""


def search(
    request: SearchRequest,
    *,
    now: datetime,
    payer: Payer | None = None,
    deadline: Deadline | None = None,
) -> SearchResult:
    """Items that fit by meaning, by words or by an exact id or address, the best first.

    Only items of `request.account_ids` are looked at. Without words in the query the newest
    items inside the filters are found. An entity filter that names nobody finds nothing.
    When no vector can be had in VECTOR_SECONDS, or not by the deadline, the words alone decide.
    With SEARCH_SELECTION and a `payer` a model chooses what comes first; `relevance` stays that of
    the search. The number of queries is fixed, and no transaction is open while a model is asked.
    Raises ValueError for a time filter that makes no sense.
    """
    query = parse_query(request, now=now)
    nobody = request.entity.strip() and not (query.entity_address or query.entity_words)
    if not request.account_ids or nobody:
        return NOTHING
    selects = payer is not None and settings.SEARCH_SELECTION and bool(query.terms)
    wanted = max(request.limit, MOST_ITEMS) if selects else request.limit
    counts = write_counts.load_write_counts(request.account_ids)
    values = build_parameters(
        request,
        query,
        limit=wanted,
        vector=_embedded(request, query, counts.model, payer, deadline),
        model=counts.model,
        languages=counts.languages,
        half_life=settings.SEARCH_HALF_LIFE_DAYS,
        now=now,
    )
    shape = Shape(
        languages=len(counts.languages),
        has_words=bool(query.searched),
        by_entity=values["by_entity"],
        by_kind=bool(request.sources or request.content_types),
        in_span=bool(query.since or query.until),
        by_age=settings.SEARCH_HALF_LIFE_DAYS > 0,
    )
    key = cache.build_found_key(values, counts) if settings.SEARCH_CACHE_SECONDS else ""
    before = cache.load_found(key)
    if before is None and counts.items > statements.SOME_ITEMS:
        values |= graph.divide(request.account_ids)
    setting, statement, more = _choose_statement(shape, query, values, counts=counts, before=before)
    sent = write_arrays(values)
    rows, named = fetch_all(
        router.db_for_read(Item),
        [(statement, sent | write_arrays(more)), (statements.render_entities(shape), sent)],
        setting=setting,
    )
    items = tuple(_item(row, query) for row in rows)
    entities = _entities(named)
    # Without a vector the next one may do better.
    if before is None and (values["vector"] or not query.terms):
        cache.store_found(key, ((row[0], row[13], row[8]) for row in rows))
    if payer and selects:
        best = put_best_first(query.text, items, payer=payer, deadline=deadline)
        items = best[: max(1, request.limit)]
    return SearchResult(items=items, entities=entities)


def get_items(
    *, account_ids: Sequence[UUID], ids: Sequence[UUID], chars: int = ITEM_CHARS
) -> tuple[FoundItem, ...]:
    """The items with these ids, in this order, with up to `chars` characters of their text.

    Ids that are unknown, deleted or of other accounts are absent. One query.
    """
    rows = _present(account_ids, chars).filter(id__in=ids)
    found = {row.id: row for row in rows}
    return tuple(
        as_found(row, chars) for row in (found[id] for id in dict.fromkeys(ids) if id in found)
    )


def find_items(
    names: Sequence[str], *, account_ids: Sequence[UUID], chars: int = ITEM_CHARS
) -> dict[str, FoundItem]:
    """The items that are called so, by name: by Remit's id, by the provider's or, of an issue, by
    its key. A name that several items have is absent, as is one that none has. One query."""
    ids = {name: _id(name) for name in names}
    # What is known of an item stands there in lower case, its provider's id and its key as well.
    called = Q(identifiers__overlap=[name.lower() for name in names])
    wanted = called | Q(id__in=[id for id in ids.values() if id])
    rows = list(_present(account_ids, chars).filter(wanted))
    found = {}
    for name, id in ids.items():
        owners = [
            row
            for row in rows
            if row.id == id
            or row.source_id == name
            or (row.content_type == "issue" and row.metadata.get("key") == name)
        ]
        if len(owners) == 1:
            found[name] = as_found(owners[0], chars)
    return found


def _id(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None


def _present(account_ids: Sequence[UUID], chars: int) -> QuerySet[Item]:
    unread = ("search", "identifiers") if chars else ("search", "identifiers", "text")
    return Item.objects.filter(account_id__in=account_ids, deleted_at=None).defer(*unread)


def as_found(row: Item, chars: int) -> FoundItem:
    """A row as an item that was asked for by itself."""
    return FoundItem(
        id=row.id,
        account_id=row.account_id,
        source=row.source,
        source_id=row.source_id,
        content_type=row.content_type,
        title=row.title,
        summary=row.summary,
        text=row.text[:chars] if chars else "",
        relevance=1.0,
        occurred_at=row.occurred_at,
        metadata=row.metadata,
        sender_name=row.sender_name,
        sender_address=row.sender_address,
    )


def _choose_statement(
    shape: Shape,
    query: Query,
    values: Mapping[str, Any],
    *,
    counts: WriteCounts,
    before: cache.Found | None,
) -> tuple[str, str, Mapping[str, Any]]:
    """How to plan, what finds the items or reads those that were found `before`, and more values
    that it needs."""
    if before is not None:
        ids, passages, relevance = zip(*before, strict=True) if before else ((), (), ())
        again = {
            "found_ids": list(ids),
            "found_passages": list(passages),
            "found_relevance": list(relevance),
        }
        return _PLANNED_ONCE, statements.render_found_before(shape), again
    if counts.items <= statements.FEW_ITEMS:
        return _PLANNED_ONCE, statements.render_among_few(shape), {}
    words, choosing, accounts = len(query.searched), query.candidate_words, len(values["accounts"])
    if counts.items <= statements.SOME_ITEMS:
        statement = statements.render_among_some(shape, words=words, choosing=choosing)
    elif counts.number < newest.LARGE_WRITES:
        statement = statements.render_among_many(
            shape, accounts=accounts, words=words, choosing=choosing, graph=_graph(values)
        )
    else:
        statement = statements.render_among_large(shape, accounts=accounts, graph=_graph(values))
    return _PLANNED_ANEW, statement, name_values(values)


def _graph(values: Mapping[str, Any]) -> Graph:
    if not values["large"]:
        return "none"
    return "some" if values["compared"] else "all"


def _embedded(
    request: SearchRequest,
    query: Query,
    model: str,
    payer: Payer | None,
    deadline: Deadline | None,
) -> str | None:
    if not query.terms or not model:
        return None
    key = cache.build_vector_key(request.account_ids, model, query.text)
    if known := cache.load_vector(key):
        return known
    until = Deadline.after(VECTOR_SECONDS)
    until = min(until, deadline or until)
    try:
        [vector] = llm.embed([query.text], payer=payer, model=model, deadline=until)
    except ModelError as error:
        log.warning("retrieval.without_vectors", extra={"code": error.code})
        return None
    embedded = json.dumps(vector)
    cache.store_vector(key, embedded)
    return embedded


def _item(row: tuple[Any, ...], query: Query) -> FoundItem:
    metadata = row[10]
    text, marks = snippet(row[7], row[14] or "", query.searched)
    return FoundItem(
        id=row[0],
        account_id=row[1],
        source=row[2],
        source_id=row[3],
        content_type=row[4],
        title=row[5],
        summary=row[6],
        text=row[7],
        relevance=row[8],
        occurred_at=row[9],
        metadata=json.loads(metadata) if isinstance(metadata, str) else metadata,
        sender_name=row[11],
        sender_address=row[12],
        snippet=text,
        highlights=marks,
    )


def _entities(rows: Iterable[tuple[str, str, str, int, int]]) -> tuple[FoundEntity, ...]:
    """A person without an address is listed only when no person with one was found: most
    often he is one of those, called by name in somebody's text."""
    found = [
        FoundEntity(kind=kind, name=name, address=address, mentions=sent or mentions)
        for kind, name, address, sent, mentions in rows
    ]
    known = any(entity.kind == "person" and entity.address for entity in found)
    return tuple(e for e in found if e.address or e.kind != "person" or not known)
