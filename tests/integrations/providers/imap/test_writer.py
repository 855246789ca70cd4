"""A mailbox on a real server, changed and sent from. What the server holds is what counts."""

from email import message_from_bytes, policy
from functools import partial
from typing import Any
from unittest import mock

import pytest

from integrations.contracts.outgoing import OutgoingMail
from integrations.exceptions import Changed, Full, NotFound, Rejected, Unavailable
from integrations.models import Account, Credential, MailWrite
from integrations.ports.evidence import NotPerformed, Performed
from integrations.providers.imap import connection, labelling
from tests.fault_proxy import Fault, running_proxy
from tests.integrations.providers.imap.box import Box, sent_from
from tests.mail_world import FULL, needs_dovecot

pytestmark = [needs_dovecot, pytest.mark.django_db]

KEY = "0199aaaa-0000-7000-8000-000000000001"
SEEN = b"\\Seen"


def test_what_is_taken_out_of_the_trash_alone_goes_to_the_archive(box: Box) -> None:
    box.deliver()
    id = box.only().id
    box.writer.trash_email(id, key="1")

    box.writer.change_labels(id, add=[], remove=["TRASH"], key="2")

    assert box.held() == {"Archive": [("Lunch", ())]}


def test_a_mail_is_moved_and_the_others_are_left_alone(box: Box) -> None:
    box.deliver("One")
    box.deliver("Two")
    with box.world.client(box.address) as client:
        client.create_folder("Clients")
        client.select_folder("INBOX")
        client.add_flags([2], [b"\\Deleted"])
    one = box.page(limit=1).items[0]

    box.writer.move_email(one.id, folder_id="folder:Clients", key="1")

    assert box.held() == {"INBOX": [("Two", (b"\\Deleted",))], "Clients": [("One", ())]}
    assert box.reader.email(one.id).labels == ("folder:Clients", "UNREAD")


def test_a_mail_without_a_message_id_is_found_where_it_was_moved(box: Box) -> None:
    box.world.deliver(box.address, b"From: a@b.test\r\nSubject: Bare\r\n\r\nhello\r\n")
    id = box.only().id

    box.writer.archive(id, key="1")

    assert box.reader.email(id).subject == "Bare"


@pytest.mark.parametrize(
    ("add", "error"),
    [
        (["SENT"], Rejected),
        (["DRAFT"], Rejected),
        (["two words"], Rejected),
        (["x) BODY.PEEK["], Rejected),
        (["folder:Nowhere"], NotFound),
    ],
)
def test_what_no_label_can_be_changes_nothing(
    box: Box, add: list[str], error: type[Exception]
) -> None:
    box.deliver()
    id = box.only().id

    with pytest.raises(error):
        box.writer.change_labels(id, add=add, remove=[], key="1")

    assert box.held() == {"INBOX": [("Lunch", ())]}
    assert isinstance(box.reader.evidence("1"), NotPerformed)


def test_a_draft_is_an_answer_in_its_thread_and_can_be_taken_back(box: Box) -> None:
    message_id = box.deliver("Lunch")
    got = box.only()
    mail = OutgoingMail(
        to=("tom@elsewhere.test",), subject="Re: Lunch", body="Gärne.", reply_to_id=got.id
    )

    answer = box.writer.create_draft(mail, key=KEY)

    assert box.held()["Drafts"] == [("Re: Lunch", (b"\\Draft", SEEN))]
    draft = box.reader.draft(answer["id"])
    assert (draft.to, draft.subject, draft.body.strip()) == (
        ("tom@elsewhere.test",),
        "Re: Lunch",
        "Gärne.",
    )
    assert answer["message_id"] == f"<{KEY}@office.test>"
    assert answer["thread_id"] == draft.thread_id == got.thread_id
    raw = raw_of(box, "Drafts")
    assert (raw["In-Reply-To"], raw["References"]) == (message_id, message_id)
    assert raw["X-Remit-Action"] == KEY

    assert box.writer.create_draft(mail, key=KEY) == answer
    assert len(box.held()["Drafts"]) == 1

    box.writer.delete_draft(answer["id"], revision=None, key="2")
    assert "Drafts" not in box.held()


def test_a_draft_of_a_new_mail_begins_a_thread_of_its_own_and_sends_nothing(box: Box) -> None:
    box.deliver("Lunch")
    got = box.only()

    made = box.writer.create_draft(
        OutgoingMail(to=("tom@elsewhere.test",), subject="Lunch", body="At noon?"), key="1"
    )

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


def test_a_draft_that_its_user_changed_is_not_deleted(box: Box) -> None:
    answer = box.writer.create_draft(OutgoingMail(to=("a@b.test",), subject="x"), key="1")
    with box.world.client(box.address) as client:
        client.select_folder("Drafts")
        client.delete_messages([1])
        client.expunge()
        client.append("Drafts", b"Subject: mine now\r\n\r\nchanged\r\n")

    with pytest.raises(NotFound):
        box.writer.delete_draft(answer["id"], revision=None, key="2")

    assert box.held()["Drafts"] == [("mine now", ())]


def test_only_the_users_own_copy_names_blind_copies(box: Box) -> None:
    mail = OutgoingMail(
        to=("tom@elsewhere.test",), cc=("ann@elsewhere.test",), bcc=("secret@elsewhere.test",)
    )

    box.writer.send_email(mail, key=KEY)

    ((_, _, content),) = sent_from(box)
    out: Any = message_from_bytes(content, policy=policy.default)
    assert "secret" not in content.decode()
    assert (out["To"], out["Cc"], out["Bcc"]) == ("tom@elsewhere.test", "ann@elsewhere.test", None)
    assert raw_of(box, "Sent")["Bcc"] == "secret@elsewhere.test"


def test_a_forwarded_mail_goes_on_whole(box: Box) -> None:
    box.deliver("Report", "The numbers are good.")
    got = box.only()
    mail = OutgoingMail(to=("ann@elsewhere.test",), body="See below.")

    box.writer.forward_email(got.id, mail, key=KEY)

    (sent,) = [one for one in box.world.sink.taken if one[0] == box.address]
    out: Any = message_from_bytes(sent[2], policy=policy.default)
    text, whole = out.iter_parts()
    assert out["Subject"] == "Fwd: Report"
    assert text.get_content().strip() == "See below."
    assert whole.get_content()["Message-ID"] == got.message_id
    assert whole.get_content().get_content().strip() == "The numbers are good."


def test_one_refused_receiver_refuses_all(box: Box) -> None:
    box.world.sink.refused.add("nobody@elsewhere.test")
    mail = OutgoingMail(to=("tom@elsewhere.test", "nobody@elsewhere.test"), subject="x", body="y")

    with pytest.raises(Rejected):
        box.writer.send_email(mail, key=KEY)

    assert [one for one in box.world.sink.taken if one[0] == box.address] == []
    assert box.held() == {}
    assert isinstance(box.reader.evidence(KEY), NotPerformed)


def test_documents_of_a_drive_are_not_left_out_in_silence(box: Box) -> None:
    mail = OutgoingMail(to=("tom@elsewhere.test",), subject="x", attachments=("d1",))

    with pytest.raises(Rejected, match="no documents"):
        box.writer.send_email(mail, key=KEY)

    assert [one for one in box.world.sink.taken if one[0] == box.address] == []


def test_a_subject_cannot_add_a_header(box: Box) -> None:
    mail = OutgoingMail(to=("tom@elsewhere.test",), subject="x\r\nBcc: evil@evil.test", body="y")

    with pytest.raises(Rejected):
        box.writer.send_email(mail, key=KEY)

    assert [one for one in box.world.sink.taken if one[0] == box.address] == []


def test_a_draft_that_was_called_off_before_it_began_can_be_written(box: Box) -> None:
    assert isinstance(box.reader.evidence(KEY), NotPerformed)

    answer = box.writer.create_draft(OutgoingMail(to=("a@b.test",), subject="x"), key=KEY)

    assert box.reader.evidence(KEY) == Performed(response=answer, at=mock.ANY)


def test_a_change_that_nobody_answered_is_seen_at_the_server(box: Box) -> None:
    box.deliver()
    id = box.only().id
    MailWrite.objects.create(
        account_id=box.account.id,
        key=KEY,
        operation="archive",
        mail_id=id,
        target={"add": [], "remove": ["INBOX"]},
    )
    assert isinstance(box.reader.evidence(KEY), NotPerformed)

    with box.world.client(box.address) as client:
        client.select_folder("INBOX")
        client.move([1], "Archive")

    assert box.reader.evidence(KEY) == Performed(response={"id": id}, at=mock.ANY)


def test_wherever_the_conversation_breaks_off_one_draft_is_written(box: Box) -> None:
    mail = OutgoingMail(to=("tom@elsewhere.test",), subject="x", body="y" * 3_000)
    servers, breaks, lost = box.world.servers, 0, 0
    for after in range(2_000, 7_000, 400):
        faults = iter([Fault("cut", "down", after)])
        connection.close_idle()
        with running_proxy(box.world.imap, draw=partial(next, faults, None)) as proxy:
            servers["imap"]["port"] = proxy.port
            Credential.objects.filter(account_id=box.account.id).update(servers=servers)
            key = f"remit-{after}"
            try:
                box.writer.create_draft(mail, key=key)
            except Unavailable:
                breaks += 1
                lost += len(box.held().get("Drafts", ()))
            box.reader.evidence(key)
            answer = box.writer.create_draft(mail, key=key)
            assert len(box.held()["Drafts"]) == 1
            box.writer.delete_draft(answer["id"], revision=None, key=f"gone-{after}")
            connection.close_idle()

    assert breaks > lost > 0  # some had been written, and only the answer was lost


def test_a_full_mailbox_is_said_and_holds_what_it_held(box: Box) -> None:
    row = Account.objects.get(id=box.account.id)
    Account.objects.filter(id=row.id).update(address=FULL)
    Credential.objects.filter(account_id=row.id).update(user_name=FULL)
    row.refresh_from_db()
    box = Box(world=box.world, account=row.ref())
    box.deliver()
    mail = OutgoingMail(to=("tom@elsewhere.test",), subject="x", body="y" * 30_000)

    with pytest.raises(Full):
        box.writer.create_draft(mail, key=KEY)

    assert box.held() == {"INBOX": [("Lunch", ())]}
    assert isinstance(box.reader.evidence(KEY), NotPerformed)


def test_a_mail_that_its_user_moves_at_the_same_moment_lies_where_the_user_put_it(box: Box) -> None:
    box.deliver()
    id = box.only().id
    with box.world.client(box.address) as client:
        client.create_folder("Clients")
    move = labelling.move

    def later(mails: Any, found: Any, destination: str | None) -> None:
        with box.world.client(box.address) as client:
            client.select_folder("INBOX")
            client.move([1], "Clients")
        move(mails, found, destination)

    with mock.patch.object(labelling, "move", later), pytest.raises(Changed):
        box.writer.archive(id, key=KEY)

    assert box.held() == {"Clients": [("Lunch", ())]}


def test_a_choice_that_breaks_off_in_the_thread_leaves_no_two_and_is_ended_later(box: Box) -> None:
    first = box.deliver("Lunch")
    box.deliver("Re: Lunch", References=first)
    with box.world.client(box.address) as client:
        client.select_folder("INBOX")
        client.add_flags([1], ["To_Reply"])
    mails = {one.subject: one.id for one in box.page().items}
    choice: dict[str, Any] = {"add": ["FYI"], "remove": ["To_Reply"]}
    choice |= {"thread_remove": ["To_Reply"], "key": KEY}
    flag, broken = labelling.flag, iter([True])

    def break_off(*given: Any, **words: Any) -> None:
        flag(*given, **words)
        if next(broken, False):
            raise Unavailable("away")

    with mock.patch.object(labelling, "flag", break_off):
        with pytest.raises(Unavailable):
            box.writer.change_labels(mails["Re: Lunch"], **choice)
        assert box.held() == {"INBOX": [("Lunch", ()), ("Re: Lunch", ())]}
        assert isinstance(box.reader.evidence(KEY), NotPerformed)
        box.writer.change_labels(mails["Re: Lunch"], **choice)

    assert box.held() == {"INBOX": [("Lunch", ()), ("Re: Lunch", (b"FYI",))]}


def raw_of(box: Box, folder: str) -> Any:
    with box.world.client(box.address) as client:
        client.select_folder(folder, readonly=True)
        (found,) = client.fetch(client.search(), ["BODY.PEEK[]"]).values()
    return message_from_bytes(found[b"BODY[]"], policy=policy.default)
