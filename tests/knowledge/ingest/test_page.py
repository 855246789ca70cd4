from datetime import timedelta
from typing import Any

import pytest

from integrations.contracts import AnyItem
from integrations.llm import llm
from integrations.models import Budget
from knowledge.ingest import page, reading
from knowledge.ingest.ingest import forget, ingest
from knowledge.ingest.page import NO_LOOKUP, look_up_page
from knowledge.models import Chunk, ChunkVector, Item
from tests.knowledge.office import NOW, account, email, take
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db

LATER = "2026-03-09T10:00:00Z"


def test_items_that_are_stored_as_they_are_need_no_work(model: ScriptedModel) -> None:
    owner = account()
    stored = [email(id=f"m{n}", attachments=[{"name": "a.pdf", "size": 3}]) for n in range(3)]
    for item in stored:
        take(owner, item)
    forget(account=owner, source_id="m2", at=NOW)

    def same(*items: AnyItem) -> frozenset[str]:
        return look_up_page(account=owner, items=items).unchanged

    assert same(*stored, email(id="m9")) == {"m0", "m1"}
    for changed in (
        {"body_text": "Other words."},
        {"labels": ["INBOX"]},
        {"version": 2},
        {"updated_at": LATER},
        {"date": LATER},
        {"to": ["ann@client.com"]},
    ):
        assert same(email(id="m0", **changed)) == frozenset()
    assert same(stored[0], email(id="m0", version=2)) == frozenset()
    assert look_up_page(account=account(), items=stored).unchanged == frozenset()


def test_the_passages_of_a_page_are_embedded_in_one_call_and_none_of_them_again(
    model: ScriptedModel,
) -> None:
    owner = account()
    mails = [email(id=f"m{n}", subject=f"Mail {n}") for n in range(5)]
    known = look_up_page(account=owner, items=mails)
    assert len(model.requests) == 1

    for mail in mails:
        ingest(account=owner, source_id=mail.id, item=mail, now=NOW, lookup=known)

    assert len(model.embedded()) == 5
    assert len(model.chats()) == 5
    assert ChunkVector.objects.count() == Chunk.objects.count() == 5
    passage = Chunk.objects.get(item__source_id="m3")
    assert known.vectors[llm.embedding_model_name()][passage.digest] == pytest.approx(
        list(passage.vectors.get().vector), abs=1e-3
    )


def test_what_is_stored_or_was_deleted_is_not_embedded_in_advance(model: ScriptedModel) -> None:
    owner = account()
    take(owner, email(id="kept"))
    take(owner, email(id="gone"))
    forget(account=owner, source_id="gone", at=NOW)
    asked = len(model.embedded())

    known = look_up_page(
        account=owner, items=[email(id="kept", body_text="New."), email(id="gone"), email(id="m1")]
    )

    assert set(known.absent) == {"m1"}
    assert known.unchanged == frozenset()
    assert len(model.embedded()) - asked == 1


def test_an_item_that_is_twice_on_a_page_is_looked_up_each_time(model: ScriptedModel) -> None:
    owner = account()
    mail = email()
    known = look_up_page(account=owner, items=[mail, mail])
    assert known == NO_LOOKUP
    for _time in range(2):
        ingest(account=owner, source_id=mail.id, item=mail, now=NOW, lookup=known)
    assert len(model.chats()) == 1


def test_what_was_stored_meanwhile_by_somebody_else_is_not_overwritten_by_an_older_version(
    model: ScriptedModel,
) -> None:
    owner = account()
    old = email(version=1)
    known = look_up_page(account=owner, items=[old])
    take(owner, email(version=2, body_text="The newer words.", updated_at=LATER))

    outcome = ingest(account=owner, source_id="m1", item=old, now=NOW, lookup=known)

    assert outcome.state == "stale"
    assert Item.objects.get().text == "The newer words."


def test_a_deletion_that_comes_meanwhile_stays(model: ScriptedModel) -> None:
    owner = account()
    mail = email()
    known = look_up_page(account=owner, items=[mail])
    forget(account=owner, source_id="m1", at=NOW + timedelta(hours=1))

    outcome = ingest(account=owner, source_id="m1", item=mail, now=NOW, lookup=known)

    assert outcome.state == "stale"
    assert Item.objects.get().text == ""


def test_no_more_vectors_than_have_room_wait_in_memory(
    model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "MAX_PASSAGES", 3)
    mails = [email(id=f"m{n}", subject=f"Mail {n}") for n in range(5)]
    known = look_up_page(account=account(), items=mails)
    assert len(model.embedded()) == 3
    assert len(known.absent) == 5


def test_nothing_is_embedded_for_an_account_whose_budget_is_used_up(model: ScriptedModel) -> None:
    owner = account()
    Budget.objects.create(organisation_id=owner.organisation_id, account_id=owner.id, max_tokens=0)
    assert look_up_page(account=owner, items=[email()]).vectors == {}
    assert model.requests == []


def test_while_the_embedding_model_is_away_each_item_finds_out_by_itself(
    model: ScriptedModel,
) -> None:
    model.fail_embeddings = 503
    assert look_up_page(account=account(), items=[email()]).vectors == {}


def test_one_item_that_cannot_be_read_is_no_end_of_the_page(
    model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_item(item: AnyItem, **rest: Any) -> Any:
        if item.id == "m1":
            raise RuntimeError("a fault")
        return real(item, **rest)

    real = reading.read_item
    monkeypatch.setattr(page, "read_item", read_item)
    known = look_up_page(account=account(), items=[email(id="m0"), email(id="m1")])
    assert set(known.absent) == {"m0"}


def test_the_title_of_a_mail_that_is_only_a_file_is_not_embedded(model: ScriptedModel) -> None:
    file = {"name": "a.pdf", "size": 3, "mime_type": "application/pdf", "file_id": "f1"}
    known = look_up_page(account=account(), items=[email(body_text="", attachments=[file])])
    assert known.absent["m1"].passages == ()
    assert model.requests == []
