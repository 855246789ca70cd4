"""What a search finds and in which order, against a plain look at every item: x"""

import math
import random
import uuid
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as config
from django.db import connection
from hypothesis import HealthCheck, given, settings, strategies as st
from psycopg._queries import MAX_CACHED_STATEMENT_LENGTH

from integrations.llm import llm
from integrations.models import Organisation
from knowledge.contracts import SearchRequest
from knowledge.ingest.ingest import ingest
from knowledge.ingest.write_counts import load_write_counts
from knowledge.search import newest as newest_items, queries, retrieval, statements
from knowledge.search.queries import Query, parse_query
from knowledge.search.statements import Shape
from tests.knowledge.office import NOW, account, email
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db

WORDS = ("noodles", "rice", "soup", "bread", "cheese", "onions", "pepper", "butter")
_LOOK = """
SELECT i.id, i.account_id, i.occurred_at, i.identifiers,
       ARRAY(SELECT i.search @@ term FROM unnest(%(terms)s::tsquery[]) term),
       ARRAY(SELECT ts_rank(i.search, term, 1)::float8 FROM unnest(%(terms)s::tsquery[]) term),
       (SELECT min(vector <=> %(vector)s::halfvec)
        FROM knowledge_chunkvector v WHERE v.item_id = i.id)
FROM knowledge_item i WHERE i.account_id = ANY(%(accounts)s)
"""
_OR = """
SELECT concat_ws(' | ', %s::text, (
    SELECT string_agg(nullif(plainto_tsquery(language::regconfig, %s)::text, ''), ' | ')
    FROM unnest(%s::text[]) language))
"""
_PAIR = "SELECT tsquery_phrase(%s::tsquery, %s::tsquery)::text"


def ask(statement: str, values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def newest(rows: Iterable[Any]) -> set[Any]:
    """Of each account as many as count."""
    taken: dict[Any, list[Any]] = {}
    for row in sorted(rows, key=lambda row: row[2], reverse=True):
        taken.setdefault(row[1], []).append(row[0])
    return {id for ids in taken.values() for id in ids[: queries.NEWEST_MATCHES]}


def expected(request: SearchRequest, query: Query) -> list[Any]:
    """The ids, as the rules of `statements` say it, one item after the other."""
    languages = load_write_counts(request.account_ids).languages
    words = [ask(_OR, [term.tsquery, term.written, [*languages]])[0][0] for term in query.searched]
    pairs = [ask(_PAIR, words[place : place + 2])[0][0] for place in query.neighbours]
    [vector] = llm.embed([query.text], payer=None)
    rows = ask(
        _LOOK,
        {
            "terms": [*words, *pairs],
            "vector": str(vector),
            "accounts": list(request.account_ids),
        },
    )
    whole = newest(row for row in rows if all(row[4][: len(words)]))
    chosen = set(whole)
    if len(whole) < request.limit:
        for place in query.candidate_words:
            chosen |= newest(row for row in rows if row[4][place])
    matches = [row for row in rows if row[0] in chosen]
    counts = [sum(row[4][place] for row in matches) for place in range(len(words + pairs))]
    weights = [math.log(1 + len(matches) / count) if count else 0 for count in counts]

    def score(row: Any) -> float:
        parts: list[float] = [
            share * weight
            for fits, share, weight in zip(row[4], row[5], weights, strict=True)
            if fits
        ]
        return sum(parts)

    matches.sort(key=lambda row: (row[0] not in whole, -score(row), NOW - row[2], row[0]))
    exact = [row for row in rows if set(row[3]) & set(query.identifiers)]
    exact.sort(key=lambda row: (NOW - row[2], row[0]))
    near = [row for row in rows if row[6] <= queries.MAX_DISTANCE]
    near.sort(key=lambda row: (row[6], row[0]))
    relevance: dict[Any, float] = {}
    for weight, found in ((1.0, matches), (1.5, exact), (queries.VECTOR_WEIGHT, near)):
        for rank, row in enumerate(found, start=1):
            relevance[row[0]] = relevance.get(row[0], 0) + weight / (queries.RRF + rank)
    best = sorted(relevance, key=lambda id: (-relevance[id], id))
    return best[: request.limit]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("few_items", "some_items", "large_writes", "sampled"),
    [
        (500, 500, 50_000, {}),
        (-1, 500, 50_000, {}),
        (-1, -1, 50_000, {}),
        (-1, -1, 0, {}),
        (-1, -1, 0, {"SAMPLE": 6, "COMMON": 3, "SCATTERED": 1, "WALKED": 12}),
    ],
    ids=["few", "some", "many", "large", "large by a small sample"],
)
def test_items_come_in_the_order_that_a_plain_look_at_each_gives(
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    few_items: int,
    some_items: int,
    large_writes: int,
    sampled: dict[str, int],
) -> None:
    for name, number in sampled.items():
        monkeypatch.setattr(newest_items, name, number)
    uncached = statements.render_among_large.__wrapped__
    monkeypatch.setattr(statements, "render_among_large", uncached)
    monkeypatch.setattr(statements, "FEW_ITEMS", few_items)
    monkeypatch.setattr(statements, "SOME_ITEMS", some_items)
    monkeypatch.setattr(newest_items, "LARGE_WRITES", large_writes)
    monkeypatch.setattr(config, "SEARCH_CACHE_SECONDS", 0)
    organisation = Organisation.objects.create(slug=f"o-{uuid.uuid4()}", name="Test")
    owners = [account(user=user, organisation=organisation) for user in ("maya", "omar")]
    chance = random.Random(5)
    for number in range(40):
        some = chance.choices(WORDS, k=3 + number % 7)
        rare = ["saffron"] if number in (20, 25, 26, 31) else []
        mail = email(
            id=f"m{number}",
            subject=f"{' '.join(some)} {'x' * (3 + number)}",
            body_text=" ".join([*chance.choices(WORDS, k=1 + number % 5), *rare]),
            date=(NOW - timedelta(hours=number)).isoformat(),
        )
        ingest(account=owners[number % 2], source_id=mail.id, item=mail, now=NOW)

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        accounts=st.sets(st.sampled_from([owner.id for owner in owners]), min_size=1),
        words=st.lists(
            st.sampled_from([*WORDS, "noo", "m7", "m8", "saffron"]), min_size=1, max_size=6
        ),
        limit=st.sampled_from([1, 3, 10]),
        more=st.sampled_from([0, 1, 100]),
    )
    def check(accounts: set[uuid.UUID], words: list[str], limit: int, more: int) -> None:
        # A limit is never larger, or an item that holds all words might count as one that does not.
        monkeypatch.setattr(queries, "NEWEST_MATCHES", limit + more)
        request = SearchRequest(account_ids=tuple(accounts), query=" ".join(words), limit=limit)

        found = [item.id for item in retrieval.search(request, now=NOW).items]

        assert found == expected(request, parse_query(request, now=NOW))

    check()


def test_a_search_among_few_items_is_planned_once_for_a_connection(model: ScriptedModel) -> None:
    owner = account()
    ingest(account=owner, source_id="m1", item=email(id="m1", subject="Noodles"), now=NOW)
    questions = ("noodles", "rice soup", "bread", "noodles with cheese and butter", "onions")

    for question in questions * 2:
        retrieval.search(SearchRequest(account_ids=(owner.id,), query=question), now=NOW)

    plans = ask(
        "SELECT generic_plans > 0, custom_plans FROM pg_prepared_statements"
        " WHERE starts_with(statement, %s)",
        ["WITH word AS"],
    )
    assert set(plans) == {(True, 0)}


def test_the_common_statement_among_few_items_is_translated_once_and_compares_every_vector() -> (
    None
):
    shape = Shape(
        languages=0,
        has_words=True,
        by_entity=False,
        by_kind=False,
        in_span=False,
        by_age=False,
    )
    statement = statements.render_among_few(shape)
    request = SearchRequest(account_ids=(uuid.uuid4(),), query="noodles with soup")
    values = queries.build_parameters(
        request,
        parse_query(request, now=NOW),
        limit=10,
        vector=str([0.5] * config.EMBEDDING_DIMENSIONS),
        model="any",
        languages=("english",),
        half_life=0,
        now=NOW,
    )
    ask(
        "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)",
        {},
    )

    plan = ask(f"EXPLAIN {statement}", queries.write_arrays(values))

    assert len(statement) <= MAX_CACHED_STATEMENT_LENGTH
    assert "knowledge_chunkvector" in str(plan)
    assert "chunk_vector_graph" not in str(plan)
