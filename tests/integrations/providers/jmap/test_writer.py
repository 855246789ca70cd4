"""A mailbox on a real JMAP server, changed and sent from. What the server holds is what counts."""

from collections.abc import Sequence
from email import message_from_bytes, policy

import pytest

from integrations.contracts.outgoing import OutgoingMail
from integrations.exceptions import Changed, NotFound, Rejected
from integrations.models import Account
from integrations.ports.evidence import NotPerformed
from integrations.providers.jmap.answers import EmailSaid
from integrations.providers.jmap.mails import Mails
from tests.cyrus_world import needs_cyrus
from tests.integrations.providers.imap.box import sent_from
from tests.integrations.providers.jmap.box import Box, mail

pytestmark = [needs_cyrus, pytest.mark.django_db]

SEEN, FLAGGED = b"\\Seen", b"\\Flagged"


def test_read_starred_and_labelled_and_back(box: Box) -> None:
    box.deliver()
    id = box.only().id

    box.writer.mark_read(id, key="1")
    box.writer.change_labels(id, add=["STARRED", "Client"], remove=[], key="2")
    assert box.held() == {"INBOX": [("Lunch", (FLAGGED, SEEN, b"client"))]}
    assert [one.id for one in box.reader.labels()] == ["client"]

    box.writer.change_labels(id, add=["UNREAD"], remove=["STARRED", "Client"], key="3")
    assert box.held() == {"INBOX": [("Lunch", ())]}


def test_what_is_sent_bears_the_mark_of_its_action(box: Box) -> None:
    box.writer.send_email(mail(), key="k1")

    ((sender, _, content),) = box.world.sink.of(box.address)
    sent = message_from_bytes(content, policy=policy.default)
    assert (sender, sent["X-Remit-Action"]) == (box.address, "k1")
    assert sent["Message-ID"] == f"<k1@{box.address.partition('@')[2]}>"


def test_a_mail_lies_in_several_folders_until_it_is_moved(box: Box) -> None:
    with box.world.client(box.address) as client:
        client.create_folder("Clients")
        client.create_folder("Clients/2026")
    box.deliver()
    id = box.only().id
    assert [one.id for one in box.reader.folders()] == ["folder:Clients", "folder:Clients/2026"]

    box.writer.change_labels(id, add=["folder:Clients"], remove=[], key="1")
    assert box.held() == {"INBOX": [("Lunch", ())], "Clients": [("Lunch", ())]}
    assert box.reader.email(id).labels == ("folder:Clients", "INBOX", "UNREAD")

    box.writer.move_email(id, folder_id="folder:Clients/2026", key="2")
    assert box.held() == {"Clients/2026": [("Lunch", ())]}

    box.writer.change_labels(id, add=[], remove=["folder:Clients/2026"], key="3")
    assert box.held() == {"Archive": [("Lunch", ())]}
    with pytest.raises(NotFound):
        box.writer.move_email(id, folder_id="folder:Nothing", key="4")
    with pytest.raises(Rejected):
        box.writer.change_labels(id, add=["SENT"], remove=[], key="5")
    assert box.held() == {"Archive": [("Lunch", ())]}


def test_a_change_is_made_to_the_mailbox_that_was_looked_at(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person takes the mail out of the folder between Remit's look and its change."""
    box.deliver()
    id = box.only().id
    looks: list[str] = []

    def get(self: Mails, ids: Sequence[str]) -> tuple[str, tuple[EmailSaid, ...]]:
        found = really(self, ids)
        looks.append(found[0])
        if len(looks) == 1:
            with box.world.client(box.address) as client:
                client.select_folder("INBOX")
                client.move(client.search(), "Junk")
        return found

    really = Mails.get
    monkeypatch.setattr(Mails, "get", get)

    box.writer.change_labels(id, add=["Client"], remove=[], key="1")

    assert len(looks) == 2
    assert box.held() == {"Junk": [("Lunch", (b"client",))]}


def test_a_draft_of_a_new_mail_begins_a_thread_of_its_own_and_sends_nothing(box: Box) -> None:
    box.deliver("Lunch")
    got = box.only()

    made = box.writer.create_draft(mail(subject="Lunch", body="At noon?"), key="1")

    draft = box.reader.draft(made["id"])
    assert (draft.to, draft.subject, draft.body.strip()) == (
        ("tom@elsewhere.test",),
        "Lunch",
        "At noon?",
    )
    assert made["thread_id"] == draft.thread_id
    assert draft.thread_id not in ("", got.thread_id)
    assert sent_from(box) == []
    box.writer.delete_draft(made["id"], revision=None, key="2")
    assert box.held() == {"INBOX": [("Lunch", ())]}


def test_what_is_no_draft_is_not_deleted(box: Box) -> None:
    box.deliver()

    with pytest.raises(Changed):
        box.writer.delete_draft(box.only().id, revision=None, key="1")

    assert box.held() == {"INBOX": [("Lunch", ())]}


def test_an_answer_joins_its_thread_and_a_forwarded_mail_goes_along_whole(box: Box) -> None:
    asked = box.deliver("Lunch: où ?", body="Grüße")
    found = box.only()

    answer = box.writer.send_email(mail(subject="Re: Lunch: où ?", reply_to_id=found.id), key="k1")
    box.writer.forward_email(found.id, mail(subject=""), key="k2")

    first, second = [
        message_from_bytes(content, policy=policy.default)
        for _, _, content in box.world.sink.of(box.address)
    ]
    assert (first["In-Reply-To"], first["References"]) == (asked, asked)
    assert first["Subject"] == "Re: Lunch: où ?"
    assert answer["thread_id"] == found.thread_id
    assert second["Subject"] == "Fwd: Lunch: où ?"
    (whole,) = second.iter_attachments()
    assert whole.get_content_type() == "message/rfc822"
    assert whole.get_content()["Message-ID"] == asked
    assert whole.get_content().get_content().strip() == "Grüße"


def test_one_refused_receiver_refuses_the_mail(box: Box) -> None:
    box.world.sink.refused.add("gone@elsewhere.test")

    with pytest.raises(Rejected):
        box.writer.send_email(mail(cc=("gone@elsewhere.test",)), key="k1")

    assert box.world.sink.of(box.address) == []
    assert box.held() == {}
    assert isinstance(box.reader.evidence("k1"), NotPerformed)


def test_nothing_is_sent_in_the_name_of_an_address_that_the_server_does_not_give(
    box: Box,
) -> None:
    Account.objects.filter(id=box.account.id).update(address="boss@office.test")
    other = Box(world=box.world, account=Account.objects.get(id=box.account.id).ref())

    with pytest.raises(Rejected, match="another name"):
        other.writer.send_email(mail(), key="k1")

    assert box.world.sink.of(box.address) == box.world.sink.of("boss@office.test") == []


@pytest.mark.parametrize("body", ["", "a" * 20_000, ".\r\n.\r\nQUIT", "From here\n\n\ttab ü"])
def test_bodies_arrive_as_they_were_written(box: Box, body: str) -> None:
    box.writer.send_email(OutgoingMail(to=("tom@elsewhere.test",), body=body), key="k1")

    ((_, _, content),) = box.world.sink.of(box.address)
    sent = message_from_bytes(content, policy=policy.default)
    assert sent.get_content().split() == body.split()
