"""A mailbox on a real server, read."""

import io
from datetime import UTC, datetime

import pytest

from agents.inbound.inbound import build_context
from integrations.contracts import Attachment, Authentication
from integrations.exceptions import CursorExpired, NotFound, NotPermitted, TooLarge
from integrations.models import Credential, MailPlace
from integrations.providers.imap import connection, folders
from tests.integrations.providers.imap.box import Box
from tests.mail_world import needs_dovecot
from tests.own_accounts import sign_in

pytestmark = [needs_dovecot, pytest.mark.django_db]


def test_a_mail_is_read_with_its_folder_flags_and_keywords(box: Box) -> None:
    message_id = box.deliver("Lunch", "At noon?")
    with box.world.client(box.address) as client:
        client.select_folder("INBOX")
        client.add_flags([1], [b"\\Flagged", b"Client"])

    found = box.only()

    assert found.message_id == message_id
    assert (found.sender, found.sender_name) == ("tom@elsewhere.test", "Tom")
    assert found.to == (box.address,)
    assert found.subject == "Lunch"
    assert found.body_text.strip() == "At noon?"
    assert found.date == datetime(2026, 3, 9, 9, tzinfo=UTC)
    assert found.labels == ("INBOX", "UNREAD", "STARRED", "Client")
    assert (found.is_read, found.is_starred) == (False, True)
    assert box.reader.email(found.id) == found


def test_reading_leaves_no_mark(box: Box) -> None:
    box.deliver()

    box.reader.email(box.only().id)

    assert box.held() == {"INBOX": [("Lunch", ())]}


def test_a_keyword_that_is_called_like_a_label_of_remits_is_none(box: Box) -> None:
    box.deliver()
    with box.world.client(box.address) as client:
        client.select_folder("INBOX")
        client.add_flags([1], [b"SENT", b"draft", b"\\Seen"])

    assert box.only().labels == ("INBOX",)


def test_a_folder_that_is_called_like_a_label_of_remits_is_none(box: Box) -> None:
    box.deliver()
    with box.world.client(box.address) as client:
        client.create_folder("SENT")
        client.select_folder("INBOX")
        client.move([1], "SENT")

    assert box.only().labels == ("folder:SENT", "UNREAD")


def test_pages_follow_each_other_through_the_folders(box: Box) -> None:
    for number in range(5):
        box.deliver(f"Number {number}")
    with box.world.client(box.address) as client:
        client.create_folder("Clients")
        client.select_folder("INBOX")
        client.move([2, 4], "Clients")

    pages, cursor = [], None
    while True:
        page = box.page(cursor=cursor, limit=2)
        pages.append([one.subject for one in page.items])
        cursor = page.next_cursor
        if cursor is None:
            break

    assert sorted(subject for page in pages for subject in page) == [
        f"Number {number}" for number in range(5)
    ]
    assert max(map(len, pages)) == 2


def test_junk_trash_and_drafts_are_not_read_in(box: Box) -> None:
    for folder in ("Junk", "Trash", "Drafts", "Sent", "Archive"):
        box.deliver(folder)
        with box.world.client(box.address) as client:
            client.select_folder("INBOX")
            client.move([client.search()[0]], folder)

    found = box.page()
    subjects, cursor = [one.subject for one in found.items], found.next_cursor
    while cursor:
        page = box.page(cursor=cursor)
        subjects += [one.subject for one in page.items]
        cursor = page.next_cursor

    assert sorted(subjects) == ["Archive", "Sent"]


def test_a_mail_keeps_its_id_when_somebody_moves_it(box: Box) -> None:
    box.deliver()
    before = box.only()
    with box.world.client(box.address) as client:
        client.create_folder("Clients")
        client.select_folder("INBOX")
        client.move([1], "Clients")

    found = box.reader.email(before.id)

    assert found.id == before.id
    assert found.labels == ("folder:Clients", "UNREAD")


def test_a_mail_with_anothers_message_id_is_not_taken_for_it(box: Box) -> None:
    message_id = box.deliver("Invoice", "Pay 10 euros")
    honest = box.only()
    with box.world.client(box.address) as client:
        client.select_folder("INBOX")
        client.add_flags([1], [b"\\Deleted"])
        client.expunge()
    box.deliver("Invoice", "Pay 10,000 euros", Message_ID=message_id)

    with pytest.raises(NotFound):
        box.reader.email(honest.id)


def test_mails_are_found_again_after_the_folder_is_numbered_anew(box: Box) -> None:
    box.deliver()
    before = box.only()
    MailPlace.objects.filter(account_id=box.account.id).update(validity=1)

    assert box.reader.email(before.id) == before


def test_a_cursor_of_a_folder_that_was_numbered_anew_has_expired(box: Box) -> None:
    box.deliver("One")
    box.deliver("Two")
    cursor = box.page(limit=1).next_cursor
    assert cursor is not None
    _, uid, folder = cursor.split(" ", 2)

    for wrong in (f"17 {uid} {folder}", "0 0 Gone", "nonsense", "1 2"):
        with pytest.raises(CursorExpired):
            box.page(cursor=wrong, limit=1)


def test_a_thread_holds_what_remit_has_seen_of_it_oldest_first(box: Box) -> None:
    first = box.deliver("Plan")
    box.deliver(
        "Re: Plan", References=first, In_Reply_To=first, Date="Tue, 10 Mar 2026 10:00:00 +0100"
    )
    box.deliver("Something else")
    items = box.page().items

    thread = box.reader.thread(items[0].thread_id)

    assert [one.subject for one in thread] == ["Plan", "Re: Plan"]


def test_only_the_accounts_own_server_is_believed_about_senders(box: Box) -> None:
    box.deliver(Authentication_Results="mail.office.test; dmarc=pass header.from=elsewhere.test")
    assert box.only().authentication == Authentication(dmarc="pass")


def test_another_servers_word_about_a_sender_counts_nothing(box: Box) -> None:
    box.deliver(Authentication_Results="mail.elsewhere.test; dmarc=pass")
    assert box.only().authentication == Authentication()


def test_an_attachment_is_read_by_its_id(box: Box) -> None:
    box.world.deliver(
        box.address,
        b"From: tom@elsewhere.test\r\nSubject: Files\r\nMIME-Version: 1.0\r\n"
        b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nSee below.\r\n"
        b"--x\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\r\n"
        b"one,two\r\n--x--\r\n",
    )
    (attached,) = box.only().attachments
    assert attached.file_id is not None
    assert attached == Attachment(
        name="a.csv", mime_type="text/csv", size=attached.size, file_id=attached.file_id
    )

    into = io.BytesIO()
    box.reader.file(attached.file_id, into=into, most_bytes=100)
    assert into.getvalue().strip() == b"one,two"
    with pytest.raises(TooLarge):
        box.reader.file(attached.file_id, into=io.BytesIO(), most_bytes=3)
    for wrong in (f"{attached.file_id}7", "mail-none.1", "nonsense"):
        with pytest.raises(NotFound):
            box.reader.file(wrong, into=io.BytesIO(), most_bytes=100)


def test_correspondence_counts_the_exact_address_alone(box: Box) -> None:
    box.deliver(From="Tom <tom@elsewhere.test>")
    box.deliver(From="tom@elsewhere.test.evil.test")
    box.deliver(From='"tom@elsewhere.test" <evil@evil.test>')
    box.deliver("Mine", To="Tom <TOM@elsewhere.test>, notom@elsewhere.test")
    with box.world.client(box.address) as client:
        client.select_folder("INBOX")
        client.move([4], "Sent")

    found = box.reader.correspondence("tom@elsewhere.test")

    assert (found.received, found.sent) == (1, 1)
    assert box.reader.correspondence('x" OR ALL').received == 0


def test_without_a_folder_of_sent_mail_nobody_is_a_first_contact(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.deliver(From="Tom <tom@elsewhere.test>")
    assert box.reader.correspondence("tom@elsewhere.test").sent_readable
    assert build_context(box.account, box.only()).first_contact
    # The server makes its folder anew whenever it is deleted, so Remit does not know it here.
    monkeypatch.setattr(connection, "FOLDERS_SECONDS", -1.0)
    monkeypatch.delitem(folders.FLAGS, b"\\sent")
    monkeypatch.delitem(folders.NAMES, "sent")

    found = box.reader.correspondence("tom@elsewhere.test")

    assert (found.received, found.sent, found.sent_readable) == (1, 0, False)
    assert not build_context(box.account, box.only()).first_contact


def test_correspondents_have_the_names_that_the_user_gave_them(box: Box) -> None:
    box.deliver("To Ann", To='"Ann from Berlin" <ann@elsewhere.test>, bob@elsewhere.test')
    box.deliver("Re: x", To="The Boss <ann@elsewhere.test>", In_Reply_To="<x@elsewhere.test>")
    box.deliver("Agent's", To="Agent's word <bob@elsewhere.test>", X_Remit_Action="remit-1")
    with box.world.client(box.address) as client:
        client.select_folder("INBOX")
        client.move([1, 2, 3], "Sent")

    found = {one.address: one for one in box.reader.correspondents(limit=10)}

    assert found["ann@elsewhere.test"].names == ("Ann from Berlin",)
    assert found["ann@elsewhere.test"].sent == 2
    assert (found["bob@elsewhere.test"].names, found["bob@elsewhere.test"].sent) == ((), 2)
    assert [one.address for one in box.reader.correspondents(limit=1)] == ["bob@elsewhere.test"]
    with pytest.raises(NotFound):
        box.reader.directory(cursor=None, limit=10)


def test_folders_labels_and_mailbox_are_the_users_own(box: Box) -> None:
    box.deliver()
    with box.world.client(box.address) as client:
        client.create_folder("Clients")
        client.select_folder("INBOX")
        client.add_flags([1], [b"Urgent"])

    assert [(one.id, one.kind) for one in box.reader.folders()] == [("folder:Clients", "mail")]
    assert [one.id for one in box.reader.labels()] == ["Urgent"]
    mailbox = box.reader.mailbox()
    assert (mailbox.address, mailbox.shared_with, mailbox.inbox) == (box.address, (), 1)


def test_a_refused_sign_in_is_asked_for_again_and_not_tried_on(box: Box) -> None:
    sign_in(
        box.account.id,
        user_name=box.address,
        servers=box.world.servers,
        secret="changed by its user",
    )

    with pytest.raises(NotPermitted, match="refused the sign-in"):
        box.reader.mailbox()
    with pytest.raises(NotPermitted, match="sign in again"):
        box.reader.mailbox()
    assert Credential.objects.get(account_id=box.account.id).state == "sign_in"
