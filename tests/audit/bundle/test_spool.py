import tempfile
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag

from audit.bundle import spool
from audit.bundle.spool import Spool

CHUNKS = [b"one", b"", b"two" * 100_000, b"three"]


def kept(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """The file that spools make from now on."""
    made: list[Any] = []
    real = tempfile.TemporaryFile

    def noted() -> Any:
        made.append(real())
        return made[-1]

    monkeypatch.setattr(spool, "TemporaryFile", noted)
    return lambda: made[-1]


def test_chunks_come_back_in_their_order() -> None:
    with Spool() as chunks:
        assert list(chunks.chunks()) == []
        for chunk in CHUNKS:
            chunks.put(chunk)
        assert list(chunks.chunks()) == list(filter(None, CHUNKS))


def test_nothing_can_be_read_on_disk_and_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    file = kept(monkeypatch)
    with Spool() as chunks:
        chunks.put(b"https://mail.example/draft-1" * 100)
        file().seek(0)
        on_disk = file().read()
        assert len(on_disk) > 100
        assert b"draft" not in on_disk
    assert file().closed


def test_what_was_altered_on_disk_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    file = kept(monkeypatch)
    with Spool() as chunks:
        chunks.put(b"one")
        file().seek(0)
        file().write(b"x")
        with pytest.raises(InvalidTag):
            list(chunks.chunks())
