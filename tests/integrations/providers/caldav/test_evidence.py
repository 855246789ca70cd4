"""What became of a write whose answer was lost, on real servers."""

from datetime import timedelta

import pytest
from django.utils import timezone

from integrations.models import CalendarWrite
from integrations.ports.evidence import CannotTell, NotPerformed, Performed
from tests.calendar_world import event
from tests.integrations.providers.caldav.box import Box

pytestmark = pytest.mark.django_db

LUNCH = {
    "title": "Lunch",
    "start": "2026-03-09T12:00:00+01:00",
    "end": "2026-03-09T13:00:00+01:00",
}
KEY = "remit-1"


def lose_the_answer() -> None:
    """As after a crash, or an answer that never came."""
    CalendarWrite.objects.update(done=False, answer={})


def wait() -> None:
    CalendarWrite.objects.update(changed_at=timezone.now() - timedelta(minutes=1))


def begin(box: Box, operation: str, *, before: str = "") -> None:
    """A write of which nothing reached the server."""
    (path,) = box.server.held() or [f"{box.server.calendar}{KEY}.ics"]
    CalendarWrite.objects.create(
        account_id=box.account.id, key=KEY, operation=operation, path=path, etag_before=before
    )


def test_what_was_never_begun_was_not_done(box: Box) -> None:
    assert isinstance(box.reader.evidence(KEY), NotPerformed)


def test_a_new_event_is_found_again_by_its_key(box: Box) -> None:
    made = box.writer.create_event(LUNCH, key=KEY)
    lose_the_answer()

    found = box.reader.evidence(KEY)

    assert isinstance(found, Performed)
    assert found.response == made


def test_a_change_is_found_again_by_its_mark(box: Box) -> None:
    box.server.put("plan", event("Plan"))
    before = box.only()
    changed = box.writer.change_event(
        before.id, {"title": "New"}, revision=before.revision, key=KEY
    )
    lose_the_answer()

    found = box.reader.evidence(KEY)
    assert isinstance(found, Performed)
    assert found.response == changed
    again = box.writer.change_event(before.id, {"title": "New"}, revision=before.revision, key=KEY)
    assert again == changed


@pytest.mark.parametrize("operation", ["create_event", "change_event", "cancel_event"])
def test_what_never_arrived_is_not_done_once_it_cannot_come_late(box: Box, operation: str) -> None:
    before = ""
    if operation != "create_event":
        before = box.server.put("plan", event("Plan"))
    begin(box, operation, before=before)

    early = box.reader.evidence(KEY)
    assert isinstance(early, CannotTell)
    assert early.ask_again_at is not None
    wait()
    assert isinstance(box.reader.evidence(KEY), NotPerformed)


def test_what_somebody_else_changed_since_is_a_persons_question(box: Box) -> None:
    before = box.server.put("plan", event("Plan"))
    begin(box, "change_event", before=before)
    wait()
    box.server.put("plan", event("Somebody else's"))

    assert box.reader.evidence(KEY) == CannotTell(ask_again_at=None)


def test_a_change_that_ended_before_it_was_sent_is_no_question(box: Box) -> None:
    box.server.put("plan", event("Plan"))
    begin(box, "change_event")
    wait()

    assert box.reader.evidence(KEY) == NotPerformed(proof="Remit had not sent the change yet.")


def test_an_event_that_is_gone_was_cancelled(box: Box) -> None:
    begin(box, "cancel_event")

    assert isinstance(box.reader.evidence(KEY), Performed)
