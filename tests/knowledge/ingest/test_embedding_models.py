from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from integrations.contracts import AccountRef
from integrations.llm import llm
from integrations.llm.completions import ModelError
from knowledge import tasks
from knowledge.contracts import SearchRequest
from knowledge.ingest import embedding_models
from knowledge.ingest.ingest import forget, ingest
from knowledge.models import Chunk, ChunkVector, EmbeddingModel, Item
from knowledge.search.retrieval import search
from tests.commands import run_command
from tests.knowledge.office import NOW, account, email
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(minutes=1)


def take(owner: AccountRef, *ids: str) -> None:
    for id in ids:
        mail = email(id=id, subject=f"About {id}", body_text=f"Noodles and {id}.")
        ingest(account=owner, source_id=id, item=mail, now=NOW)


def found(owner: AccountRef) -> set[str]:
    """By vectors alone: no words are left in the search column."""
    Item.objects.update(title="", summary="", text="", search="")
    request = SearchRequest(account_ids=(owner.id,), query="noodles")
    return {item.source_id for item in search(request, now=NOW).items}


def models(id: str) -> set[str]:
    return set(ChunkVector.objects.filter(item__source_id=id).values_list("model", flat=True))


def asked(model: ScriptedModel) -> list[str]:
    return [body["model"] for path, body in model.requests if path.endswith("/embeddings")]


def fill() -> None:
    embedding_models.claim(now=NOW)
    while embedding_models.fill(now=LATER) == "more":
        pass


@pytest.fixture
def owner(model: ScriptedModel, settings: Any) -> AccountRef:
    """An account with two mails, searched by the model `old`; `new` is wanted now."""
    settings.EMBEDDING_MODEL = "old"
    settings.SEARCH_CACHE_SECONDS = 0  # every search asks the model
    assert not embedding_models.claim(now=NOW)
    owner = account()
    take(owner, "a", "b")
    settings.EMBEDDING_MODEL = "new"
    return owner


def test_the_first_model_is_complete_as_it_begins(model: ScriptedModel, settings: Any) -> None:
    settings.EMBEDDING_MODEL = "old"
    assert not embedding_models.claim(now=NOW)
    assert not embedding_models.claim(now=LATER)

    assert embedding_models.list_written_models() == ("old",)
    assert EmbeddingModel.objects.get().completed_at == NOW


def test_searches_go_by_the_old_model_until_the_new_one_is_complete(
    owner: AccountRef, model: ScriptedModel
) -> None:
    assert found(owner) == {"a", "b"}
    assert asked(model)[-1] == "old"
    assert embedding_models.claim(now=NOW)

    assert embedding_models.fill(now=LATER) == "more"
    assert found(owner) == {"a", "b"}
    assert asked(model)[-1] == "old"

    assert embedding_models.fill(now=LATER) == "complete"
    assert found(owner) == {"a", "b"}
    assert asked(model)[-1] == "new"
    assert embedding_models.list_written_models() == ("new",)


def test_what_is_stored_meanwhile_has_vectors_of_both(
    owner: AccountRef, model: ScriptedModel
) -> None:
    take(owner, "c")
    assert models("c") == {"old", "new"}
    assert found(owner) == {"a", "b", "c"}

    fill()
    take(owner, "d")
    assert models("d") == {"new"}
    assert found(owner) == {"a", "b", "c", "d"}


def test_a_passage_is_embedded_as_it_was_at_its_ingest_and_once(
    owner: AccountRef, model: ScriptedModel
) -> None:
    take(owner, "c")
    before = model.embedded()
    fill()

    assert model.embedded()[len(before) :] == [
        "About a\n\nNoodles and a.",
        "About b\n\nNoodles and b.",
    ]


def test_the_old_model_may_be_gone_already(
    owner: AccountRef, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed = llm.embed

    def only_new(texts: Any, *, model: str, **more: Any) -> Any:
        if model == "old":
            raise ModelError("status_404", retryable=False)
        return embed(texts, model=model, **more)

    monkeypatch.setattr(llm, "embed", only_new)
    take(owner, "c")
    assert models("c") == {"new"}

    fill()
    assert found(owner) == {"a", "b", "c"}


def test_a_new_model_that_nobody_knows_stops_neither_ingest_nor_search(
    owner: AccountRef, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed = llm.embed

    def only_old(texts: Any, *, model: str, **more: Any) -> Any:
        if model == "new":
            raise ModelError("status_404", retryable=False)
        return embed(texts, model=model, **more)

    with monkeypatch.context() as patched:
        patched.setattr(llm, "embed", only_old)
        take(owner, "c")
        assert models("c") == {"old"}
        assert found(owner) == {"a", "b", "c"}

    fill()  # it is there by now
    assert models("c") == {"old", "new"}
    assert found(owner) == {"a", "b", "c"}


@pytest.mark.parametrize("passing", ["new", "old"])
def test_an_item_waits_while_neither_model_answers(
    owner: AccountRef, monkeypatch: pytest.MonkeyPatch, passing: str
) -> None:
    def neither(texts: Any, *, model: str, **more: Any) -> Any:
        raise ModelError(f"of_{model}", retryable=model == passing)

    monkeypatch.setattr(llm, "embed", neither)

    with pytest.raises(ModelError) as caught:
        take(owner, "c")

    assert (caught.value.code, caught.value.retryable) == (f"of_{passing}", True)
    assert not Item.objects.filter(source_id="c").exists()


def test_a_model_that_is_away_loses_nothing(owner: AccountRef, model: ScriptedModel) -> None:
    model.fail_embeddings = 400
    assert embedding_models.claim(now=NOW)
    with pytest.raises(ModelError):
        embedding_models.fill(now=LATER)
    assert EmbeddingModel.objects.get(name="new").done_up_to == 0
    assert embedding_models.find_searched_model() == "old"

    model.fail_embeddings = 0
    fill()
    assert embedding_models.find_searched_model() == "new"


def test_one_fills_it_at_a_time_and_another_goes_on_when_it_died(owner: AccountRef) -> None:
    assert embedding_models.claim(now=NOW)
    assert not embedding_models.claim(now=NOW + timedelta(minutes=1))
    assert embedding_models.claim(now=NOW + timedelta(minutes=3))

    fill()
    assert not embedding_models.claim(now=NOW + timedelta(minutes=9))


def test_a_passage_behind_the_mark_is_not_left_out(owner: AccountRef) -> None:
    assert embedding_models.claim(now=NOW)
    EmbeddingModel.objects.filter(name="new").update(done_up_to=Chunk.objects.latest("pk").pk)
    fill()

    assert models("a") == models("b") == {"old", "new"}


def test_a_passage_that_goes_while_the_model_answers_gets_no_vector(
    owner: AccountRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert embedding_models.claim(now=NOW)
    embed = llm.embed

    def deleting(texts: Any, *, model: str, **more: Any) -> Any:
        forget(account=owner, source_id="a", at=LATER)
        return embed(texts, model=model, **more)

    monkeypatch.setattr(llm, "embed", deleting)
    assert embedding_models.fill(now=LATER) == "more"

    assert models("a") == set()
    assert models("b") == {"old", "new"}


def test_progress_is_in_percent(owner: AccountRef) -> None:
    assert embedding_models.claim(now=NOW)
    row = EmbeddingModel.objects.get(name="new")
    assert embedding_models.count_percent(row) == 0

    row.done_up_to = Chunk.objects.latest("pk").pk
    assert embedding_models.count_percent(row) == 99  # not before it is complete
    fill()
    assert embedding_models.count_percent(EmbeddingModel.objects.get(name="new")) == 100


def test_the_old_vectors_are_dropped_by_command_and_not_before(owner: AccountRef) -> None:
    for name in ("old", "new"):
        with pytest.raises(CommandError, match=f"{name} is in use: nothing was deleted"):
            call_command("drop_vectors", name)
    assert embedding_models.claim(now=NOW)
    fill()

    said = run_command("drop_vectors", "old")
    assert said == "Deleted 2 vectors of old.\n"
    assert models("a") == {"new"}
    assert [row.name for row in EmbeddingModel.objects.all()] == ["new"]


def test_a_model_that_is_wanted_again_is_filled_anew(owner: AccountRef, settings: Any) -> None:
    assert embedding_models.claim(now=NOW)
    fill()
    take(owner, "c")
    settings.EMBEDDING_MODEL = "old"
    assert embedding_models.find_searched_model() == "new"
    assert embedding_models.claim(now=LATER)
    fill()

    assert embedding_models.find_searched_model() == "old"
    assert models("c") == {"old", "new"}


def test_a_task_fills_it_to_the_end(owner: AccountRef) -> None:
    assert embedding_models.claim(now=NOW)
    tasks.reembed()

    assert embedding_models.find_searched_model() == "new"
