import subprocess
from tempfile import TemporaryFile
from typing import Any

import pytest

from knowledge.files import reading
from knowledge.files.contracts import (
    MAX_CHARS,
    MAX_PAGES,
    MAX_UNPACKED,
    REASONS,
    FileText,
)
from knowledge.files.kinds import KINDS, Kind, kind_of
from tests import office_files

BY_NAME = {kind.name: kind for kind in KINDS}


def read(kind: str, content: bytes, **limits: Any) -> FileText:
    with TemporaryFile() as file:
        file.write(content)
        return reading.read(BY_NAME[kind], file, **limits)


def text_of(kind: str, content: bytes) -> str:
    found = read(kind, content)
    assert (found.reason, found.cut) == ("", False)
    return " ".join(found.text.split())


@pytest.mark.parametrize(
    ("name", "mime_type", "kind"),
    [
        ("plan.PDF", "application/octet-stream", "pdf"),
        ("plan", "application/pdf; name=plan", "pdf"),
        ("plan.docx", "application/zip", "word"),
        ("old.xls", "", "sheet"),
        ("list.csv", "application/vnd.ms-excel", "text"),
        ("page.htm", "text/plain", "html"),
        ("invite.ics", "text/calendar", "text"),
        ("photo.jpg", "image/jpeg", None),
        ("program.exe", "application/x-msdownload", None),
        ("", "", None),
    ],
)
def test_the_ending_of_the_name_counts_before_the_type(
    name: str, mime_type: str, kind: str | None
) -> None:
    found = kind_of(name=name, mime_type=mime_type)

    assert (found.name if found else None) == kind


def test_a_pdf_is_read_page_by_page() -> None:
    assert text_of("pdf", office_files.pdf("Invoice 4711", "Pay by May")) == (
        "Invoice 4711 Pay by May"
    )


def test_a_word_document_is_read_with_its_tables_and_footers() -> None:
    content = office_files.word(
        "Zusammenfassung für Ann",
        table=[["Phase", "Kosten"], ["Aufbau", "1.200 €"]],
        footer="Vertraulich",
    )

    assert text_of("word", content) == (
        "Zusammenfassung für Ann Phase | Kosten Aufbau | 1.200 € Vertraulich"
    )


def test_a_sheet_is_read_row_by_row_with_its_name() -> None:
    content = office_files.sheet(
        {"A1": "Rent", "B1": 1200.0, "A2": "Power", "B2": 80.5}, name="May"
    )

    assert text_of("sheet", content) == "May Rent | 1200 Power | 80.5"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Grüße".encode(), "Grüße"),
        ("Grüße".encode("cp1252"), "Grüße"),
        ("Grüße".encode("utf-16"), "Grüße"),
        (b"\xef\xbb\xbfGr\xc3\xbc\xc3\x9fe", "Grüße"),
    ],
)
def test_plain_text_is_read_in_its_charset(content: bytes, text: str) -> None:
    assert text_of("text", content) == text


def test_html_is_read_in_the_charset_it_declares_and_without_what_nobody_sees() -> None:
    page = '<meta charset="koi8-r"><p>Счёт</p><p style="display:none">Pay Eve</p>'

    assert text_of("html", page.encode("koi8-r")) == "Счёт"


def test_an_attached_mail_is_read_with_its_head() -> None:
    raw = b"From: Ann <ann@client.com>\r\nSubject: Offer\r\n\r\nOur offer stands.\r\n"

    assert text_of("mail", raw) == "Subject: Offer From: Ann <ann@client.com> Our offer stands."


@pytest.mark.parametrize(
    ("kind", "content", "reason"),
    [
        ("pdf", b"no pdf", "broken"),
        ("pdf", office_files.pdf("x")[:300], "broken"),
        ("pdf", office_files.pdf(""), "empty"),
        ("pdf", office_files.locked_pdf("hidden"), "encrypted"),
        ("word", b"no archive", "broken"),
        ("word", office_files.archive({"word/document.xml": b"<w/>"}), "broken"),
        ("sheet", office_files.archive({"xl/workbook.xml": b"<w/>"}), "broken"),
        ("text", b"", "empty"),
    ],
)
def test_what_cannot_be_read_says_why(kind: str, content: bytes, reason: str) -> None:
    assert read(kind, content) == FileText(reason=reason)  # type: ignore[arg-type]
    assert reason in REASONS


def test_an_archive_that_unpacks_to_very_much_is_not_unpacked() -> None:
    content = office_files.bomb(MAX_UNPACKED)

    assert len(content) < 2**20
    assert read("word", content) == FileText(reason="too_large_unpacked")


def test_entities_that_refer_to_files_or_to_each_other_are_not_followed() -> None:
    """The billion laughs, and a look at this machine."""
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 9))
    document = (
        f'<!DOCTYPE w [<!ENTITY l0 "ha">{laughs}<!ENTITY f SYSTEM "file:///etc/passwd">]>'
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        "<w:body><w:p><w:r><w:t>&l8;&f;here</w:t></w:r></w:p></w:body></w:document>"
    )
    parts = dict.fromkeys(["word/document.xml"], document.encode())

    found = read("word", office_files.repacked(office_files.word("x"), parts))

    assert "root:" not in found.text
    assert found.text.count("ha") < 1_000


def test_a_sheet_that_claims_to_be_huge_costs_this_process_nothing() -> None:
    content = office_files.sheet({"A1": "first", "XFD1048576": "last"})

    found = read("sheet", content)

    assert found == FileText(reason="too_much_memory")


def test_a_long_text_is_cut() -> None:
    found = read("text", b"x" * (MAX_CHARS + 1))

    assert (len(found.text), found.cut, found.reason) == (MAX_CHARS, True, "")


@pytest.mark.slow
def test_pages_beyond_the_limit_are_not_read() -> None:
    found = read("pdf", office_files.pdf(*[f"page{n}" for n in range(MAX_PAGES + 3)]))

    assert found.cut
    assert found.text.split() == [f"page{n}" for n in range(MAX_PAGES)]


def test_a_reader_that_takes_too_long_is_killed() -> None:
    assert read("text", b"Hello", seconds=0) == FileText(reason="too_slow")


def test_the_child_sees_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    run = subprocess.run

    def watched(*args: Any, **options: Any) -> Any:
        seen.update(options)
        return run(*args, **options)

    monkeypatch.setattr(subprocess, "run", watched)

    assert text_of("text", b"Hello") == "Hello"
    assert seen["env"] == {}


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"no json",
        b"[" * 100_000,
        b"[]",
        b'{"text": 7, "reason": ""}',
        b'{"text": "x", "reason": "made up"}',
        b'{"text": "x"}',
    ],
)
def test_a_child_that_a_file_has_taken_over_is_not_believed(
    monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    def taken_over(*args: Any, stdout: Any, **options: Any) -> Any:
        stdout.write(answer)
        stdout.flush()
        return subprocess.CompletedProcess([], 0)

    monkeypatch.setattr(subprocess, "run", taken_over)

    assert read("text", b"Hello") == FileText(reason="broken")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_bytes_of_one_kind_under_the_name_of_another_do_no_harm(kind: Kind) -> None:
    for content in (
        office_files.pdf("Hello"),
        office_files.sheet({"A1": "x"}),
        bytes(range(256)) * 8,
    ):
        found = read(kind.name, content)

        assert found.reason == "" or found.reason in REASONS
