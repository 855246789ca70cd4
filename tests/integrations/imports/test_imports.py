"""Pages of a file: where one begins, and what is at hand while it is worked on."""

import io
import mailbox
from collections.abc import Iterator
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest

from integrations.contracts import AnyItem, Email, Page
from integrations.exceptions import NotFound, Unavailable
from integrations.imports import imports
from integrations.imports.imports import FilePages, mail_pages

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
OPENED: list[FilePages[object]] = []


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(imports, "PAGE", 2)
    yield
    while OPENED:
        OPENED.pop().close()


def pages(folder: Path, *, mails: int) -> FilePages[object]:
    path = folder / "mail.mbox"
    if not path.exists():
        box = mailbox.mbox(path)
        for number in range(mails):
            mail = EmailMessage()
            mail["From"], mail["Subject"] = "ann@client.com", f"Mail {number}"
            mail.set_content("See the attachment.")
            mail.add_attachment(
                f"Notes {number}".encode(), maintype="text", subtype="plain", filename="notes.txt"
            )
            box.add(mail)
        box.close()
    found: FilePages[object] = mail_pages(path, now=NOW)  # type: ignore[assignment]
    OPENED.append(found)
    return found


def attached(page: Page[AnyItem]) -> list[str]:
    return [
        one.file_id or ""
        for item in page.items
        if isinstance(item, Email)
        for one in item.attachments
    ]


def content(source: FilePages[object], file_id: str) -> bytes:
    into = io.BytesIO()
    source.attached.file(file_id, into=into, most_bytes=100)
    return into.getvalue()


def test_attachments_of_a_page_are_at_hand_until_the_one_after_the_next_is_asked_for(
    tmp_path: Path,
) -> None:
    source = pages(tmp_path, mails=6)

    first = source.page(None)
    second = source.page(first.next_cursor)
    kept = attached(first) + attached(second)
    assert [content(source, one) for one in kept] == [f"Notes {n}".encode() for n in range(4)]

    source.page(second.next_cursor)
    assert content(source, kept[2]) == b"Notes 2"
    with pytest.raises(NotFound):
        content(source, kept[0])


def test_what_was_read_before_is_gone_past_without_being_taken_apart(tmp_path: Path) -> None:
    before = pages(tmp_path, mails=5)
    first = before.page(None)
    second = before.page(first.next_cursor)
    [skipped, *_] = attached(first)

    source = pages(tmp_path, mails=5)
    last = source.page(second.next_cursor)

    assert [content(source, one) for one in attached(last)] == [b"Notes 4"]
    with pytest.raises(NotFound):
        content(source, skipped)


def test_a_page_that_failed_is_read_again_from_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = pages(tmp_path, mails=5)
    first = source.page(None)
    with monkeypatch.context() as patched:

        def full(content: bytes) -> str:
            raise Unavailable("no room for attachments")

        patched.setattr(source.attached, "keep", full)
        with pytest.raises(Unavailable):
            source.page(first.next_cursor)

    again = source.page(first.next_cursor)

    assert [content(source, one) for one in attached(again)] == [b"Notes 2", b"Notes 3"]
