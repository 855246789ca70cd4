"""Whatever stands in a file that is imported: each mail and each event is stored or counted with a
reason, and no command breaks. The suite tries a sample of what `make bench NAME=fuzz` does."""

import os
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.knowledge.management.commands.test_import_mailbox import balanced, run, slug, table

__all__ = ["slug"]

pytestmark = pytest.mark.django_db(transaction=True)
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0")) // 4 or 2
NASTY = [
    *(b"", b" ", b"\0", b"a\0b", b"\xff\xfe", b"\xed\xa0\x80", b"9" * 400, b"1e400", b"-1"),
    *(b"=?utf-8?b?AAAA?=", b"=?utf-8?q?=ED=A0=80?=", b"=?utf-16?b?2AA=?=", b"=?x-none?q?=00?="),
    *(b"=?" * 500, b"<" * 2000, b"(" * 2000, b'"' + b"\\" * 999, b"a@" + b"b." * 500 + b"c"),
    *(b"Mon, 01 Jan 1601 00:00:00 +0000", b"Mon, 99 Foo 99999 99:99:99 +9999", b"31 Dec 1969"),
    *(b"Fri, 31 Dec 9999 23:59:59 -1200", b"Mon, 01 Jan 0001 00:00:00 +1400"),
    *(b"text/plain; charset=\0", b"text/plain; charset=utf-7", b"text/html; charset=utf-16"),
    *(b"multipart/mixed; boundary=", b'multipart/mixed; boundary="\0"', b"message/rfc822"),
    *(b"text/calendar", b"base64", b"quoted-printable", b"attachment; filename*0*=utf-8''%00"),
    *("\u202e".encode(), "\u0301".encode() * 300, b"<a@b>" * 300, b"undisclosed-recipients:;"),
]
HEADERS = (
    *(b"From", b"To", b"Cc", b"Subject", b"Date", b"Message-ID", b"In-Reply-To", b"References"),
    *(b"List-Id", b"Content-Type", b"Content-Transfer-Encoding", b"Content-Disposition", b"\0"),
)
VALUES = st.sampled_from(NASTY) | st.binary(max_size=40)
FIELDS = st.lists(st.tuples(st.sampled_from(HEADERS), VALUES), max_size=6)
PLAIN = b"From: ada@client.com\nDate: Thu, 26 Nov 2026 10:00:00 +0000\n"
MAILS = st.lists(st.tuples(st.booleans(), FIELDS, VALUES), min_size=4, max_size=8)

TIMES = [
    *(b":00010101T000000Z", b":19691231T235959Z", b":99991231T235959Z", b":20261330", b":", b""),
    *(b":20261126T250000", b";TZID=\0:20261126T100000", b";TZID=Mars/Base:20261126T100000"),
    *(b";VALUE=DATE:99999999", b":20261126T100000", b";VALUE=PERIOD:20261126T100000/P99999D"),
]
RULES = [
    *(b":FREQ=SECONDLY", b":FREQ=YEARLY;INTERVAL=0", b":FREQ=DAILY;COUNT=999999999999", b":\0"),
    *(b":FREQ=DAILY;UNTIL=00010101", b":FREQ=YEARLY;BYMONTH=13", b":FREQ=", b":FREQ=DAILY;" * 99),
]
EVENT_FIELDS = st.lists(
    st.tuples(
        st.sampled_from((b"DTSTART", b"DTEND", b"RECURRENCE-ID", b"EXDATE")), st.sampled_from(TIMES)
    )
    | st.tuples(st.just(b"RRULE"), st.sampled_from(RULES))
    | st.tuples(
        st.sampled_from((b"SUMMARY", b"UID", b"ATTENDEE", b"DURATION", b"ORGANIZER", b"X\0")),
        VALUES.map(lambda one: b":" + one),
    ),
    max_size=6,
)


def mail(plain: bool, fields: list[tuple[bytes, bytes]], body: bytes) -> bytes:
    return PLAIN * plain + b"".join(b"%s: %s\n" % one for one in fields) + b"\n" + body + b"\n"


def put_eml(folder: Path, mails: list[bytes]) -> Path:
    for number, one in enumerate(mails):
        (folder / f"{number}.eml").write_bytes(one)
    return folder


def put_mbox(folder: Path, mails: list[bytes]) -> Path:
    path = folder / "all.mbox"
    path.write_bytes(
        b"".join(b"From a@b Thu Nov 26 10:00:00 2026\n" + one + b"\n" for one in mails)
    )
    return path


def put_maildir(folder: Path, mails: list[bytes]) -> Path:
    for name in ("cur", "new", "tmp"):
        (folder / name).mkdir()
    for number, one in enumerate(mails):
        (folder / "new" / f"{number}.host").write_bytes(one)
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Path]:
    def new() -> Iterator[Path]:
        for number in count():
            (tmp_path / str(number)).mkdir()
            yield tmp_path / str(number)

    return new()


def is_accounted_for(slug: str, *arguments: object, command: str) -> str:
    """Empty where all is well: every one that was received is stored, skipped or failed, in figures
    that are shown, or the file is refused in a sentence."""
    try:
        counts = table(run(slug, *arguments, "--again", command=command))
    except CommandError as error:
        return "" if re.fullmatch(r"\S.*\.", str(error), re.DOTALL) else f"no sentence: {error}"
    figures = {name: int(one.replace(",", "")) for name, one in counts.items()}
    came_to = figures["Stored"] + figures["Skipped"] + figures["Failed"]
    return "" if came_to == figures["Received"] and balanced(slug)[1] == 0 else str(figures)


@pytest.mark.parametrize("put", [put_eml, put_mbox, put_maildir], ids=["eml", "mbox", "Maildir"])
def test_every_mail_of_a_file_is_accounted_for(slug: str, folders: Any, put: Any) -> None:
    wrong: list[Any] = []

    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(MAILS)
    def is_read(mails: list[Any]) -> None:
        raw = [mail(*one) for one in mails]
        if found := is_accounted_for(slug, put(next(folders), raw), command="import_mailbox"):
            wrong.append((found, raw))

    is_read()

    assert wrong == []


def test_every_event_of_a_file_is_accounted_for(slug: str, folders: Any) -> None:
    wrong: list[Any] = []

    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.lists(EVENT_FIELDS, min_size=4, max_size=8))
    def is_read(events: list[Any]) -> None:
        lines = [b"BEGIN:VCALENDAR", b"VERSION:2.0"]
        for fields in events:
            lines += [b"BEGIN:VEVENT", *(name + value for name, value in fields), b"END:VEVENT"]
        path = next(folders) / "all.ics"
        path.write_bytes(b"\r\n".join([*lines, b"END:VCALENDAR", b""]))
        if found := is_accounted_for(slug, path, command="import_calendar"):
            wrong.append((found, path.read_bytes()))

    is_read()

    assert wrong == []
