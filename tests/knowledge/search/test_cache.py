"""What is found again without being looked for, and what never is."""

import socket
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import caches
from django.db import connection
from django.test.utils import CaptureQueriesContext

from integrations.contracts import AccountRef
from integrations.models import Organisation
from knowledge.contracts import SearchRequest, SearchResult
from knowledge.ingest import indexing, occurrences, write_counts
from knowledge.ingest.ingest import forget, ingest
from knowledge.models import Item
from knowledge.search.retrieval import search
from tests.knowledge.office import NOW, account, email, event
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db


def take(owner: AccountRef, **fields: Any) -> Item:
    mail = email(**fields)
    ingest(account=owner, source_id=mail.id, item=mail, now=NOW)
    return Item.objects.get(account_id=owner.id, source_id=mail.id)


def find(*owners: AccountRef, query: str = "noodles", **more: Any) -> tuple[SearchResult, bool]:
    """What is found, and whether it was looked for."""
    request = SearchRequest(account_ids=tuple(one.id for one in owners), query=query, **more)
    with CaptureQueriesContext(connection) as sent:
        result = search(request, now=NOW)
    return result, any("by_words" in one["sql"] for one in sent.captured_queries)


def ids(result: SearchResult) -> list[str]:
    return [item.source_id for item in result.items]


@pytest.fixture
def owner(model: ScriptedModel) -> AccountRef:
    owner = account()
    take(owner, id="a", subject="Lunch", body_text="Noodles on Friday?")
    take(owner, id="b", subject="Dinner", body_text="Noodles again?", labels=["INBOX"])
    return owner


def test_the_same_question_is_looked_for_once(owner: AccountRef, model: ScriptedModel) -> None:
    first, looked = find(owner)
    asked = len(model.requests)
    again, looked_again = find(owner)

    assert (looked, looked_again) == (True, False)
    assert again == first
    assert len(model.requests) == asked


def test_nothing_found_is_kept_too(owner: AccountRef) -> None:
    find(owner, query="submarine")

    assert find(owner, query="submarine") == (SearchResult(items=(), entities=()), False)


def test_a_removed_item_is_never_found_again(owner: AccountRef) -> None:
    find(owner)
    forget(account=owner, source_id="a", at=NOW)

    result, looked = find(owner)
    assert (ids(result), looked) == (["b"], True)


def test_a_removed_item_is_not_found_even_where_the_write_count_is_lost(owner: AccountRef) -> None:
    find(owner)
    before = write_counts.load_write_counts([owner.id])
    forget(account=owner, source_id="a", at=NOW)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE knowledge_writecount SET writes = 0")
        cursor.execute(
            "UPDATE knowledge_writecount SET writes = %s WHERE id ="
            " (SELECT min(id) FROM knowledge_writecount WHERE account_id = %s)",
            [dict(before.writes)[str(owner.id)], owner.id],
        )
    assert write_counts.load_write_counts([owner.id]).writes == before.writes

    result, looked = find(owner)
    assert (ids(result), looked) == (["b"], False)


def test_nothing_that_was_written_is_kept_in_the_cache(owner: AccountRef) -> None:
    caches["quick"].clear()
    find(owner, query="noodles friday")

    assert "Noodles" not in repr(list(caches["quick"]._cache.values()))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "write",
    [
        lambda owner: take(owner, id="c", body_text="More noodles."),
        lambda owner: take(
            owner, id="b", body_text="Rice.", version=2, updated_at="2026-03-09T10:00:00Z"
        ),
        lambda owner: take(
            owner,
            id="b",
            subject="Dinner",
            body_text="Noodles again?",
            labels=["ARCHIVE"],
            version=2,
            updated_at="2026-03-09T10:00:00Z",
        ),
        lambda owner: Item.objects.update(languages=None) and indexing.index_again(),
    ],
    ids=["another", "content", "labels", "index"],
)
def test_after_any_write_it_is_looked_for_anew(owner: AccountRef, write: Any) -> None:
    find(owner)
    write(owner)

    result, looked = find(owner)
    assert looked
    assert result == find(owner)[0]


def test_an_event_that_is_looked_at_again_is_looked_for_anew(model: ScriptedModel) -> None:
    owner = account(source="calendar")
    meeting = event(recurrence="RRULE:FREQ=WEEKLY")
    ingest(account=owner, source_id=meeting.id, item=meeting, now=NOW)
    find(owner)

    assert occurrences.look_ahead(now=NOW + timedelta(days=60)) == 1
    assert find(owner)[1]


def test_another_way_to_ask_is_another_question(owner: AccountRef, settings: Any) -> None:
    shown = Item.objects.get(source_id="a").id
    find(owner)
    filters: list[dict[str, Any]] = [
        {"excluded_ids": (shown,)},
        {"sources": ("gmail",)},
        {"content_types": ("email",)},
        {"time_filter": "last_week"},
        {"entity": "John"},
        {"limit": 1},
    ]

    assert [find(owner, **each)[1] for each in filters] == [True] * len(filters)
    assert ids(find(owner, excluded_ids=(shown,))[0]) == ["b"]
    settings.SEARCH_HALF_LIFE_DAYS = 30
    assert find(owner)[1]


def test_nothing_is_shared_between_accounts_or_people(
    owner: AccountRef, model: ScriptedModel
) -> None:
    organisation = Organisation.objects.get(pk=owner.organisation_id)
    other = account(user="omar", organisation=organisation)
    find(owner)
    asked = len(model.embedded())

    result, looked = find(other)
    assert (ids(result), looked) == ([], True)
    assert len(model.embedded()) > asked
    assert find(owner, other)[1]


def test_a_write_to_one_account_leaves_what_others_found(owner: AccountRef) -> None:
    other = account(user="omar")
    take(other, id="x", body_text="Noodles")
    find(owner)
    take(other, id="y", body_text="Noodles")

    assert not find(owner)[1]


def test_what_is_found_without_vectors_is_not_kept(owner: AccountRef, model: ScriptedModel) -> None:
    model.fail_embeddings = 500
    assert find(owner)[1]
    model.fail_embeddings = 0

    assert find(owner)[1]
    assert not find(owner)[1]


def test_nothing_is_kept_where_nothing_may_be(owner: AccountRef, settings: Any) -> None:
    settings.SEARCH_CACHE_SECONDS = 0
    find(owner)

    assert find(owner)[1]


def test_a_cache_that_fails_is_done_without(
    owner: AccountRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr(caches["quick"], "get", broken)
    monkeypatch.setattr(caches["quick"], "set", broken)

    result, looked = find(owner)
    assert (set(ids(result)), looked) == ({"a", "b"}, True)


def test_a_redis_that_is_not_there_is_done_without(owner: AccountRef, settings: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:  # nobody answers there
        port = taken.getsockname()[1]
        redis = {"BACKEND": "django.core.cache.backends.redis.RedisCache"}
        options = {"OPTIONS": {"socket_connect_timeout": 0.05, "socket_timeout": 0.05}}
        location = {"LOCATION": f"redis://127.0.0.1:{port}/0"}
        settings.CACHES = {"quick": {**redis, **location, **options}}

        result, looked = find(owner)

    assert (set(ids(result)), looked) == ({"a", "b"}, True)


@pytest.mark.parametrize(("days", "first"), [(0, "old"), (7, "new")])
def test_age_counts_where_it_is_wanted(
    model: ScriptedModel, settings: Any, days: float, first: str
) -> None:
    settings.SEARCH_HALF_LIFE_DAYS = days
    owner = account()
    text = "Noodles noodles noodles and the portal."
    take(owner, id="old", subject="Noodles", body_text=text, date="2024-03-09T09:00:00Z")
    take(owner, id="new", subject="Lunch", body_text="On noodles.", date="2026-03-09T09:00:00Z")
    take(owner, id="older", subject="Rice", body_text="Noodles", date="1970-01-01T00:00:00Z")

    found = find(owner)[0]

    assert ids(found)[0] == first
    assert set(ids(found)) == {"old", "new", "older"}
    assert all(0 <= item.relevance <= 1 for item in found.items)


def test_an_exact_id_does_not_age(model: ScriptedModel, settings: Any) -> None:
    settings.SEARCH_HALF_LIFE_DAYS = 1
    owner = account()
    take(owner, id="proj-1", body_text="x", date="2024-03-09T09:00:00Z")
    take(owner, id="m2", body_text="About proj-1.", date="2026-03-09T09:00:00Z")

    assert ids(find(owner, query="proj-1")[0])[0] == "proj-1"
