"""What is new in a Gmail mailbox is seen once, by its history or, where that is lost, without."""

from datetime import timedelta

import pytest

from integrations.accounts import arrivals
from integrations.models import Delivery, MailState
from tests.integrations.providers.google_mail.box import Box
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _begun(box: Box) -> None:
    """The mailbox has been looked at once, before all that happens; its mark is as old."""
    box.gmail.receive("Old")
    assert box.look() == []
    begun_at = box.gmail.now - timedelta(hours=1)
    MailState.objects.update(begun_at=begun_at)


def test_what_comes_is_new_once_and_what_was_there_never(box: Box) -> None:
    box.gmail.receive("Lunch")
    box.gmail.receive("Dinner")

    assert box.look() == [("created", "Lunch"), ("created", "Dinner")]
    assert box.look() == []


def test_a_history_of_several_pages_is_read_to_its_end(box: Box) -> None:
    box.gmail.page = 1
    for number in range(3):
        box.gmail.receive(f"Mail {number}")

    assert box.look() == [("created", f"Mail {number}") for number in range(3)]
    assert box.look() == []


def test_a_look_that_breaks_off_between_two_pages_loses_nothing(box: Box) -> None:
    box.gmail.page = 1
    first, second = box.gmail.receive("One"), box.gmail.receive("Two")
    mark = MailState.objects.get().state
    box.gmail.before["GET /messages/" + second.id] = lambda: box.gmail.refuse.append(Refuse(403))

    with pytest.raises(Exception, match="does not let"):
        arrivals.look(box.account.id, enqueue=lambda id: None)
    assert MailState.objects.get().state == mark
    arrivals.look(box.account.id, enqueue=lambda id: None)

    seen = Delivery.objects.order_by("received_at").values_list("source_id", flat=True)
    assert list(seen) == [first.id, second.id]


def test_marks_that_a_person_sets_are_updates_and_junk_and_drafts_are_no_news(box: Box) -> None:
    kept = box.gmail.receive("Lunch")
    junk = box.gmail.receive("Junk")
    box.gmail.mark(junk.id, add=("SPAM",), remove=("INBOX",))
    draft = box.gmail.receive("Draft")
    box.gmail.mark(draft.id, add=("DRAFT",), remove=("INBOX",))
    assert box.look() == [("created", "Lunch")]

    box.gmail.mark(kept.id, add=("STARRED",))
    box.gmail.mark(kept.id, remove=("UNREAD",))
    assert box.look() == [("created", "Lunch")]  # no delivery of it is stored in this test
    arrivals.look(box.account.id, enqueue=lambda id: None)
    Delivery.objects.create(
        organisation_id=box.account.organisation_id,
        account_id=box.account.id,
        webhook_id="x",
        source_id=kept.id,
        body={},
    )
    box.gmail.mark(kept.id, add=("Label_7",))
    assert box.look() == [("updated", "Lunch")]
    box.gmail.mark(junk.id, add=("INBOX",), remove=("SPAM",))
    assert box.look() == [("created", "Junk")]


def test_what_is_deleted_is_gone(box: Box) -> None:
    kept = box.gmail.receive("Lunch")
    box.look()
    box.gmail.delete(kept.id)

    assert box.look() == [("deleted", kept.id)]


def test_where_history_is_lost_what_came_since_is_found_and_stored_once(box: Box) -> None:
    box.gmail.receive("Seen")
    assert arrivals.look(box.account.id, enqueue=lambda id: None) == 1
    box.gmail.receive("Lunch")
    box.gmail.forget_history()
    box.gmail.receive("Dinner")

    found: list[object] = []
    arrivals.look(box.account.id, enqueue=found.append)

    subjects = [one.body["data"]["subject"] for one in Delivery.objects.order_by("received_at")]
    assert subjects.count("Seen") == 1
    assert {"Lunch", "Dinner"} < set(subjects)
    assert arrivals.look(box.account.id, enqueue=found.append) == 0
    assert MailState.objects.get().state == str(box.gmail.number)
