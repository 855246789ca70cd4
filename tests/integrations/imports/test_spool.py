"""Attachments between a page of an import and their being read."""

import errno
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from integrations.exceptions import NotFound, TooLarge, Unavailable
from integrations.imports.spool import Spool


@pytest.fixture
def spool() -> Iterator[Spool]:
    made = Spool()
    made.next_page()
    yield made
    made.close()


def content(spool: Spool, file_id: str, *, most_bytes: int = 100) -> bytes:
    into = io.BytesIO()
    spool.file(file_id, into=into, most_bytes=most_bytes)
    return into.getvalue()


def test_what_was_kept_is_there_for_this_page_and_the_next(spool: Spool) -> None:
    first = spool.keep(b"first")
    spool.next_page()
    second = spool.keep(b"second")

    assert (content(spool, first), content(spool, second)) == (b"first", b"second")
    spool.next_page()
    assert content(spool, second) == b"second"
    with pytest.raises(NotFound):
        content(spool, first)


def test_the_same_bytes_have_the_same_id_and_stay_with_the_newest_page(spool: Spool) -> None:
    first = spool.keep(b"same")
    spool.next_page()

    assert (spool.keep(b"same"), spool.keep(b"other")) != (first, first)
    assert spool.keep(b"same") == first
    spool.next_page()
    assert content(spool, first) == b"same"


def test_a_size_is_the_largest_that_is_given(spool: Spool) -> None:
    kept = spool.keep(b"x" * 10)

    assert content(spool, kept, most_bytes=10) == b"x" * 10
    with pytest.raises(TooLarge):
        content(spool, kept, most_bytes=9)


def test_no_id_leads_out_of_the_folder(spool: Spool, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")

    for name in (str(secret), f"{'../' * 20}{secret}", "", ".", "nothing"):
        with pytest.raises(NotFound):
            content(spool, name)


def test_without_room_it_says_so_and_trying_again_may_help(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)

    with pytest.raises(Unavailable) as caught:
        spool.keep(b"x")
    assert caught.value.retryable


def test_nothing_stays_when_it_is_closed() -> None:
    spool = Spool()
    spool.next_page()
    kept = spool.keep(b"x")
    [folder] = spool.folders
    spool.close()

    assert not folder.exists()
    with pytest.raises(NotFound):
        content(spool, kept)
