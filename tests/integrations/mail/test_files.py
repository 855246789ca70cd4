"""Every entry of a mail file is a message or is counted with a reason."""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from integrations.mail import files as mail_files
from integrations.mail.files import NoMailHere, RawMail, Unreadable, read_mail
from tests.corpus import MAIL, needs_corpus

FROM = b"From ann@client.example  Thu Aug 22 12:46:39 2002\n"
ONE = b"From: a@b.example\nSubject: one\n\nHello\n"
TWO = b"From: c@d.example\nSubject: two\n\nBye\n"


def raws(path: Path) -> list[bytes]:
    mails = list(read_mail(path))
    assert all(isinstance(mail, RawMail) for mail in mails), mails
    return [mail.raw for mail in mails if isinstance(mail, RawMail)]


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def lines(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.mark.parametrize("name", ["box", "box.mbox", "box.mbox.gz"])
def test_an_mbox_is_cut_at_its_from_lines(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, FROM + ONE + b"\n" + FROM + TWO)

    assert raws(path) == [ONE, TWO]


def test_an_mbox_with_windows_line_ends_is_cut_too(tmp_path: Path) -> None:
    content = (FROM + ONE + b"\n" + FROM + TWO).replace(b"\n", b"\r\n")

    assert raws(write(tmp_path / "box", content)) == [
        ONE.replace(b"\n", b"\r\n"),
        TWO.replace(b"\n", b"\r\n"),
    ]


def test_from_in_a_text_is_no_new_message(tmp_path: Path) -> None:
    text = (
        b"From: a@b.example\n\nFrom here on:\n\nFrom the top, at 12:30.\n>From quoted\n"
        b">>From twice\n"
        b"From x Thu Aug 22 12:46:39 2002\n"
    )
    path = write(tmp_path / "box", FROM + text)

    assert raws(path) == [text.replace(b">From", b"From", 1).replace(b">>From", b">From")]


@pytest.mark.parametrize(
    "line",
    [
        b"From exarkun at divmod.com  Thu Aug  2 12:46:39 2002\n",
        b"From a@b Thu Aug  2 12:46 2002 remote from host\n",
        b"From a@b Thu Aug 02 12:46:39 CEST 2002\n",
        b"From - Thu Aug 02 12:46:39 2002\r\n",
    ],
)
def test_the_kinds_of_from_lines_there_are(tmp_path: Path, line: bytes) -> None:
    (mail,) = read_mail(write(tmp_path / "box", line + ONE))

    assert isinstance(mail, RawMail)
    assert mail.raw == ONE
    assert (mail.date.year, mail.date.month, mail.date.day, mail.date.minute) == (2002, 8, 2, 46)


def test_a_maildir_is_read_and_what_is_not_a_message_is_not(tmp_path: Path) -> None:
    for folder in ("cur", "new", "tmp"):
        (tmp_path / folder).mkdir()
    write(tmp_path / "cur" / "1.host:2,S", ONE)
    write(tmp_path / "new" / "2.host", TWO)
    write(tmp_path / "tmp" / "3.host", b"From: half@written.example")
    write(tmp_path / "cur" / ".hidden", b"x")

    assert raws(tmp_path) == [ONE, TWO]


def test_a_folder_of_eml_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    write(tmp_path / "b" / "2.EML", TWO)
    write(tmp_path / "a.eml", FROM + ONE)
    write(tmp_path / "notes.txt", b"no mail")

    assert raws(tmp_path) == [ONE, TWO]


def test_a_single_mail_is_dated_by_its_file(tmp_path: Path) -> None:
    (mail,) = read_mail(write(tmp_path / "a.eml", ONE))

    assert isinstance(mail, RawMail)
    assert mail.date.tzinfo is UTC
    assert mail.date == datetime.fromtimestamp((tmp_path / "a.eml").stat().st_mtime, tz=UTC)


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_json_lines_give_the_exact_bytes(tmp_path: Path, name: str) -> None:
    raw = b"From: a@b.example\n\n\xff\xe9\x00\r\n"
    path = write(tmp_path / name, lines({"raw": (FROM + raw).decode("iso-8859-1")}) + b"\n \n")

    assert raws(path) == [raw]


def test_every_entry_is_accounted_for_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail_files, "MAX_MESSAGE_BYTES", 1_000)
    monkeypatch.setattr(mail_files, "_MAX_LINE_BYTES", 8_000)
    path = write(
        tmp_path / "x.jsonl",
        lines(
            {"raw": ONE.decode()},
            {"raw": "x" * 20_000},
            {"raw": "A: " + "x" * 2_000},
            {"raw": ""},
            {"raw": "\n"},
            {"raw": "no headers here"},
            {"raw": "A: \u20ac"},
            {"raw": 1},
            {"text": "x"},
            ["raw"],
            "raw",
            None,
        )
        + b"{broken\n\xff\xfe\n"
        + b"[" * 7_000
        + b"\n"
        + lines({"raw": TWO.decode()}),
    )

    found = [mail.reason if isinstance(mail, Unreadable) else mail.raw for mail in read_mail(path)]

    assert found == [
        ONE,
        "too_large",
        "too_large",
        "empty",
        "empty",
        "no_headers",
        *["bad_line"] * 9,
        TWO,
    ]


def test_a_huge_message_in_an_mbox_is_skipped_and_the_next_one_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail_files, "MAX_MESSAGE_BYTES", 1_000)
    huge = b"From: a@b.example\n\n" + b"x" * 200_000 + b"\n"
    path = write(tmp_path / "box", FROM + ONE + b"\n" + FROM + huge + b"\n" + FROM + TWO)

    found = [mail.reason if isinstance(mail, Unreadable) else mail.raw for mail in read_mail(path)]

    assert found == [ONE, "too_large", TWO]


def test_a_file_that_breaks_off_ends_with_one_unreadable(tmp_path: Path) -> None:
    packed = gzip.compress(lines(*({"raw": ONE.decode(), "n": n} for n in range(2_000))))
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(packed[: len(packed) // 2])

    *read, last = read_mail(path)

    assert all(isinstance(mail, RawMail) for mail in read)
    assert last == Unreadable(place="x.jsonl.gz", reason="cannot_read")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: None, "There is no file"),
        (lambda path: path.mkdir(), "neither a maildir nor a folder with .eml files"),
        (lambda path: path.write_bytes(b"hello"), "not mail Remit can read"),
        (lambda path: path.write_bytes(b""), "not mail Remit can read"),
    ],
)
def test_where_there_is_no_mail_a_sentence_says_so(
    tmp_path: Path, make: Callable[[Path], object], sentence: str
) -> None:
    make(tmp_path / "x")

    with pytest.raises(NoMailHere, match=sentence):
        read_mail(tmp_path / "x")


def test_an_archive_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(b"not gzip")

    with pytest.raises(NoMailHere, match="cannot be read"):
        read_mail(tmp_path / "x.gz")


def test_mails_are_read_one_at_a_time(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", lines({"raw": ONE.decode()}) + b"broken\n")
    mails = read_mail(path)

    first = next(mails)
    with path.open("ab") as file:
        file.write(lines({"raw": TWO.decode()}))
    rest = list(mails)

    assert isinstance(first, RawMail)
    assert [type(mail) for mail in rest] == [Unreadable, RawMail]


@needs_corpus
def test_all_real_mail_is_read() -> None:
    mails = list(read_mail(MAIL))

    assert len(mails) == 2635
    assert all(isinstance(mail, RawMail) and not mail.raw.startswith(b"From ") for mail in mails)
