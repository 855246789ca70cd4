"""A mail that is handed over to a real server (Dovecot), and what is known of it when that goes
wrong."""

import smtplib
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from django.utils import timezone

from integrations.contracts.outgoing import OutgoingMail
from integrations.exceptions import Unavailable
from integrations.models import MailWrite
from integrations.ports.evidence import CannotTell, NotPerformed, Performed
from integrations.providers.mailboxes import progress
from integrations.providers.mailboxes.progress import NotSent
from tests.integrations.providers.imap.box import Box, sent_from
from tests.mail_world import needs_dovecot

pytestmark = [needs_dovecot, pytest.mark.django_db]

LAST_WORD = b"BDAT 0 LAST\r\n"
KEY = "0199aaaa-0000-7000-8000-000000000001"


def test_after_the_last_word_nobody_can_tell_and_nothing_is_sent_again(box: Box) -> None:
    mail = OutgoingMail(to=("tom@elsewhere.test",), subject="x", body="y")
    with (
        mock.patch.object(smtplib.SMTP, "getreply", hang_up_after_the_mail()),
        pytest.raises(Unavailable) as lost,
    ):
        box.writer.send_email(mail, key=KEY)
    assert lost.value.outcome_unknown
    assert box.reader.evidence(KEY) == CannotTell(ask_again_at=mock.ANY)

    with pytest.raises(Unavailable):
        box.writer.send_email(mail, key=KEY)

    assert len([one for one in box.world.sink.taken if one[0] == box.address]) == 1


def test_before_the_last_word_it_is_proved_that_nothing_was_sent(box: Box) -> None:
    mail = OutgoingMail(to=("tom@elsewhere.test",), subject="x", body="y")
    with (
        mock.patch.object(smtplib.SMTP, "send", broken_in_the_text()),
        pytest.raises(NotSent) as lost,
    ):
        box.writer.send_email(mail, key=KEY)
    assert not lost.value.outcome_unknown

    box.writer.send_email(mail, key=KEY)

    assert len(sent_from(box)) == 1


def test_a_server_that_breaks_off_once_is_offered_the_mail_again(box: Box) -> None:
    original, broken = smtplib.SMTP.send, broken_in_the_text()
    sends = iter([broken])

    def send(self: Any, data: Any) -> None:
        is_text = isinstance(data, bytes) and b"Subject:" in data
        (next(sends, original) if is_text else original)(self, data)

    mail = OutgoingMail(to=("tom@elsewhere.test",), subject="x", body="y")
    with mock.patch.object(smtplib.SMTP, "send", send):
        answer = box.writer.send_email(mail, key=KEY)

    assert len(sent_from(box)) == 1
    assert box.reader.evidence(KEY) == Performed(response=answer, at=mock.ANY)


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"In-Reply-To": f"<{KEY}@office.test>"}, "Thank you."),
        ({"From": "MAILER-DAEMON@office.test"}, f"Undelivered:\nMessage-ID: <{KEY}@office.test>"),
        ({"Message-ID": f"<{KEY}@office.test>"}, "y"),
    ],
    ids=["answer", "bounce", "own copy"],
)
def test_what_comes_back_proves_that_a_mail_in_doubt_went_out(
    box: Box, headers: dict[str, str], body: str
) -> None:
    mail = OutgoingMail(to=("tom@elsewhere.test",), subject="x", body="y")
    with (
        mock.patch.object(smtplib.SMTP, "getreply", hang_up_after_the_mail()),
        pytest.raises(Unavailable),
    ):
        box.writer.send_email(mail, key=KEY)
    box.deliver("Something else")
    box.writer.create_draft(OutgoingMail(to=("a@b.test",), subject=KEY), key="2")
    assert box.reader.evidence(KEY) == CannotTell(ask_again_at=mock.ANY)

    box.deliver("Re: x", body, **headers)

    target = MailWrite.objects.get(account_id=box.account.id, key=KEY).target
    assert box.reader.evidence(KEY) == Performed(response=target, at=mock.ANY)


def test_a_mail_in_doubt_is_looked_for_less_and_less_often(box: Box) -> None:
    began = timezone.now() - timedelta(hours=3)
    row = MailWrite.objects.create(
        account_id=box.account.id, key=KEY, operation="send_email", state=progress.SUBMITTING
    )
    first = box.reader.evidence(KEY)
    MailWrite.objects.filter(pk=row.pk).update(changed_at=began)
    later = box.reader.evidence(KEY)

    assert isinstance(first, CannotTell)
    assert isinstance(later, CannotTell)
    assert first.ask_again_at is not None
    assert later.ask_again_at is not None
    assert first.ask_again_at - row.changed_at < timedelta(minutes=11)
    assert later.ask_again_at - began > timedelta(hours=6)


def test_what_was_called_not_sent_is_not_sent_by_a_process_that_hung(box: Box) -> None:
    mail = OutgoingMail(to=("tom@elsewhere.test",), subject="x", body="y")
    found = []

    def recovery() -> None:
        found.append(box.reader.evidence(KEY))

    with (
        mock.patch.object(smtplib.SMTP, "send", meanwhile(b"Subject:", recovery)),
        pytest.raises(NotSent) as lost,
    ):
        box.writer.send_email(mail, key=KEY)

    assert [type(one) for one in found] == [NotPerformed]
    assert not lost.value.outcome_unknown
    with pytest.raises(NotSent):
        box.writer.send_email(mail, key=KEY)
    assert sent_from(box) == []


def test_what_was_called_not_sent_before_it_began_is_never_sent(box: Box) -> None:
    assert isinstance(box.reader.evidence(KEY), NotPerformed)

    with pytest.raises(NotSent):
        box.writer.send_email(OutgoingMail(to=("tom@elsewhere.test",), subject="x"), key=KEY)

    assert sent_from(box) == []
    assert isinstance(box.reader.evidence(KEY), NotPerformed)


def test_once_the_last_word_is_under_way_nobody_calls_the_mail_off(box: Box) -> None:
    mail = OutgoingMail(to=("tom@elsewhere.test",), subject="x", body="y")
    found = []

    def recovery() -> None:
        found.append(box.reader.evidence(KEY))

    with mock.patch.object(smtplib.SMTP, "send", meanwhile(LAST_WORD, recovery)):
        answer = box.writer.send_email(mail, key=KEY)

    assert found == [CannotTell(ask_again_at=mock.ANY)]
    assert len(sent_from(box)) == 1
    assert box.reader.evidence(KEY) == Performed(response=answer, at=mock.ANY)


def test_of_two_processes_one_sends(box: Box) -> None:
    mail = OutgoingMail(to=("tom@elsewhere.test",), subject="x", body="y")
    answers: list[dict[str, Any]] = []

    def other() -> None:
        with mock.patch.object(smtplib.SMTP, "send", smtplib_send):
            answers.append(box.writer.send_email(mail, key=KEY))

    smtplib_send = smtplib.SMTP.send
    with (
        mock.patch.object(smtplib.SMTP, "send", meanwhile(b"Subject:", other)),
        pytest.raises(Unavailable) as lost,
    ):
        box.writer.send_email(mail, key=KEY)

    assert lost.value.outcome_unknown
    assert len(sent_from(box)) == 1
    assert box.reader.evidence(KEY) == Performed(response=answers[0], at=mock.ANY)


def test_an_answer_to_the_whole_mail_that_is_none_proves_nothing(box: Box) -> None:
    mail = OutgoingMail(to=("tom@elsewhere.test",), subject="x", body="y")
    with (
        mock.patch.object(smtplib.SMTP, "getreply", hang_up_after_the_mail((-1, b"garbage"))),
        pytest.raises(Unavailable) as lost,
    ):
        box.writer.send_email(mail, key=KEY)

    assert lost.value.outcome_unknown
    assert box.reader.evidence(KEY) == CannotTell(ask_again_at=mock.ANY)


def meanwhile(text: bytes, act: Callable[[], None]) -> Any:
    """Something else happens right before these bytes leave."""
    original = smtplib.SMTP.send

    def send(self: Any, data: Any) -> None:
        if isinstance(data, bytes) and text in data:
            act()
        original(self, data)

    return send


def hang_up_after_the_mail(answer: tuple[int, bytes] | None = None) -> Any:
    """The answer to the whole mail is lost, or this one: the server has the mail."""
    original = smtplib.SMTP.getreply

    def getreply(self: Any) -> Any:
        found = original(self)
        if b"queued" not in found[1].lower() and b"taken" not in found[1].lower():
            return found
        if answer:
            return answer
        self.close()
        raise smtplib.SMTPServerDisconnected("Connection unexpectedly closed")

    return getreply


def broken_in_the_text() -> Any:
    original = smtplib.SMTP.send

    def send(self: Any, data: Any) -> None:
        if isinstance(data, bytes) and b"Subject:" in data:
            original(self, data[: len(data) // 2])
            self.close()
            raise smtplib.SMTPServerDisconnected("Server not connected")
        original(self, data)

    return send
