"""What has happened in a mailbox on a real server since it was last looked at."""

from datetime import timedelta

import pytest
from django.utils import timezone

from integrations.models import MailMark, MailPlace
from integrations.providers.imap import changes
from tests.integrations.providers.imap.box import Box
from tests.mail_world import needs_dovecot

pytestmark = [needs_dovecot, pytest.mark.django_db]

INBOX = "INBOX"


def look(box: Box) -> list[tuple[str, str, tuple[str, ...]]]:
    """What comes out: kind, subject and labels. The marks are kept, as a caller does."""
    found: list[tuple[str, str, tuple[str, ...]]] = []
    for looked in changes.look(box.account):
        looked.keep()
        for _, event in looked.events:
            data = event.data or {}
            found.append((event.kind, data.get("subject", ""), tuple(data.get("labels", ()))))
    return found


def test_what_is_there_at_the_first_look_is_no_news(box: Box) -> None:
    box.deliver("Old")

    assert look(box) == []
    assert look(box) == []


def test_a_new_mail_comes_out_once(box: Box) -> None:
    look(box)
    box.deliver("New")

    assert look(box) == [("created", "New", (INBOX, "UNREAD"))]
    assert look(box) == []


def test_until_its_mark_is_kept_a_mail_comes_out_again_under_the_same_name(box: Box) -> None:
    look(box)
    box.deliver("New")

    first, again = (
        [event for looked in changes.look(box.account) for event in looked.events] for _ in range(2)
    )

    assert [name for name, _ in first] == [name for name, _ in again] != []


def test_many_new_mails_come_in_steps_and_none_is_left_out(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "READ_AT_ONCE", 2)
    look(box)
    for number in range(5):
        box.deliver(str(number))

    looks = changes.look(box.account)
    stopped = next(looks)
    stopped.keep()
    looks.close()

    assert [event.data["subject"] for _, event in stopped.events if event.data] == ["0", "1"]
    created = [subject for kind, subject, _ in look(box) if kind == "created"]
    assert created == ["2", "3", "4"]


def test_what_the_user_does_in_another_client_comes_out(box: Box) -> None:
    box.deliver("Plan")
    box.only()
    look(box)
    with box.world.client(box.address) as client:
        client.create_folder("Clients")
        client.select_folder(INBOX)
        client.add_flags([1], [b"\\Seen"])
        assert look(box) == [("updated", "Plan", (INBOX,))]

        client.move([1], "Archive")
    assert look(box) == [("updated", "Plan", ())]

    with box.world.client(box.address) as client:
        client.select_folder("Archive")
        client.delete_messages([1])
        client.expunge()
    # Until what was seen is kept, it is seen again.
    (_,) = changes.look(box.account)
    assert MailPlace.objects.filter(account_id=box.account.id).exists()
    assert look(box) == [("deleted", "", ())]
    assert not MailPlace.objects.filter(account_id=box.account.id).exists()


def test_a_mark_that_is_set_twice_comes_out_twice(box: Box) -> None:
    box.deliver("Plan")
    look(box)
    names = []
    with box.world.client(box.address) as client:
        client.select_folder(INBOX)
        for change in (client.add_flags, client.remove_flags, client.add_flags):
            change([1], [b"\\Seen"])
            for looked in changes.look(box.account):
                looked.keep()
                names += [name for name, _ in looked.events]

    assert len(names) == len(set(names)) == 3


def test_a_mail_that_is_moved_before_it_was_seen_is_new(box: Box) -> None:
    look(box)
    box.deliver("Filed by a rule")
    with box.world.client(box.address) as client:
        client.select_folder(INBOX)
        client.move([1], "Archive")

    assert look(box) == [("created", "Filed by a rule", ("UNREAD",))]


def test_an_old_mail_that_somebody_copies_in_is_no_new_mail(box: Box) -> None:
    look(box)
    with box.world.client(box.address) as client:
        client.append(
            INBOX,
            b"From: a@b.test\r\nSubject: From another account\r\n\r\nx\r\n",
            (),
            timezone.now() - timedelta(days=30),
        )

    assert [kind for kind, _, _ in look(box)] == ["updated"]


def test_what_arrived_while_nobody_could_look_is_new(box: Box) -> None:
    look(box)
    now = timezone.now()
    with box.world.client(box.address) as client:
        mail = b"From: a@b.test\r\nSubject: While away\r\n\r\nx\r\n"
        client.append(INBOX, mail, (), now - timedelta(days=5))

    seen = changes.look(box.account, seen_at=now - timedelta(days=10))

    assert [event.kind for looked in seen for _, event in looked.events] == ["created"]


def test_a_folder_that_is_numbered_anew_starts_no_storm(box: Box) -> None:
    for number in range(3):
        box.deliver(str(number))
    look(box)
    MailMark.objects.filter(account_id=box.account.id).update(validity=1, next_uid=1)

    assert look(box) == []
    box.deliver("After")
    assert [subject for _, subject, _ in look(box)] == ["After"]


def test_what_remit_wrote_itself_is_no_new_mail(box: Box) -> None:
    box.deliver("Lunch")
    got = box.only()
    look(box)

    box.writer.archive(got.id, key="1")

    assert look(box) == [("updated", "Lunch", ("UNREAD",))]


def test_a_folder_that_somebody_deletes_ends_no_look(box: Box) -> None:
    with box.world.client(box.address) as client:
        for name in ("Kept", "Lost"):
            client.create_folder(name)
            box.deliver(f"In {name}")
            client.select_folder("INBOX")
            client.move(client.search(), name)
        look(box)
        box.page()
        client.rename_folder("Kept", "Called otherwise")
        client.delete_folder("Lost")
    box.deliver("New")

    found = look(box)

    assert found == [("created", "New", (INBOX, "UNREAD")), ("deleted", "", ())]
    assert look(box) == []
    assert not MailMark.objects.filter(account_id=box.account.id, folder="Lost").exists()
