"""A blind copy of what is sent to who sends it, at a real server (Dovecot): filed as the sent mail,
and a proof where the answer to the mail is lost."""

import smtplib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

from integrations.contracts.outgoing import OutgoingMail
from integrations.exceptions import Unavailable
from integrations.models import Credential, MailWrite
from integrations.ports.evidence import CannotTell, Performed
from integrations.providers.imap import writer as imap_writer
from tests.integrations.providers.imap.box import Box, sent_from
from tests.integrations.providers.imap.test_writer_sending import hang_up_after_the_mail
from tests.mail_world import MailWorld, needs_dovecot, running_mail_world

pytestmark = [needs_dovecot, pytest.mark.django_db]

KEY = "0199aaaa-0000-7000-8000-000000000001"
SEEN = b"\\Seen"
MAIL = OutgoingMail(to=("tom@office.test",), subject="Lunch", body="At noon.")


@pytest.fixture(scope="module")
def world() -> Iterator[MailWorld]:
    with running_mail_world(delivers=True) as running:
        yield running


@pytest.fixture
def copied(box: Box) -> Box:
    return replace(box, account=replace(box.account, bcc_self=True))


def test_the_copy_that_comes_back_is_the_sent_mail(copied: Box) -> None:
    answer = copied.writer.send_email(MAIL, key=KEY)

    assert copied.held() == {"Sent": [("Lunch", (SEEN,))]}
    assert copied.reader.email(answer["id"]).labels == ("SENT",)
    ((_, receivers, raw),) = sent_from(copied)
    assert receivers == ["tom@office.test", copied.address]
    assert b"Bcc" not in raw
    assert copied.reader.evidence(KEY) == Performed(response=answer, at=mock.ANY)


def test_without_the_setting_nobody_else_gets_the_mail(box: Box) -> None:
    box.writer.send_email(MAIL, key=KEY)

    assert box.held() == {"Sent": [("Lunch", (SEEN,))]}
    assert [receivers for _, receivers, _ in sent_from(box)] == [["tom@office.test"]]


def test_where_the_answer_is_lost_the_copy_proves_that_the_mail_went_out(copied: Box) -> None:
    with (
        mock.patch.object(smtplib.SMTP, "getreply", hang_up_after_the_mail()),
        pytest.raises(Unavailable) as lost,
    ):
        copied.writer.send_email(MAIL, key=KEY)

    assert lost.value.outcome_unknown
    assert copied.held() == {"INBOX": [("Lunch", ())]}
    target = MailWrite.objects.get(account_id=copied.account.id, key=KEY).target
    assert copied.reader.evidence(KEY) == Performed(response=target, at=mock.ANY)
    assert len(sent_from(copied)) == 1


def test_where_the_last_word_was_lost_no_copy_comes_and_nobody_can_tell(copied: Box) -> None:
    with (
        mock.patch.object(smtplib.SMTP, "send", gone_before(b"BDAT 0 LAST")),
        pytest.raises(Unavailable) as lost,
    ):
        copied.writer.send_email(MAIL, key=KEY)

    assert lost.value.outcome_unknown
    assert copied.reader.evidence(KEY) == CannotTell(ask_again_at=mock.ANY)
    assert sent_from(copied) == []


def test_what_its_user_is_a_receiver_of_stays_in_the_inbox(copied: Box) -> None:
    to = (copied.address.upper(),)
    copied.writer.send_email(OutgoingMail(to=to, subject="Note"), key=KEY)

    assert copied.held() == {"INBOX": [("Note", ())], "Sent": [("Note", (SEEN,))]}
    assert [receivers for _, receivers, _ in sent_from(copied)] == [[*to]]


def test_a_server_that_files_what_it_sends_is_given_no_copy(copied: Box) -> None:
    servers = copied.world.servers | {"files_sent": True}
    Credential.objects.filter(account_id=copied.account.id).update(servers=servers)

    copied.writer.send_email(MAIL, key=KEY)

    assert copied.held() == {}
    assert [receivers for _, receivers, _ in sent_from(copied)] == [["tom@office.test"]]


def test_a_copy_that_is_refused_or_late_stops_no_mail(
    copied: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mock.patch.object(copied.world.sink, "refused", {copied.address}):
        copied.writer.send_email(MAIL, key=KEY)

    assert copied.held() == {"Sent": [("Lunch", (SEEN,))]}
    assert [receivers for _, receivers, _ in sent_from(copied)] == [["tom@office.test"]]

    monkeypatch.setattr(imap_writer, "COPY_SECONDS", 0.0)
    with mock.patch.object(copied.world.sink, "lmtp", 0):
        copied.writer.send_email(replace(MAIL, subject="Supper"), key="2")

    assert copied.held() == {"Sent": [("Lunch", (SEEN,)), ("Supper", (SEEN,))]}


def gone_before(word: bytes) -> Any:
    """The connection breaks, and this word does not reach the server."""
    original = smtplib.SMTP.send

    def send(self: Any, data: Any) -> None:
        if isinstance(data, bytes) and word in data:
            self.close()
            raise smtplib.SMTPServerDisconnected("Connection unexpectedly closed")
        original(self, data)

    return send
