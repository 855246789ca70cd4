"""Vectors of another size, and of an endpoint of their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import connection

from integrations.contracts import AccountRef
from integrations.llm import llm
from knowledge import checks
from knowledge.contracts import SearchRequest
from knowledge.ingest import embedding_models
from knowledge.ingest.ingest import ingest
from knowledge.models import ChunkVector, EmbeddingModel, Item
from knowledge.search.retrieval import search
from tests.commands import run_command
from tests.knowledge.office import NOW, account, email
from tests.model_server import ScriptedModel, running_model

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=1)


@pytest.fixture
def owner(model: ScriptedModel, settings: Any) -> AccountRef:
    """An account with two mails whose vectors have 384 numbers."""
    settings.SEARCH_CACHE_SECONDS = 0  # every search asks the model
    embedding_models.claim(now=NOW)
    owner = account()
    for id in ("a", "b"):
        mail = email(id=id, subject=f"About {id}", body_text=f"Noodles and {id}.")
        ingest(account=owner, source_id=id, item=mail, now=NOW)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # the test is one transaction
    return owner


def found_by_vectors(owner: AccountRef) -> set[str]:
    """No words are left in the search column."""
    Item.objects.update(title="", summary="", text="", search="")
    request = SearchRequest(account_ids=(owner.id,), query="noodles")
    return {item.source_id for item in search(request, now=NOW).items}


def sizes() -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT vector_dims(vector) FROM knowledge_chunkvector")
        return {row[0] for row in cursor.fetchall()}


def misfits() -> list[str]:
    found = checks.stored_vectors_fit(app_configs=None, databases=["default"])
    return [str(one.id) for one in [*found, *checks.sizes_fit(app_configs=None)]]


@contextmanager
def endpoint_of_its_own(settings: Any, folder: Path) -> Iterator[ScriptedModel]:
    """“bge” gives 1,024 numbers and nothing else, at an endpoint named “local”."""
    profiles = folder / "profiles.yaml"
    profiles.write_text(
        "bge: {price: 0, cached_price: 0, answer_price: 0, provider: local, dimensions: 1024}"
    )
    settings.MODEL_PROFILES, settings.EMBEDDING_MODEL = str(profiles), "bge"
    with running_model({}) as server:
        server.only_size = 1024
        settings.MODEL_PROVIDERS = {"local": server.url}
        settings.MODEL_PROVIDER_KEYS = {"local": "key"}
        try:
            yield server
        finally:
            llm._client("local").close()
            llm._client.cache_clear()


@pytest.mark.parametrize("size", [768, 1536, 3072])
def test_vectors_of_another_size_are_stored_and_searched_after_one_command(
    owner: AccountRef, model: ScriptedModel, settings: Any, size: int
) -> None:
    assert misfits() == []
    settings.EMBEDDING_DIMENSIONS = size
    assert misfits() == ["knowledge.E002"]
    assert "Run `manage.py resize_vectors`" in checks.find_refusals()[0]

    written = run_command("resize_vectors")

    assert f"Vectors have {size} numbers now, before 384." in written
    assert misfits() == []
    assert sizes() == {size}
    assert ChunkVector.objects.count() == 2
    assert found_by_vectors(owner) == {"a", "b"}
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'chunk_vector_in_graph'")
        [(index,)] = cursor.fetchall()
    assert "USING hnsw (vector halfvec_cosine_ops)" in index
    assert "already" in run_command("resize_vectors")


def test_a_model_of_one_size_is_asked_at_its_own_endpoint_and_for_none(
    owner: AccountRef, model: ScriptedModel, settings: Any, tmp_path: Path
) -> None:
    with endpoint_of_its_own(settings, tmp_path) as own:
        assert misfits() == ["knowledge.E001"]
        settings.EMBEDDING_DIMENSIONS = 1024
        before = len(model.requests)

        run_command("resize_vectors")

        assert found_by_vectors(owner) == {"a", "b"}
        assert sizes() == {1024}
        assert len(model.requests) == before
        assert {body["model"] for _, body in own.requests} == {"bge"}


def test_until_every_passage_has_one_searches_go_by_words(
    owner: AccountRef, model: ScriptedModel, settings: Any
) -> None:
    settings.EMBEDDING_DIMENSIONS = 768
    embedding_models.resize(768, now=NOW)
    before = len(model.requests)

    assert embedding_models.find_searched_model() == ""
    request = SearchRequest(account_ids=(owner.id,), query="noodles")
    assert {item.source_id for item in search(request, now=NOW).items} == {"a", "b"}
    assert len(model.requests) == before

    # What was interrupted is gone on with by the task that fills any model.
    assert embedding_models.claim(now=NOW)
    assert embedding_models.fill(now=LATER) == "more"
    assert embedding_models.find_searched_model() == ""
    assert embedding_models.fill(now=LATER) == "complete"
    assert EmbeddingModel.objects.get().completed_at == LATER
    assert found_by_vectors(owner) == {"a", "b"}


def test_where_the_model_does_not_give_the_size_nothing_is_changed(
    owner: AccountRef, model: ScriptedModel, settings: Any
) -> None:
    settings.EMBEDDING_DIMENSIONS = 768
    model.fail_embeddings = 400

    with pytest.raises(CommandError, match=r"gives no vectors of 768 numbers .* nothing was"):
        run_command("resize_vectors")

    assert sizes() == {384}
    assert ChunkVector.objects.count() == 2


@pytest.mark.parametrize("size", [0, -1, 4001])
def test_a_size_that_no_index_takes_is_refused_at_the_start(settings: Any, size: int) -> None:
    settings.EMBEDDING_DIMENSIONS = size
    [error] = checks.sizes_fit(app_configs=None)
    assert (error.id, error.msg) == (
        "knowledge.E001",
        "EMBEDDING_DIMENSIONS is not from 1 to 4000.",
    )
