"""Mails and calendar files are read by a child, which says the same as the parsers themselves."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, strategies as st

from integrations.child import Child, Ended, Unreadable
from integrations.contracts import Email
from integrations.exceptions import Unavailable
from integrations.imports import calendar_files, reading
from integrations.imports.calendar_files import NoEventsHere
from integrations.imports.imports import calendar_pages, mail_pages
from integrations.mail import mail
from integrations.mail.files import NoMailHere

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Stockholm")
MAIL = b"From: ann@client.com\nSubject: %s\n\nHello\n"
EVENT = b"BEGIN:VEVENT\nUID:%s\nDTSTART:20260310T090000Z\nSUMMARY:Lunch\nEND:VEVENT\n"
ATTACHED = (
    b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; name=a.txt\n"
    b"Content-Disposition: attachment\n\none\n--b--\n"
)
# Pieces that files of mail and events are made of, in any order.
PIECES = [
    *(b"From a Mon Mar  9 10:00:00 2026\n", b">From ", b"From: a@b.c\n", b"Subject: =?utf-8?q?"),
    *(b"Date: Mon, 99 Mar 0000 25:61:00 +9999\n", b"\n", b"\r\n", b"\0", b"\xff\xfe", b"\xed\xa0"),
    *(b"Content-Type: multipart/mixed; boundary=b\n", b"--b\n", b"--b--\n", b"MIME-Version: 1.0\n"),
    *(
        b"Content-Type: message/rfc822\n",
        b"Content-Transfer-Encoding: base64\n",
        b"=====",
        b"a" * 99,
    ),
    *(b"BEGIN:VCALENDAR\n", b"END:VCALENDAR\n", b"BEGIN:VEVENT\n", b"END:VEVENT\n", b"UID:1\n"),
    *(
        b"DTSTART:20260310T090000Z\n",
        b"DTSTART:00000000\n",
        b"DTEND;TZID=Nowhere:20260310T090000\n",
    ),
    *(
        b"DURATION:P99999999999D\n",
        b"RRULE:FREQ=SECONDLY;COUNT=-1\n",
        b"EXDATE:1\n",
        b"TZOFFSETTO:+9999",
    ),
    *(b"RECURRENCE-ID;RANGE=THISANDFUTURE:20260310\n", b"ATTENDEE:mailto:\n", b"BEGIN:VTIMEZONE\n"),
    *(
        b'{"raw": "From: a@b.c\\n\\n\\u0000"}\n',
        b'{"raw": 1}\n',
        b"[" * 5000 + b"\n",
        b'{"raw": "\\ud800"}\n',
    ),
]
FILES = st.lists(st.sampled_from(PIECES) | st.binary(max_size=20), max_size=20).map(b"".join)


@pytest.fixture
def stubborn(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Children that never read what has “Hang” in it."""
    child = Child("tests.stubborn_child", seconds=1)
    for name in ("CHILD", "CHILD_FOR_FILES"):
        monkeypatch.setattr(reading, name, child)
    yield
    child.close()


@example(ATTACHED)
@given(FILES)
def test_it_says_what_the_parsers_say(raw: bytes) -> None:
    contents: list[bytes] = []

    def keep(content: bytes) -> str:
        contents.append(content)
        return "kept"

    parsed = mail.parse(raw, fallback_date=NOW, keep=keep)

    read = reading.read_mail(raw, fallback_date=NOW, contents=True)

    assert read.with_files(lambda _: "kept") == parsed.email
    assert (read.notes, list(read.contents)) == (parsed.notes, contents)
    assert reading.read_events(raw, zone=ZONE) == calendar_files.read_events(raw, zone=ZONE)


def test_the_contents_of_attachments_are_handed_over_where_they_are_asked_for() -> None:
    with_contents = reading.read_mail(ATTACHED, fallback_date=NOW, contents=True)
    without = reading.read_mail(ATTACHED, fallback_date=NOW)

    assert with_contents.contents == (b"one",)
    assert without.contents == ()
    assert [one.name for one in without.email.attachments] == ["a.txt"]
    assert without.with_files(lambda number: f"f-{number}").attachments[0].file_id == "f-0"


def test_a_mail_that_is_never_read_is_set_aside_and_the_others_are_imported(
    stubborn: None, tmp_path: Path
) -> None:
    path = tmp_path / "mail.mbox"
    line = b"From a Mon Mar  9 10:00:00 2026\n"
    path.write_bytes(b"\n".join(line + MAIL % word for word in (b"One", b"Hang", b"Two")))

    pages = mail_pages(path, now=NOW)
    page = pages.page(None)
    pages.close()

    assert [one.subject for one in page.items if isinstance(one, Email)] == ["One", "Two"]
    assert [(one.source_id, one.reason) for one in page.rejected] == [
        ("mail.mbox, message 2", "too_slow")
    ]


def test_a_calendar_file_that_is_never_read_is_refused_in_words(
    stubborn: None, tmp_path: Path
) -> None:
    path = tmp_path / "a.ics"
    path.write_bytes(b"BEGIN:VCALENDAR\n" + EVENT % b"Hang" + b"END:VCALENDAR\n")

    with pytest.raises(NoEventsHere, match="was set aside: reading it took too long"):
        calendar_pages(path, zone=ZONE)


def test_a_child_that_a_mail_has_taken_over_cannot_say_that_it_is_another_mail(
    stubborn: None,
) -> None:
    with pytest.raises(Unreadable, match="broken"):
        reading.read_mail(MAIL % b"Lie", fallback_date=NOW)


def test_a_child_that_was_ended_from_outside_is_asked_again_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def ended(_: object) -> bytes:
        raise Ended

    monkeypatch.setattr(reading.CHILD, "ask", ended)
    monkeypatch.setattr(reading.CHILD_FOR_FILES, "ask", ended)

    with pytest.raises(Unavailable):
        reading.read_mail(MAIL % b"One", fallback_date=NOW)
    with pytest.raises(Unavailable):
        reading.read_events(EVENT % b"1", zone=ZONE)


@given(
    content=FILES, name=st.sampled_from(["a.mbox", "a.eml", "a.jsonl", "a.ics", "a.mbox.gz", "a"])
)
def test_every_file_is_taken_or_refused_with_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str
) -> None:
    path = tmp_path_factory.mktemp("files") / name
    path.write_bytes(content)
    try:
        pages = calendar_pages(path, zone=ZONE) if name == "a.ics" else mail_pages(path, now=NOW)
    except (NoMailHere, NoEventsHere) as refused:
        said = str(refused)
    else:
        said = "".join(f"{one.source_id}: {one.reason}." for one in pages.page(None).rejected)
        pages.close()

    assert said == "" or said.endswith(".")
