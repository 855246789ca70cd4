from typing import Any

import pytest
from django.db import connection

from integrations.contracts import AccountRef
from knowledge.ingest import indexing
from knowledge.ingest.ingest import ingest
from knowledge.ingest.metadata import find_own_changes, refresh
from knowledge.models import Item
from knowledge.text.parsing import parse
from knowledge.versions import Version
from tests.knowledge.office import NOW, account, email, event, take
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db


def store(owner: AccountRef, *answers: dict[str, Any]) -> list[str]:
    stored = [change.store() for change in find_own_changes(owner, answers)]
    return [one for one in stored if one]


def answer(**changes: Any) -> dict[str, Any]:
    """The mail as its provider answers with it."""
    return email(**changes).model_dump(mode="json", by_alias=True)


def test_what_an_own_action_changed_is_stored_by_its_answer(
    model: ScriptedModel, django_assert_num_queries: Any
) -> None:
    owner = account()
    take(owner, email(labels=["INBOX"]))

    with django_assert_num_queries(2):
        done = [answer(version=2, labels=["INBOX", "Bills"]), answer(version=3, labels=["Bills"])]
        assert store(owner, {"id": "draft-1"}, *done) == ["metadata"]
    assert store(owner, answer(version=4, labels=["Bills", "UNREAD"])) == ["metadata"]

    row = Item.objects.get(account_id=owner.id)
    assert (row.own_since, row.source_version) == (2, 4)
    assert row.metadata["labels"] == ["Bills", "UNREAD"]
    assert "bills" in str(row.search)


def test_a_change_of_anybody_else_ends_what_is_known_as_own(model: ScriptedModel) -> None:
    owner = account()
    take(owner, email())
    assert store(owner, answer(version=2, labels=["Bills"])) == ["metadata"]

    take(owner, email(version=3, labels=[]))

    row = Item.objects.get(account_id=owner.id)
    assert (row.own_since, row.source_version) == (None, 3)
    assert store(owner, answer(version=4, labels=["Bills"])) == ["metadata"]
    row.refresh_from_db()
    assert (row.own_since, row.source_version) == (4, 4)


def words_of(row: Item) -> set[tuple[str, str]]:
    """Each word that the row is found by, with its weights."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT lexeme, weight FROM knowledge_item, unnest(search) one,"
            " unnest(one.weights) weight WHERE id = %s",
            [row.id],
        )
        return set(cursor.fetchall())


@pytest.mark.parametrize("has_languages", [True, False])
def test_a_change_of_labels_leaves_the_words_as_if_all_had_been_looked_at(
    model: ScriptedModel, has_languages: bool
) -> None:
    owner = account()
    said = {"subject": "The bills of März", "body_text": "An old label, and it's late. " * 90}
    take(owner, email(labels=["INBOX", "Old Label"], **said))
    row = Item.objects.get(account_id=owner.id)
    before = words_of(row)
    if not has_languages:  # it was stored before languages were recognised, all with one weight
        Item.objects.update(languages=None, search="'old':1 'march':2")

    new = ["Bills", "'März'", "Zu zahlen"]
    assert store(owner, answer(version=2, labels=new, **said)) == ["metadata"]

    changed = words_of(row)
    assert {("old", "C"), ("bills", "A"), ("bills", "D"), ("marz", "D")} <= changed
    assert {("old", "D"), ("inbox", "D")} & changed == set()
    assert before - changed == {("old", "D"), ("inbox", "D"), ("label", "D")}
    row = Item.objects.get(account_id=owner.id)
    Item.objects.update(search=indexing.index(row))
    assert words_of(row) == changed


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 3},  # somebody was in between
        {"version": 1},
        {"version": 0},
        {"version": 2, "body_text": "Other words."},
        {"version": 2, "id": "m2"},
        {"version": 2, "date": "never"},
    ],
)
def test_an_answer_that_is_not_this_mail_one_version_on_stores_nothing(
    model: ScriptedModel, changes: dict[str, Any]
) -> None:
    owner = account()
    take(owner, email(labels=["INBOX"]))
    told = answer(labels=[]) | changes

    assert store(owner, told) == []

    row = Item.objects.get(account_id=owner.id)
    assert (row.own_since, row.source_version, row.metadata["labels"]) == (None, 1, ["INBOX"])


def test_an_event_is_left_to_its_webhook(model: ScriptedModel) -> None:
    owner = account(source="calendar")
    take(owner, event())

    changed = event(version=2, location="Room 5").model_dump(mode="json", by_alias=True)
    assert store(owner, changed) == []


def test_actions_between_which_somebody_changed_the_mail_are_left_to_their_webhooks(
    model: ScriptedModel,
) -> None:
    owner = account()
    take(owner, email())

    assert store(owner, answer(version=2), answer(version=4)) == []
    assert Item.objects.get(account_id=owner.id).source_version == 1


def test_what_somebody_else_wrote_meanwhile_is_not_overwritten(model: ScriptedModel) -> None:
    owner = account()
    take(owner, email(labels=["INBOX"]))
    seen = Item.objects.defer("search").get(account_id=owner.id)
    take(owner, email(version=2, labels=["Bills"]))
    newer = email(version=3, labels=[])

    version = Version(number=3, updated_at=newer.updated_at)
    assert refresh(seen, parse(newer, source_id="m1"), version).store() is None

    row = Item.objects.get(account_id=owner.id)
    assert (row.source_version, row.metadata["labels"]) == (2, ["Bills"])
    assert ingest(account=owner, source_id="m1", item=newer, now=NOW).state == "metadata"
