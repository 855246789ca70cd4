"""A Gmail mailbox is read, and read alone."""

from datetime import timedelta

import pytest

from integrations.exceptions import (
    CursorExpired,
    NotFound,
    NotPermitted,
    RateLimited,
    SignInNeeded,
)
from integrations.models import Credential
from integrations.network.gate import Gate, forget_slots
from tests.google_world import ADDRESS
from tests.integrations.providers.google_mail.box import Box
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db
TOM = "tom@elsewhere.test"


def test_mails_are_listed_page_by_page_without_drafts_junk_and_trash(box: Box) -> None:
    kept = [box.gmail.receive(f"Mail {number}") for number in range(3)]
    box.gmail.mark(box.gmail.receive("Junk").id, add=("SPAM",), remove=("INBOX",))
    box.gmail.mark(box.gmail.receive("Old").id, add=("TRASH",), remove=("INBOX",))

    first = box.reader.items(since=None, cursor=None, limit=2)
    second = box.reader.items(since=None, cursor=first.next_cursor, limit=2)

    assert [one.id for one in first.items] == [kept[2].id, kept[1].id]
    assert ([one.id for one in second.items], second.next_cursor) == ([kept[0].id], None)
    since = box.gmail.now + timedelta(seconds=1)
    assert box.reader.items(since=since, cursor=None, limit=2).items == ()
    assert box.gmail.writes == []


def test_a_mail_has_gmails_ids_and_the_labels_that_mean_something_here(box: Box) -> None:
    kept = box.gmail.receive(
        "Lunch",
        Authentication_Results="mx.google.com; dmarc=pass header.from=elsewhere.test",
    )
    box.gmail.mark(kept.id, add=("STARRED", "IMPORTANT", "Label_7"), remove=("UNREAD",))

    found = box.reader.email(kept.id)

    assert (found.id, found.thread_id, found.subject) == (kept.id, kept.thread, "Lunch")
    assert found.labels == ("INBOX", "Label_7", "STARRED")
    assert (found.is_read, found.is_starred, found.authentication.dmarc) == (True, True, "pass")
    assert [one.name for one in box.reader.labels()] == ["Clients", "FYI", "To Reply"]
    assert box.reader.mailbox().inbox == 1


def test_findings_of_another_server_are_believed_by_nobody(box: Box) -> None:
    kept = box.gmail.receive("Hi", Authentication_Results="mx.evil.test; dmarc=pass")

    assert box.reader.email(kept.id).authentication.dmarc == "none"


@pytest.mark.parametrize("id", ["", "../labels", "a/b", "0000000000000000"])
def test_what_is_no_mail_is_not_found(box: Box, id: str) -> None:
    with pytest.raises(NotFound):
        box.reader.email(id)


def test_correspondence_counts_exact_addresses_alone(box: Box) -> None:
    for sender in (TOM, f"not-{TOM}", f'"{TOM}" <other@elsewhere.test>'):
        box.gmail.receive("Hi", From=sender)
    sent = box.gmail.receive("Re: Hi", From=ADDRESS, To=f"Tom Berg <{TOM}>, Ann <ann@x.test>")
    box.gmail.mark(sent.id, add=("SENT",), remove=("INBOX",))

    found = box.reader.correspondence(TOM)

    assert (found.received, found.sent) == (1, 1)
    assert [one.address for one in box.reader.correspondents(limit=5)] == [TOM, "ann@x.test"]
    assert box.reader.correspondence('x" OR in:anywhere "@y.test').received == 0


def test_a_cursor_that_gmail_does_not_know_has_expired(box: Box) -> None:
    box.gmail.refuse.append(Refuse(400, {"error": {"code": 400, "message": "Invalid pageToken"}}))

    with pytest.raises(CursorExpired):
        box.reader.items(since=None, cursor="old", limit=2)


@pytest.mark.parametrize("reason", ["rateLimitExceeded", "dailyLimitExceeded"])
def test_not_so_fast_makes_every_process_wait(
    box: Box, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"error": {"code": 403, "errors": [{"reason": reason}]}}
    box.gmail.refuse.append(Refuse(403, said, {"Retry-After": "120"}))

    with pytest.raises(RateLimited):
        box.reader.labels()

    forget_slots()
    with pytest.raises(RateLimited), Gate(f"google {box.account.id}").slot():
        pass


def test_what_the_user_did_not_agree_to_is_said(box: Box) -> None:
    reason = {"reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT"}
    box.gmail.refuse.append(Refuse(403, {"error": {"code": 403, "details": [reason]}}))

    with pytest.raises(NotPermitted, match="did not agree"):
        box.reader.labels()


def test_an_account_that_waits_for_its_user_asks_gmail_nothing(box: Box) -> None:
    Credential.objects.update(state="sign_in")

    with pytest.raises(SignInNeeded) as waits:
        box.reader.labels()

    assert (waits.value.retryable, box.gmail.reads) == (True, 0)
