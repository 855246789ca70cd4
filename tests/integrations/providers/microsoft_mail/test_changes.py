"""What is new in a mailbox at Microsoft is seen once, by its links or, where one is lost,
without."""

from datetime import timedelta

import pytest

from integrations.accounts import arrivals
from integrations.models import Delivery, MailState
from tests.integrations.providers.microsoft_mail.box import Box
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _begun(box: Box) -> None:
    """The mailbox has been looked at once, after the old mail and before all that happens."""
    box.outlook.receive("Old")
    assert box.look() == []
    MailState.objects.update(begun_at=box.outlook.now + timedelta(seconds=1))


def test_what_comes_is_new_once_and_what_was_there_never(box: Box) -> None:
    box.outlook.page = 1
    box.outlook.receive("Lunch")
    box.outlook.receive("Dinner")
    box.outlook.receive("Draft", folder="drafts")
    box.outlook.receive("Junk", folder="junkemail")

    assert box.look() == [("created", "Lunch"), ("created", "Dinner")]
    assert box.look() == []


def test_what_a_person_does_is_an_update_and_a_move_deletes_nothing(box: Box) -> None:
    kept = box.outlook.receive("Lunch")
    assert arrivals.look(box.account.id, enqueue=lambda id: None) == 1

    box.outlook.mark(kept, is_read=True)
    assert box.look() == [("updated", "Lunch")]
    box.outlook.move(kept, "archive")
    assert set(box.look()) == {("updated", "Lunch")}
    box.outlook.move(kept, "deleteditems")
    assert box.look() == [("updated", "Lunch")]
    assert box.look() == []


def test_what_is_deleted_is_gone(box: Box) -> None:
    kept = box.outlook.receive("Lunch")
    box.look()
    box.outlook.delete(kept)

    assert box.look() == [("deleted", kept.id)]


def test_a_folder_that_is_made_later_tells_no_old_mail(box: Box) -> None:
    name = box.outlook.make_folder("Clients")
    box.outlook.receive("Lunch", folder=name)
    early = box.outlook.receive("Early", folder=name)
    early.at -= timedelta(days=9)

    assert box.look() == [("created", "Lunch")]


@pytest.mark.parametrize(
    "said",
    [
        Refuse(410, {"error": {"code": "syncStateNotFound"}}),
        Refuse(400, {"error": {"code": "SyncStateNotFound"}}),
    ],
    ids=["410", "400"],
)
def test_where_a_link_is_lost_what_came_since_is_found_and_stored_once(
    box: Box, said: Refuse
) -> None:
    box.outlook.lost = said
    box.outlook.receive("Seen")
    assert arrivals.look(box.account.id, enqueue=lambda id: None) == 1
    box.outlook.receive("Lunch")
    box.outlook.forget()
    box.outlook.receive("Dinner")

    assert arrivals.look(box.account.id, enqueue=lambda id: None) == 2

    subjects = [one.body["data"]["subject"] for one in Delivery.objects.order_by("received_at")]
    assert sorted(subjects) == ["Dinner", "Lunch", "Seen"]
    assert arrivals.look(box.account.id, enqueue=lambda id: None) == 0
