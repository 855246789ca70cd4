"""The graph of large accounts: what comes into it and when, and that searches miss nothing."""

import threading
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as config
from django.db import connection, transaction
from django.utils import timezone
from django_q.models import OrmQ, Schedule
from hypothesis import HealthCheck, given, settings, strategies as st

from integrations.contracts import AccountRef
from integrations.llm import llm
from integrations.models import Account, Organisation
from knowledge import tasks
from knowledge.contracts import SearchRequest
from knowledge.ingest import embedding_models
from knowledge.ingest.ingest import forget
from knowledge.models import ChunkVector, Item, LargeAccount
from knowledge.search import graph, queries, statements
from knowledge.search.retrieval import search
from tests.knowledge.office import NOW, account, email, take
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db


def store(owner: AccountRef, *numbers: int, **fields: Any) -> None:
    for number in numbers:
        date = (NOW - timedelta(hours=number)).isoformat()
        mail = email(id=f"m{number}", subject=f"Noodles {number}", date=date, **fields)
        take(owner, mail)


def in_graph(owner: AccountRef | None = None) -> list[bool]:
    rows = ChunkVector.objects.filter(account_id=owner.id) if owner else ChunkVector.objects.all()
    return sorted(rows.values_list("in_graph", flat=True))


@pytest.fixture
def empty_graph() -> None:
    """What other tests took back has left room in it."""
    with connection.cursor() as cursor:
        cursor.execute("REINDEX INDEX chunk_vector_in_graph")


def graph_size() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_relation_size('chunk_vector_in_graph')")
        return int(cursor.fetchone()[0])


def found_by_vectors(*owners: AccountRef, limit: int = 50) -> set[str]:
    Item.objects.update(search="")
    request = SearchRequest(
        account_ids=tuple(owner.id for owner in owners), query="noodles", limit=limit
    )
    return {item.source_id for item in search(request, now=NOW).items}


@pytest.fixture
def owner(model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> AccountRef:
    """An account with five vectors, where more than four are many."""
    monkeypatch.setattr(queries, "EXACT_VECTORS", 4)
    monkeypatch.setattr(statements, "FEW_ITEMS", -1)
    monkeypatch.setattr(statements, "SOME_ITEMS", -1)
    monkeypatch.setattr(queries, "MAX_DISTANCE", 2)
    monkeypatch.setattr(config, "SEARCH_CACHE_SECONDS", 0)
    owner = account()
    store(owner, *range(5))
    return owner


def test_to_store_an_item_touches_no_graph(empty_graph: None, owner: AccountRef) -> None:
    empty = graph_size()

    assert in_graph() == [False] * 5
    graph.mark_large()
    store(owner, *range(5, 60))
    assert (graph_size(), in_graph()) == (empty, [False] * 60)

    tasks.move_into_graph()
    assert graph_size() > empty
    full = graph_size()
    store(owner, *range(60, 120))
    assert graph_size() == full


def test_an_account_is_large_from_one_vector_more_than_are_compared_and_stays_so(
    owner: AccountRef,
) -> None:
    small = account(user="omar")
    store(small, *range(4))

    tasks.mark_large_accounts()
    assert list(LargeAccount.objects.values_list("account", flat=True)) == [owner.id]
    assert graph.mark_large() == 0

    forget(account=owner, source_id="m0", at=NOW)
    forget(account=owner, source_id="m1", at=NOW)
    store(small, 4)
    assert graph.mark_large() == 1
    assert LargeAccount.objects.count() == 2


def test_vectors_of_another_model_do_not_make_an_account_large(owner: AccountRef) -> None:
    ChunkVector.objects.filter(item__source_id="m0").update(model="another")

    assert graph.mark_large() == 0


def test_an_account_that_is_deleted_is_large_no_more(owner: AccountRef) -> None:
    graph.mark_large()

    Account.objects.filter(id=owner.id).delete()

    assert not LargeAccount.objects.exists()
    assert graph.mark_large() == 0


def test_only_vectors_of_large_accounts_come_into_the_graph(owner: AccountRef) -> None:
    small = account(user="omar")
    store(small, *range(3))
    assert not graph.is_behind()
    assert graph.move() == 0

    graph.mark_large()

    assert (graph.is_behind(), graph.count_waiting()) == (True, 5)
    tasks.move_into_graph()
    assert (in_graph(owner), in_graph(small)) == ([True] * 5, [False] * 3)
    assert (graph.is_behind(), graph.count_waiting()) == (False, 0)


def test_one_that_is_broken_off_is_gone_on_with(
    owner: AccountRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "MOVED_AT_ONCE", 2)
    graph.mark_large()
    assert graph.move() == 2
    every = {f"m{number}" for number in range(5)}

    with transaction.atomic():
        assert graph.move() == 2
        transaction.set_rollback(True)

    assert in_graph() == [False, False, False, True, True]
    assert found_by_vectors(owner) == every
    assert [graph.move() for _ in range(3)] == [2, 1, 0]
    assert found_by_vectors(owner) == every


def test_a_run_ends_when_its_time_is_over(
    owner: AccountRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "MOVED_AT_ONCE", 2)
    monkeypatch.setattr(config, "TASK_TIMEOUT_SECONDS", 0)
    graph.mark_large()

    tasks.move_into_graph()

    assert in_graph() == [False, False, False, True, True]


def test_the_sweep_goes_on_while_vectors_wait(owner: AccountRef) -> None:
    def queued() -> int:
        return [task.func() for task in OrmQ.objects.all()].count("knowledge.tasks.move_into_graph")

    tasks.sweep(now=timezone.now())
    assert queued() == 0
    graph.mark_large()
    tasks.sweep(now=timezone.now())
    assert queued() == 1
    assert Schedule.objects.get(func="knowledge.tasks.mark_large_accounts").schedule_type == "H"


def test_a_vector_that_is_replaced_is_outside_again_and_one_that_stays_is_not(
    owner: AccountRef,
) -> None:
    graph.mark_large()
    graph.move()

    store(owner, 0, version=2, body_text="Now about rice.")
    store(owner, 1, version=2, body_html="<p>Hi Maya,</p><p>here is the proposal for the portal.")

    waiting = ChunkVector.objects.filter(in_graph=False)
    assert list(waiting.values_list("item__source_id", flat=True)) == ["m0"]
    assert found_by_vectors(owner) == {f"m{number}" for number in range(5)}
    assert graph.move() == 1


def test_vectors_of_the_next_model_come_into_the_graph_before_searches_go_by_it(
    owner: AccountRef, settings: Any
) -> None:
    embedding_models.claim(now=NOW)
    graph.mark_large()
    graph.move()
    settings.EMBEDDING_MODEL = "another"
    embedding_models.claim(now=NOW)
    embedding_models.fill(now=NOW)
    assert ChunkVector.objects.filter(model="another", in_graph=False).count() == 5

    tasks.move_into_graph()

    assert in_graph() == [True] * 10
    assert embedding_models.fill(now=NOW) == "complete"
    assert found_by_vectors(owner) == {f"m{number}" for number in range(5)}


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_moves_and_the_other_does_something_else(
    owner: AccountRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "MOVED_AT_ONCE", 2)
    graph.mark_large()
    moved: list[int] = []

    def beside() -> None:
        try:
            moved.append(graph.move())
        finally:
            connection.close()

    with transaction.atomic():
        assert graph.move() == 2
        other = threading.Thread(target=beside)
        other.start()
        other.join()
    assert (moved, sum(in_graph())) == ([0], 2)

    tasks.move_into_graph()
    assert in_graph() == [True] * 5


@pytest.mark.django_db(transaction=True)
def test_an_item_that_is_being_deleted_holds_nobody_up(owner: AccountRef) -> None:
    graph.mark_large()
    moved: list[int] = []

    def beside() -> None:
        try:
            moved.append(graph.move())
        finally:
            connection.close()

    with transaction.atomic():
        forget(account=owner, source_id="m0", at=NOW)
        other = threading.Thread(target=beside)
        other.start()
        other.join()

    assert moved == [4]
    assert found_by_vectors(owner) == {f"m{number}" for number in range(1, 5)}
    assert (graph.is_behind(), in_graph()) == (False, [True] * 4)


@pytest.mark.slow
def test_a_search_finds_what_is_nearest_whatever_is_in_the_graph(
    model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "FEW_ITEMS", -1)
    monkeypatch.setattr(statements, "SOME_ITEMS", -1)
    monkeypatch.setattr(queries, "MAX_DISTANCE", 2)
    monkeypatch.setattr(config, "SEARCH_CACHE_SECONDS", 0)
    organisation = Organisation.objects.create(slug=f"o-{uuid.uuid4()}", name="Test")
    owners = [account(user=user, organisation=organisation) for user in ("maya", "omar", "ada")]
    for place, one in enumerate(owners):
        store(one, *range(place * 8, place * 8 + 8), body_text=f"About {place}.")
    Item.objects.update(search="", title="", text="", summary="")
    vectors = {row.pk: row for row in ChunkVector.objects.select_related("item")}
    [question] = llm.embed(["noodles 7"], payer=None)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, item_id, vector <=> %s::halfvec FROM knowledge_chunkvector ORDER BY 3",
            [str(question)],
        )
        rows = cursor.fetchall()
        # Else so few are compared, in the graph or not.
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
    nearest = [row[0] for row in rows]
    distances = {item: distance for _, item, distance in rows}
    ids = [one.id for one in owners]

    @settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        asked=st.sets(st.sampled_from(ids), min_size=1),
        large=st.sets(st.sampled_from(ids)),
        moved=st.sets(st.sampled_from(nearest)),
        until=st.none() | st.integers(0, 24),
        few=st.sampled_from([0, 6, 5_000]),
        candidates=st.sampled_from([3, 10, 100]),
    )
    def check(
        asked: set[uuid.UUID],
        large: set[uuid.UUID],
        moved: set[int],
        until: int | None,
        few: int,
        candidates: int,
    ) -> None:
        monkeypatch.setattr(queries, "EXACT_ITEMS", few)
        monkeypatch.setattr(queries, "CANDIDATES", candidates)
        LargeAccount.objects.all().delete()
        LargeAccount.objects.bulk_create(LargeAccount(account_id=id) for id in large)
        ChunkVector.objects.exclude(pk__in=moved).filter(in_graph=True).update(in_graph=False)
        ChunkVector.objects.filter(pk__in=moved, in_graph=False).update(in_graph=True)
        before = None if until is None else NOW - timedelta(hours=until, minutes=-1)
        request = SearchRequest(
            account_ids=tuple(asked),
            query="noodles 7",
            time_filter=None if before is None else "custom",
            until=before,
            limit=50,
        )

        found = [item.id for item in search(request, now=NOW).items]

        # Some are at the same distance.
        items = (vectors[pk].item for pk in nearest)
        fit = [
            distances[item.id]
            for item in items
            if item.account_id in asked and (before is None or item.occurred_at < before)
        ]
        assert [distances[id] for id in found] == fit[:candidates]
        assert len(set(found)) == len(found)

    check()


def test_only_of_a_large_account_the_graph_can_answer(owner: AccountRef) -> None:
    with connection.cursor() as cursor:
        # Few vectors are sorted, whatever index there is.
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")

    compared = explain(owner)
    graph.mark_large()
    searched = explain(owner)

    assert "chunk_vector_in_graph" not in compared
    assert "Index Scan using chunk_vector_in_graph" in searched


def explain(owner: AccountRef) -> str:
    sent: list[tuple[str, Any]] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        sent.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        search(SearchRequest(account_ids=(owner.id,), query="noodles"), now=NOW)
    [(statement, values)] = [one for one in sent if "knowledge_chunkvector" in one[0]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement}", values)
        return "\n".join(row[0] for row in cursor.fetchall())
