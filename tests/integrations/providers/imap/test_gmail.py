"""Gmail's labels over IMAP, on Dovecot behind a program that adds what Google documents."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, strategies as st

from integrations.exceptions import NotFound, Unavailable
from integrations.models import MailPlace
from integrations.ports.evidence import NotPerformed, Performed
from integrations.providers.imap import abilities, changes, gmail, trial
from integrations.providers.imap.clients import Imap
from integrations.providers.imap.servers import MailServers
from tests.gmail_imap_world import ALL, SPAM, TRASH, GmailWorld, running_gmail_imap
from tests.integrations.providers.imap.box import Box
from tests.mail_world import DOMAIN, PASSWORD, needs_dovecot

pytestmark = [needs_dovecot, pytest.mark.django_db]

ODD = 'Kunden "A" \\ Süd'
CLIENTS = "Clients"


@pytest.fixture(scope="module")
def world() -> Iterator[GmailWorld]:
    with running_gmail_imap() as found:
        yield found


@pytest.fixture
def box(box: Box) -> Box:
    with box.world.client(box.address) as client:
        client.create_folder(ODD)
        client.create_folder(CLIENTS)
    return box


def look(box: Box) -> list[tuple[str, tuple[str, ...]]]:
    """Kind and labels of what comes out, and kept as a caller does."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for looked in changes.look(box.account):
        looked.keep()
        found += [
            (event.kind, tuple(sorted((event.data or {}).get("labels", ()))))
            for _, event in looked.events
        ]
    return found


def asked(box: Box, word: str) -> list[str]:
    """What clients wanted of this world, in its own language."""
    assert isinstance(box.world, GmailWorld)
    return [one for one in box.world.proxy.asked if word in one]


def test_a_label_is_put_on_and_taken_off_whatever_it_is_called(box: Box) -> None:
    box.deliver()
    mail = box.only()

    box.writer.change_labels(mail.id, add=[ODD, CLIENTS], remove=[], key="1")
    assert set(box.only().labels) == {"INBOX", "UNREAD", ODD, CLIENTS}
    assert r'+X-GM-LABELS ("Clients" "Kunden \"A\" \\ S&APw-d")' in asked(box, "+X-GM-LABELS")[-1]
    with box.world.client(box.address) as client:
        client.select_folder(ODD, readonly=True)
        assert len(client.search()) == 1

    box.writer.change_labels(mail.id, add=[], remove=[ODD], key="2")
    assert set(box.only().labels) == {"INBOX", "UNREAD", CLIENTS}


def test_a_label_that_is_not_there_is_not_made(box: Box) -> None:
    box.deliver()
    mail, before = box.only(), asked(box, "UID STORE")

    with pytest.raises(NotFound):
        box.writer.change_labels(mail.id, add=["Nowhere"], remove=["UNREAD"], key="1")

    assert asked(box, "UID STORE") == before
    assert set(box.only().labels) == {"INBOX", "UNREAD"}


def test_a_mail_in_the_inbox_and_among_all_mail_is_one(box: Box) -> None:
    look(box)
    box.deliver()
    with box.world.client(box.address) as client:
        client.select_folder(ALL)
        client.add_gmail_labels(client.search(), [CLIENTS, "\\Important", "\\Starred"])

    assert look(box) == [("created", (CLIENTS, "INBOX", "STARRED", "UNREAD"))]
    assert look(box) == []
    assert box.only().labels.count("INBOX") == 1


def test_what_leaves_the_inbox_is_archived_and_not_deleted(box: Box) -> None:
    look(box)
    box.deliver()
    look(box)
    mail = box.only()

    box.writer.archive(mail.id, key="1")

    assert look(box) == [("updated", ("UNREAD",))]
    assert box.reader.email(mail.id).labels == ("UNREAD",)
    assert isinstance(box.reader.evidence("1"), Performed)


def test_a_label_that_its_user_puts_on_is_seen(box: Box) -> None:
    look(box)
    box.deliver()
    look(box)
    with box.world.client(box.address) as client:
        client.select_folder("INBOX")
        client.add_gmail_labels(client.search(), [ODD])

    assert look(box) == [("updated", ("INBOX", ODD, "UNREAD"))]


def test_drafts_among_all_mail_are_no_mail_yet(box: Box) -> None:
    look(box)
    with box.world.client(box.address) as client:
        client.append("[Gmail]/Drafts", b"Subject: Half\r\n\r\nof it", (b"\\Draft",))

    assert look(box) == []
    assert box.page().items == ()


def test_a_mail_without_message_id_is_found_by_what_gmail_calls_it(box: Box) -> None:
    box.world.deliver(box.address, b"From: tom@elsewhere.test\r\nSubject: Bare\r\n\r\nHello\r\n")
    look(box)
    mail = box.only()
    place = MailPlace.objects.get(account_id=box.account.id, mail_id=mail.id)
    assert (place.folder, place.gmail_id.isdecimal()) == (ALL, True)
    with box.world.client(box.address) as client:
        client.select_folder(ALL)
        client.move(client.search(), TRASH)

    assert ("deleted", ()) not in look(box)
    assert set(box.reader.email(mail.id).labels) == {"TRASH", "UNREAD"}
    assert asked(box, f"X-GM-MSGID {place.gmail_id}") != []


def test_a_thread_is_gmails_own(box: Box) -> None:
    first = box.deliver("Plan")
    box.deliver("Re: Plan", References=first)
    box.deliver("Other")
    mail = next(one for one in box.page().items if one.message_id == first)
    MailPlace.objects.filter(account_id=box.account.id).exclude(mail_id=mail.id).delete()

    assert int(mail.thread_id, 16) < 2**64
    assert [one.subject for one in box.reader.thread(mail.thread_id)] == ["Plan", "Re: Plan"]


@pytest.mark.parametrize("is_lost", [True, False])
def test_after_a_lost_answer_the_labels_say_what_became_of_it(
    box: Box, is_lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`is_lost`: the answer is, else the request."""
    box.deliver()
    mail = box.only()
    store = Imap.store_gmail_labels

    def break_off(client: Imap, *args: Any) -> None:
        if is_lost:
            store(client, *args)
        raise Unavailable("lost")

    with monkeypatch.context() as patch:
        patch.setattr(Imap, "store_gmail_labels", break_off)
        with pytest.raises(Unavailable):
            box.writer.move_email(mail.id, folder_id=CLIENTS, key="1")

    # The first of two steps is not all of it.
    assert isinstance(box.reader.evidence("1"), NotPerformed)
    box.writer.move_email(mail.id, folder_id=CLIENTS, key="1")
    assert isinstance(box.reader.evidence("1"), Performed)
    assert set(box.only().labels) == {CLIENTS, "UNREAD"}


def test_junk_lies_apart_and_comes_back(box: Box) -> None:
    box.deliver()
    mail = box.only()

    box.writer.change_labels(mail.id, add=["SPAM"], remove=[], key="1")
    assert set(box.reader.email(mail.id).labels) == {"SPAM", "UNREAD"}
    with box.world.client(box.address) as client:
        client.select_folder(SPAM, readonly=True)
        assert len(client.search()) == 1

    box.writer.change_labels(mail.id, add=["INBOX"], remove=["SPAM"], key="2")
    assert set(box.reader.email(mail.id).labels) == {"INBOX", "UNREAD"}


def test_gmail_is_known_when_it_is_connected_and_files_what_it_sends(box: Box) -> None:
    servers = MailServers.from_json(box.world.servers | {"files_sent": False})

    found = trial.try_servers([servers], user_name=box.address, secret=PASSWORD)

    assert found.servers.files_sent
    assert {one.what: one.grade for one in found.abilities}["Archive and move"] == "B"


def test_a_folder_of_all_mail_that_is_hidden_is_said_with_what_to_do(
    settings: Any, db: None
) -> None:
    settings.OUTGOING_TO_PRIVATE = True
    with running_gmail_imap(shows_all=False) as world:
        servers = MailServers.from_json(world.servers)
        found = trial.try_servers([servers], user_name=f"maya@{DOMAIN}", secret=PASSWORD)

    archive = next(one for one in found.abilities if one.what == "Archive and move")
    assert (archive.grade, archive.why) == ("", abilities.HIDDEN)


@pytest.mark.parametrize(
    ("said", "labels"),
    [
        (
            (b"\\Inbox", b"\\Sent", b"Important", b"Muy Importante"),
            ("INBOX", "Important", "Muy Importante", "SENT"),
        ),
        ((b"\\Drafts", b"\\Draft", b"\\Important"), ("DRAFT",)),
        ((b"S&APw-d", 2026), ("2026", "Süd")),
        ((b"unread", b"Spam", b"SENT", b""), ()),
        ((), ()),
        (None, ()),
    ],
)
def test_labels_are_read_as_google_writes_them(said: Any, labels: tuple[str, ...]) -> None:
    names = gmail.read_names(
        {gmail.LABELS: said, gmail.MAIL: 1278455344230334865, gmail.THREAD: 1266894439832287888}
    )

    assert names == ("1278455344230334865", "1194e9c7de1efa90", labels)


LABELS = st.sets(st.sampled_from(["INBOX", "TRASH", "SPAM", "UNREAD", "STARRED", "A", "B"]))


@given(add=LABELS, remove=LABELS, present=LABELS)
def test_a_change_of_labels_leads_where_it_was_to(
    add: set[str], remove: set[str], present: set[str]
) -> None:
    on, off = gmail.change([*add], [*remove], present)
    inner = {"\\Inbox": "INBOX"}
    then = (present | {inner.get(one, one) for one in on}) - {inner.get(one, one) for one in off}

    assert not set(on) & set(off)
    settable = {"INBOX", "A", "B"}
    assert add & settable <= then
    assert not (remove - add) & settable & then
    if add & {"TRASH", "SPAM"} and "INBOX" not in add:
        assert "INBOX" not in then
    assert {*on, *off} <= {"\\Inbox", "A", "B"}
