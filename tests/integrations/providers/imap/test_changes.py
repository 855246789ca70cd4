"""What has happened in a mailbox on a real server since it was last looked at."""

import imaplib
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from integrations.exceptions import Unavailable
from integrations.models import Credential, MailMark, MailPlace
from integrations.providers.imap import changes, connection
from integrations.providers.imap.clients import Imap, read_ranges
from tests.fault_proxy import Fault, running_proxy
from tests.integrations.providers.imap.box import Box
from tests.mail_world import needs_dovecot

pytestmark = [needs_dovecot, pytest.mark.django_db]

INBOX = "INBOX"
ABILITIES = (b"QRESYNC", b"CONDSTORE")


@pytest.fixture(autouse=True, params=[(), (b"QRESYNC",)], ids=["qresync", "condstore"])
def hidden(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the server can do and says nothing of."""
    hide(monkeypatch, *request.param)


def hide(monkeypatch: pytest.MonkeyPatch, *names: bytes) -> None:
    really = Imap.capabilities

    def capabilities(self: Imap) -> tuple[bytes, ...]:
        return tuple(one for one in really(self) if one not in names)

    monkeypatch.setattr(Imap, "capabilities", capabilities)
    connection.close_idle()


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


def test_without_either_new_and_deleted_mails_come_out(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, *ABILITIES)
    box.deliver("Old")
    box.only()
    look(box)
    with box.world.client(box.address) as client:
        client.select_folder(INBOX)
        client.delete_messages([1])
        client.expunge()
    box.deliver("New")

    assert look(box) == [("deleted", "", ()), ("created", "New", (INBOX, "UNREAD"))]
    assert MailMark.objects.get(account_id=box.account.id, folder=INBOX).modseq == 0


def commands(box: Box, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Remit says to the server to know three changes of a folder: a new mail, one that is
    marked and one that is gone."""
    for number in range(3):
        box.deliver(str(number))
    box.page()
    look(box)
    with box.world.client(box.address) as client:
        client.select_folder(INBOX)
        client.add_flags([1], [b"\\Seen"])
        client.delete_messages([2])
        client.expunge()
    box.deliver("New")
    said, really = [], imaplib.IMAP4.send

    def send(self: imaplib.IMAP4, data: bytes) -> None:
        said.append(data.decode().partition(" ")[2].partition("\r")[0])
        really(self, data)

    with monkeypatch.context() as patched:
        patched.setattr(imaplib.IMAP4, "send", send)
        found = look(box)
    assert found == [
        ("updated", "0", (INBOX,)),
        ("deleted", "", ()),
        ("created", "New", (INBOX, "UNREAD")),
    ]
    asked = [one.removeprefix("UID ").partition(" ")[0] for one in said if one]
    return asked[asked.index("EXAMINE") : asked.index("FETCH")]


def test_all_that_happened_in_a_folder_is_said_when_it_is_opened(
    box: Box, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_and_by = "condstore" in request.node.name
    assert commands(box, monkeypatch) == ["EXAMINE", *(["SEARCH"] * 3 if by_and_by else [])]


def through(box: Box, port: int) -> None:
    """From here on the account's server is the one at this port."""
    servers = box.world.servers
    servers["imap"]["port"] = port
    Credential.objects.filter(account_id=box.account.id).update(servers=servers)
    connection.close_idle()


def test_wherever_the_conversation_breaks_off_nothing_is_lost_and_nothing_comes_twice(
    box: Box,
) -> None:
    breaks = lost = 0
    box.deliver("Marked")
    box.page()
    look(box)
    for turn, after in enumerate(range(2_500, 9_000, 500)):
        box.deliver("Gone")
        look(box)
        with box.world.client(box.address) as client:
            client.select_folder(INBOX)
            change = client.remove_flags if turn % 2 else client.add_flags
            change([1], [b"\\Seen"])
            client.delete_messages(client.search()[-1:])
            client.expunge()
        names: list[str] = []
        for fault in (Fault("cut", "down", after), None):
            faults = iter([fault])
            with running_proxy(box.world.imap, draw=partial(next, faults, None)) as proxy:
                through(box, proxy.port)
                try:
                    for looked in changes.look(box.account):
                        looked.keep()
                        names += [name for name, _ in looked.events]
                except Unavailable:
                    breaks += 1
                    lost += not names
        through(box, box.world.imap)

        assert sorted(name.split()[3] for name in names) == ["gone", "updated"]
    assert breaks > lost > 0


def test_of_a_folder_that_is_numbered_anew_between_two_answers_nothing_is_said_to_be_gone(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        box.deliver(str(number))
    look(box)
    box.deliver("New")
    mark = MailMark.objects.get(account_id=box.account.id, folder=INBOX)
    before = mark.validity
    # As it was when its STATUS was answered: the server has another number by now.
    monkeypatch.setattr(
        changes,
        "_present",
        lambda mails, folder: MailMark(
            account_id=box.account.id, folder=folder, validity=1, next_uid=99, modseq=99, mails=9
        ),
    )
    MailMark.objects.filter(pk=mark.pk).update(validity=1, modseq=1, next_uid=1)

    found = [event for looked in changes.look(box.account) for _, event in looked.events]

    assert before != 1
    assert [event.kind for event in found if event.kind == "deleted"] == []


@pytest.mark.parametrize("is_read_in", [True, False])
@pytest.mark.parametrize("moment", ["after STATUS", "while another is open"])
def test_a_folder_that_is_numbered_anew_in_mid_look_holds_no_news(
    box: Box, monkeypatch: pytest.MonkeyPatch, moment: str, is_read_in: bool
) -> None:
    with box.world.client(box.address) as client:
        client.create_folder("Clients")
        for number in range(3):
            client.append("Clients", plan(number))
        look(box)
        if is_read_in:
            assert len(box.page().items) == 3
        client.append("Clients", plan(3))
        before = MailMark.objects.get(account_id=box.account.id, folder="Clients")
        name = "_present" if moment == "after STATUS" else "_missing"
        really, moments = getattr(changes, name), iter([True])

        def renumbered(mails: Any, at: Any, *others: Any) -> Any:
            found = really(mails, at, *others)
            if getattr(at, "folder", at) == "Clients" and next(moments, False):
                mails.own.select(INBOX)
                number_anew(client, "Clients", first=before.next_uid + 2)
            return found

        monkeypatch.setattr(changes, name, renumbered)
        seen = look(box)
        after = MailMark.objects.get(account_id=box.account.id, folder="Clients")
        client.append("Clients", plan(4))

        assert [one for one in seen if one[0] != "updated"] == []
        assert (after.validity != before.validity, after.mails) == (True, 4)
        assert [(kind, subject) for kind, subject, _ in look(box)] == [("created", "Plan 4")]


def plan(number: int) -> bytes:
    id = f"<{number}@b.test>"
    return f"From: a@b.test\r\nMessage-ID: {id}\r\nSubject: Plan {number}\r\n\r\nx\r\n".encode()


def number_anew(client: Any, folder: str, *, first: int) -> None:
    """Another folder of this name, with the same mails under numbers from this one on."""
    client.create_folder("Other")
    for _ in range(first - 1):
        client.append("Other", b"Subject: x\r\n\r\n")
    client.select_folder("Other")
    client.delete_messages(client.search())
    client.expunge()
    client.select_folder(folder)
    client.move(client.search(), "Other")
    client.unselect_folder()
    client.delete_folder(folder)
    client.rename_folder("Other", folder)


@pytest.mark.parametrize(
    ("said", "ranges"),
    [
        ([], ()),
        ([b"(EARLIER) 300:310,405"], ((300, 310), (405, 405))),
        ([b"5:3", b"(EARLIER) 4:9,20,x,7:*,21"], ((3, 9), (20, 21))),
        ([b"(EARLIER) 1:99999999999999999999"], ((1, 99999999999999999999),)),
    ],
)
def test_ranges_of_numbers(said: list[bytes], ranges: tuple[tuple[int, int], ...]) -> None:
    assert read_ranges(said) == ranges
