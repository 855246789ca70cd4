"""A mailbox at Microsoft is read."""

from datetime import timedelta

import pytest

from integrations.exceptions import (
    CursorExpired,
    Malformed,
    NotFound,
    ProviderError,
    RateLimited,
    Unavailable,
)
from integrations.network.gate import Gate, forget_slots
from tests.integrations.providers.microsoft_mail.box import Box
from tests.microsoft_world import ADDRESS
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db
TOM = "tom@elsewhere.test"


def test_mails_are_listed_page_by_page_without_drafts_junk_and_trash(box: Box) -> None:
    kept = [box.outlook.receive(f"Mail {number}") for number in range(3)]
    for folder in ("drafts", "junkemail", "deleteditems"):
        box.outlook.receive("Other", folder=folder)

    found, cursor = list[str](), None
    while True:
        page = box.reader.items(since=None, cursor=cursor, limit=2)
        found += [str(one.id) for one in page.items]
        if (cursor := page.next_cursor) is None:
            break

    assert found == [one.id for one in reversed(kept)]
    since = box.outlook.now + timedelta(seconds=1)
    assert box.reader.items(since=since, cursor=None, limit=2).items == ()
    with pytest.raises(CursorExpired):
        box.reader.items(since=None, cursor="https://evil.test/", limit=2)


def test_a_link_that_leads_elsewhere_gets_no_token(box: Box) -> None:
    other = f"{box.outlook.origin}.evil.test/v1.0/me/messages?x"
    session = box.reader
    from integrations.providers.microsoft_mail.mails import mails_of

    with pytest.raises(Malformed):
        mails_of(session._account).session.path_of(other)


def test_a_mail_has_its_folder_marks_and_categories_as_labels(box: Box) -> None:
    name = box.outlook.make_folder("Clients")
    findings = "spf=pass smtp.mailfrom=elsewhere.test; dmarc=pass header.from=elsewhere.test"
    kept = box.outlook.receive("Lunch", folder=name, Authentication_Results=findings)
    box.outlook.mark(kept, is_read=True, starred=True, categories=["Red", "INBOX"])

    found = box.reader.email(kept.id)

    assert (found.id, found.thread_id, found.subject) == (kept.id, kept.thread, "Lunch")
    assert found.labels == ("folder:Clients", "STARRED", "Red")
    assert (found.is_read, found.is_starred, found.authentication.dmarc) == (True, True, "none")
    assert [one.id for one in box.reader.folders()] == ["folder:Clients"]
    box.outlook.receive("Second")
    assert box.reader.mailbox().inbox == 1


def test_a_thread_is_its_conversation(box: Box) -> None:
    first = box.outlook.receive("Plan")
    second = box.outlook.receive("Re: Plan", In_Reply_To=str(first.mail["Message-ID"]))
    box.outlook.receive("Other")

    assert [one.id for one in box.reader.thread(first.thread)] == [first.id, second.id]
    with pytest.raises(NotFound):
        box.reader.thread("x' or isRead eq false or conversationId eq '")


@pytest.mark.parametrize("id", ["", "../me", "a/b", "AAkALgAA1="])
def test_what_is_no_mail_is_not_found(box: Box, id: str) -> None:
    with pytest.raises(NotFound):
        box.reader.email(id)


def test_correspondence_counts_exact_addresses_alone(box: Box) -> None:
    box.outlook.receive("Hi")
    box.outlook.receive("Junk", folder="junkemail")
    box.outlook.receive("Re: Hi", folder="sentitems", From=ADDRESS, To=f"{TOM}, ann@x.test")
    box.outlook.receive("No", folder="sentitems", From=ADDRESS, To=f"not-{TOM}")

    found = box.reader.correspondence(TOM)

    assert (found.received, found.sent) == (1, 1)
    assert {one.address for one in box.reader.correspondents(limit=5)} == {
        *(TOM, "ann@x.test", f"not-{TOM}")
    }
    assert box.reader.correspondence("o'neil@x.test").received == 0


@pytest.mark.parametrize(
    ("status", "wait", "error"),
    [(429, "120", RateLimited), (503, "120", RateLimited), (504, None, Unavailable)],
)
def test_not_so_fast_makes_every_process_wait(
    box: Box, status: int, wait: str | None, error: type[ProviderError]
) -> None:
    headers = {"Retry-After": wait} if wait else {}
    box.outlook.refuse += [Refuse(status, None, headers) for _ in range(4)]

    with pytest.raises(error):
        box.reader.labels()

    box.outlook.refuse.clear()
    forget_slots()
    if error is RateLimited:
        with pytest.raises(RateLimited), Gate(f"microsoft {box.account.id}").slot():
            pass
