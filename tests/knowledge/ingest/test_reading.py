"""Items are read by a child, which says the same as the parser itself."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from integrations.child import Child, Unreadable
from integrations.contracts import AnyItem
from knowledge.ingest import reading
from knowledge.ingest.ingest import ingest
from knowledge.ingest.page import look_up_page
from knowledge.ingest.reading import SENTENCES, read_item
from knowledge.models import Item, SyncFailure
from knowledge.text.parsing import parse
from tests.knowledge.mailboxes import Mailbox, advance, counts, started
from tests.knowledge.office import account, email
from tests.model_server import ScriptedModel

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@pytest.fixture
def stubborn(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A child that never reads an item with the title “Hang”."""
    child = Child("tests.stubborn_child", seconds=1)
    monkeypatch.setattr(reading, "CHILD", child)
    yield
    child.close()


@given(subject=TEXT, body=TEXT, html=TEXT, names=st.lists(TEXT, max_size=3))
def test_it_says_what_the_parser_says(subject: str, body: str, html: str, names: list[str]) -> None:
    item = email(subject=subject, body_text=body, body_html=html, to=names, sender_name=subject)

    assert read_item(item, source_id=item.id) == parse(item, source_id=item.id)


def test_a_large_item_is_read_by_a_child_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_: Any) -> bytes:
        raise AssertionError("it was asked")

    for size, other in ((reading.LARGE + 1, "CHILD"), (reading.LARGE // 2, "CHILD_FOR_LARGE")):
        item = email(body_text="a" * size)
        with monkeypatch.context() as patched:
            patched.setattr(getattr(reading, other), "ask", never)
            assert read_item(item, source_id=item.id).whole


@pytest.mark.django_db
def test_what_cannot_be_read_is_not_stored_and_costs_no_model(
    stubborn: None, model: ScriptedModel
) -> None:
    with pytest.raises(Unreadable) as caught:
        ingest(account=account(), source_id="m", item=email(id="m", subject="Hang"), now=NOW)

    assert SENTENCES[caught.value.reason].startswith("Reading it took so long")
    assert (Item.objects.count(), model.requests) == (0, [])


@pytest.mark.django_db
def test_what_a_page_could_not_read_is_not_tried_a_second_time(
    stubborn: None, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, mail = account(), email(id="m", subject="Hang")
    lookup = look_up_page(account=owner, items=[mail])

    def never(*_: Any, **__: Any) -> AnyItem:
        raise AssertionError("it was read a second time")

    monkeypatch.setattr(reading.CHILD, "ask", never)
    assert lookup.unreadable == {"m": "too_slow"}
    with pytest.raises(Unreadable):
        ingest(account=owner, source_id="m", item=mail, now=NOW, lookup=lookup)


@pytest.mark.django_db(transaction=True)
def test_a_sync_sets_it_aside_and_reads_the_others(
    stubborn: None, mailbox: Mailbox, model: ScriptedModel
) -> None:
    mailbox.mails[1] = email(id="m1", subject="Hang")
    row = started(account())

    assert advance(row) == "finished"
    assert (row.state, counts(row), row.reasons) == ("done", (5, 4, 0, 1), {"too_slow": 1})
    failure = SyncFailure.objects.get()
    assert (failure.source_id, failure.reason, failure.state) == ("m1", "too_slow", "dead")
