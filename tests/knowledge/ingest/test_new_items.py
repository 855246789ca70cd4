import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import DatabaseError, connection

from integrations.contracts import AccountRef, AnyItem
from integrations.models import ModelCall, Organisation
from knowledge.ingest import write_counts
from knowledge.ingest.ingest import forget
from knowledge.ingest.new_items import Beside
from knowledge.models import (
    Chunk,
    ChunkVector,
    Entity,
    Item,
    ItemFile,
    Mention,
    WriteCount,
)
from tests.knowledge.answers import READER, summarised
from tests.knowledge.office import NOW, account, email, event, take
from tests.model_server import ScriptedModel, scripted_model

pytestmark = pytest.mark.django_db

ROWS = (
    *("knowledge_item", "knowledge_itemfile", "knowledge_chunk", "knowledge_chunkvector"),
    *("knowledge_mention", "knowledge_writecount"),
)
WRITTEN = (
    ("knowledge_entity", False),  # of people known already none is made
    *((table, known) for known in (False, True) for table in ROWS),
)


def list_calls(owner: AccountRef) -> list[str]:
    """What models were asked for, by what is written down."""
    calls = ModelCall.objects.filter(account_id=owner.id)
    return sorted(calls.values_list("purpose", flat=True))


def rich(**fields: Any) -> AnyItem:
    """A mail with all that an item can have: long text, odd characters, files, people."""
    odd = """über “the” \\ 'portal' {"x": %s} 日本語. """
    text = "\n\n".join(f"Paragraph {number} {odd * 40}" for number in range(9))
    return email(
        **{
            "subject": """The "plan" \\ for 100 % of Zoë's team""",
            "body_text": f"{text}\n\nThis is what we have to do for the customers of the portal.",
            "cc": ["bob@client.com", "Zoë@client.com"],
            "labels": ["INBOX", 'a "label"', "50%"],
            "attachments": [{"name": "plan's.jpg", "size": 12}, {"name": "b.png"}],
            **fields,
        }
    )


def stored(owner: AccountRef) -> list[Any]:
    """All rows of the account's items but for their own ids."""
    items = Item.objects.filter(account_id=owner.id).order_by("source_id")
    return [
        [{k: v for k, v in row.items() if k not in ("id", "account_id")} for row in items.values()],
        list(
            Chunk.objects.filter(item__in=items)
            .order_by("item__source_id", "position")
            .values_list("item__source_id", "position", "digest", "text")
        ),
        list(
            ChunkVector.objects.filter(account_id=owner.id)
            .order_by("item__source_id", "chunk__position")
            .values_list("item__source_id", "chunk__position", "model", "vector")
        ),
        [
            {k: v for k, v in row.items() if k not in ("id", "item_id")}
            for row in ItemFile.objects.filter(item__in=items).order_by("position").values()
        ],
        sorted(
            Mention.objects.filter(account_id=owner.id).values_list(
                "item__source_id", "entity__kind", "entity__key", "entity__name", "role"
            )
        ),
    ]


@pytest.mark.parametrize("known", [False, True], ids=["of strangers", "of people known already"])
@pytest.mark.parametrize("twice", [{}, {"cc": ["john@company.com"]}], ids=["once", "twice named"])
def test_one_statement_stores_what_step_by_step_would(
    model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, known: bool, twice: dict[str, Any]
) -> None:
    at_once, by_steps = account(), account()
    for owner in (at_once, by_steps):
        if known:
            take(owner, rich(id="m0"))
    take(at_once, rich(**twice))
    with monkeypatch.context() as patched:
        patched.setattr("knowledge.ingest.ingest.new_items.store", lambda *args, **options: None)
        take(by_steps, rich(**twice))

    assert stored(at_once) == stored(by_steps)
    assert len(stored(at_once)[1]) > 1
    one, other = (write_counts.load_write_counts([owner.id]) for owner in (at_once, by_steps))
    assert (one.writes[0][1], one.languages) == (other.writes[0][1], other.languages)


@pytest.mark.parametrize("known", [False, True], ids=["of strangers", "of people known already"])
def test_an_item_is_one_statement(
    model: ScriptedModel, django_assert_num_queries: Any, known: bool
) -> None:
    owner = account()
    if known:
        take(owner, email())

    with django_assert_num_queries(4):
        take(owner, email(id="m2"))

    assert Entity.objects.count() == 2
    assert Mention.objects.filter(item__source_id="m2").count() == 2
    assert list_calls(owner) == sorted(["embedding", "ingest"] * (2 if known else 1))


@contextmanager
def broken(table: str) -> Iterator[None]:
    """No row can be written into this table meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT closed CHECK (false) NOT VALID")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT closed")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("table", "known"), WRITTEN)
def test_a_new_item_is_there_with_all_of_it_or_not_at_all(
    model: ScriptedModel, table: str, known: bool
) -> None:
    owner = account()
    if known:
        take(owner, rich(id="m0"))
    asked = list_calls(owner)
    before = [list(m.objects.order_by("pk").values()) for m in (Item, Entity, WriteCount)]

    with broken(table), pytest.raises(DatabaseError):
        take(owner, rich())

    assert [list(m.objects.order_by("pk").values()) for m in (Item, Entity, WriteCount)] == before
    assert list_calls(owner) == sorted(["embedding", "ingest", *asked])  # that is spent
    assert not Chunk.objects.exclude(item__source_id="m0").exists()
    assert not Mention.objects.exclude(item__source_id="m0").exists()
    assert take(owner, rich()).state == "created"


def test_a_sender_with_another_name_renames_himself_with_a_new_item(model: ScriptedModel) -> None:
    owner = account()
    take(owner, email())
    take(owner, email(id="m2", from_name="Dr John Smith"))

    assert Entity.objects.get(address="john@company.com").name == "Dr John Smith"
    assert Mention.objects.filter(item__source_id="m2").count() == 2


def test_people_of_another_user_are_not_mentioned(model: ScriptedModel) -> None:
    first = account(user="maya")
    organisation = Organisation.objects.get(pk=first.organisation_id)
    second = account(user="leo", organisation=organisation)
    take(first, email())
    take(second, email())

    for owner in (first, second):
        [user] = {
            m.entity.external_user_id
            for m in Mention.objects.filter(account_id=owner.id).select_related("entity")
        }
        assert user == owner.external_user_id
    assert Entity.objects.count() == 4


@pytest.mark.django_db(transaction=True)
def test_the_same_new_item_twice_at_once_is_one_item(settings: Any) -> None:
    owner = account()
    both = threading.Barrier(2)

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        both.wait(60)
        return summarised(body)

    states: list[str] = []

    def work() -> None:
        try:
            states.append(take(owner, rich()).state)
        finally:
            connection.close()

    with scripted_model(settings, {READER: reply}):
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert sorted(states) == ["created", "updated"]
    assert Item.objects.count() == 1
    assert Mention.objects.count() == Entity.objects.count()
    assert set(Chunk.objects.values_list("item", flat=True)) == {Item.objects.get().pk}


def test_a_deletion_that_is_remembered_keeps_an_older_version_out(model: ScriptedModel) -> None:
    owner = account()
    forget(account=owner, source_id="m1", at=NOW)

    assert take(owner, email()).state == "stale"
    assert Item.objects.get().text == ""


@pytest.mark.parametrize("subjects", ["one of each", "one twice"])
def test_what_is_to_come_with_a_new_item_is_stored_with_it(
    model: ScriptedModel, subjects: str
) -> None:
    owner = account()
    changes = {} if subjects == "one of each" else {"cc": ["john@company.com"]}

    def name(chosen: str) -> Beside:
        statement = "UPDATE integrations_organisation SET name = %s {condition} RETURNING id"
        return Beside(statement, [chosen])

    def list_stored() -> tuple[int, str]:
        organisation = Organisation.objects.get(id=owner.organisation_id)
        return Item.objects.filter(account_id=owner.id).count(), organisation.name

    assert take(owner, email(**changes), beside=lambda: name("Stored")).has_beside
    assert list_stored() == (1, "Stored")

    take(owner, email(version=2, body_text="Another one."), beside=pytest.fail)
    take(owner, event(), beside=pytest.fail)


def test_what_was_there_already_beside_a_new_item_is_said(model: ScriptedModel) -> None:
    none = Beside("SELECT WHERE FALSE", ())

    outcome = take(account(), email(), beside=lambda: none)

    assert (outcome.state, outcome.has_beside) == ("created", False)


def test_nothing_comes_beside_an_item_that_somebody_stores_at_the_same_time(
    model: ScriptedModel,
) -> None:
    owner = account()

    def store_it_first() -> Beside:
        take(owner, email())
        return Beside("DELETE FROM integrations_account {condition} RETURNING id", [])

    outcome = take(owner, email(), beside=store_it_first)

    assert (outcome.state, outcome.has_beside) == ("updated", False)
