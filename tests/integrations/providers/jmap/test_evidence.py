"""What became of a mail whose answer was lost: the request never came, came late, came half, or was
carried out. The server is real; the way to it is cut."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal
from unittest import mock

import pytest
from django.utils import timezone

from integrations.exceptions import Unavailable
from integrations.models import MailWrite
from integrations.ports.evidence import CannotTell, NotPerformed, Performed
from integrations.providers.jmap.answers import Answers, Call
from integrations.providers.jmap.session import JmapSession
from integrations.providers.mailboxes import progress
from integrations.providers.mailboxes.progress import NotSent
from tests.cyrus_world import needs_cyrus
from tests.integrations.providers.jmap.box import Box, mail

pytestmark = [needs_cyrus, pytest.mark.django_db]
Where = Literal["before", "after", "between"]


@dataclass
class Cut:
    """The request whose answer is lost, to be sent on later as a slow network does."""

    requests: list[tuple[JmapSession, tuple[Call, ...]]] = field(default_factory=list)

    def arrive(self) -> Answers:
        ((session, calls),) = self.requests
        return session.change(*calls)


@contextmanager
def cut(where: Where) -> Iterator[Cut]:
    """The first request that changes anything has no answer: it did not leave, the server carried
    it out, or it went down in the middle of it."""
    found, really = Cut(), JmapSession.change

    def change(self: JmapSession, *calls: Call) -> Answers:
        if found.requests:
            return really(self, *calls)
        found.requests.append((self, calls))
        if where == "after":
            really(self, *calls)
        if where == "between":
            really(self, calls[0])
        raise Unavailable("the answer is lost")

    with mock.patch.object(JmapSession, "change", change):
        yield found


def test_what_was_sent_is_found_and_not_sent_again(box: Box) -> None:
    with cut("after"), pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="k1")

    found = box.reader.evidence("k1")

    assert isinstance(found, Performed)
    assert box.reader.email(found.response["id"]).labels == ("SENT",)
    with pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="k1")
    assert len(box.world.sink.of(box.address)) == 1


def test_what_did_not_arrive_is_proved_to_be_not_sent_and_cannot_arrive_any_more(box: Box) -> None:
    with cut("before") as request, pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="k1")

    assert isinstance(box.reader.evidence("k1"), NotPerformed)

    request.arrive()
    assert box.world.sink.of(box.address) == []
    assert box.held() == {}
    assert isinstance(box.reader.evidence("k1"), NotPerformed)
    with pytest.raises(NotSent):
        box.writer.send_email(mail(), key="k1")
    assert box.world.sink.of(box.address) == []


def test_a_mailbox_that_changed_meanwhile_is_left_as_it_is(box: Box) -> None:
    with cut("before") as request, pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="k1")
    box.deliver()

    with mock.patch.object(JmapSession, "change") as change:
        assert isinstance(box.reader.evidence("k1"), NotPerformed)

    assert change.call_count == 0
    request.arrive()
    assert box.world.sink.of(box.address) == []


def test_a_server_that_went_down_in_the_middle_leaves_it_to_a_person(box: Box) -> None:
    with cut("between"), pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="k1")

    found = box.reader.evidence("k1")
    assert isinstance(found, CannotTell)
    assert found.ask_again_at is not None

    MailWrite.objects.update(changed_at=timezone.now() - timedelta(minutes=11))
    assert box.reader.evidence("k1") == CannotTell(ask_again_at=None)
    assert box.world.sink.of(box.address) == []


def test_a_mail_that_comes_between_the_look_and_the_sending_does_no_harm(box: Box) -> None:
    count, really = 0, JmapSession.change

    def change(self: JmapSession, *calls: Call) -> Answers:
        nonlocal count
        count += 1
        if count == 1:
            box.deliver()
        return really(self, *calls)

    with mock.patch.object(JmapSession, "change", change):
        box.writer.send_email(mail(), key="k1")

    assert count == 2
    assert len(box.world.sink.of(box.address)) == 1
    assert box.held() == {"INBOX": [("Lunch", ())], "Sent": [("Friday", (b"\\Seen",))]}


def test_a_mailbox_that_never_stands_still_gets_no_mail_out(box: Box) -> None:
    really = JmapSession.change

    def change(self: JmapSession, *calls: Call) -> Answers:
        box.deliver()
        return really(self, *calls)

    with mock.patch.object(JmapSession, "change", change), pytest.raises(Unavailable) as failed:
        box.writer.send_email(mail(), key="k1")

    assert not failed.value.outcome_unknown
    assert box.world.sink.of(box.address) == []
    assert isinstance(box.reader.evidence("k1"), NotPerformed)


def test_who_is_asked_before_the_mail_leaves_calls_it_off(box: Box) -> None:
    assert isinstance(box.reader.evidence("k1"), NotPerformed)

    with pytest.raises(NotSent):
        box.writer.send_email(mail(), key="k1")

    assert box.world.sink.of(box.address) == []


def test_what_is_tried_anew_at_this_moment_is_not_called_off(box: Box) -> None:
    """One process has been refused and aims at another state while another one looks."""
    with cut("before"), pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="k1")
    box.deliver()
    old = MailWrite.objects.get(key="k1")
    progress.aim(MailWrite.objects.get(key="k1"), old.target | {"state": "another"})

    assert not progress.refuse(old)
    assert MailWrite.objects.get(key="k1").state == progress.SUBMITTING


def test_who_was_called_off_does_not_aim_again(box: Box) -> None:
    with cut("before"), pytest.raises(Unavailable):
        box.writer.send_email(mail(), key="k1")
    hung = MailWrite.objects.get(key="k1")
    assert isinstance(box.reader.evidence("k1"), NotPerformed)

    with pytest.raises(NotSent):
        progress.aim(hung, hung.target | {"state": "another"})


def test_a_draft_is_found_again_and_not_written_twice(box: Box) -> None:
    with cut("after"), pytest.raises(Unavailable):
        box.writer.create_draft(mail(), key="k1")

    assert isinstance(box.reader.evidence("k1"), Performed)
    box.writer.create_draft(mail(), key="k1")

    assert [len(mails) for mails in box.held().values()] == [1]


def test_a_draft_that_did_not_arrive_is_written_and_a_late_one_is_refused(box: Box) -> None:
    with cut("before") as request, pytest.raises(Unavailable):
        box.writer.create_draft(mail(), key="k1")
    assert isinstance(box.reader.evidence("k1"), NotPerformed)

    box.writer.create_draft(mail(), key="k1")
    request.arrive()

    assert box.held() == {"Drafts": [("Friday", (b"\\Draft", b"\\Seen"))]}


@pytest.mark.parametrize(("where", "kind"), [("before", NotPerformed), ("after", Performed)])
def test_a_change_is_looked_for_at_the_mail(box: Box, where: Where, kind: type) -> None:
    box.deliver()
    id = box.only().id

    with cut(where), pytest.raises(Unavailable):
        box.writer.change_labels(id, add=["Client"], remove=["INBOX"], key="k1")

    assert isinstance(box.reader.evidence("k1"), kind)
