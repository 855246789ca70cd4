"""Attachments of imported mail, kept on disk until they are read."""

import shutil
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from integrations.exceptions import NotFound, TooLarge, Unavailable


class Spool:
    """The attachments of the last two pages of an import. Satisfies
    `integrations.ports.account.Files`.

    The mails of a page are worked on while the next one is read, and are done before the one after
    it is asked for: what is older goes then, and all of it with the process. Only this user of the
    machine can read it.
    """

    def __init__(self) -> None:
        self._pages: list[TemporaryDirectory[str]] = []

    @property
    def folders(self) -> list[Path]:
        """Where they are, the newest page first."""
        return [Path(page.name) for page in reversed(self._pages)]

    def next_page(self) -> None:
        """From now on the mails of another page are taken apart. Raises Unavailable."""
        try:
            for old in self._pages[:-1]:
                old.cleanup()
            self._pages = [*self._pages[-1:], TemporaryDirectory(prefix="remit-import-")]
        except OSError as error:
            raise Unavailable("no room for attachments") from error

    def keep(self, content: bytes) -> str:
        """The id that these bytes can be asked for by: the same for the same bytes, ever after.
        Raises Unavailable when there is no room."""
        file_id = f"sha256-{sha256(content).hexdigest()}"
        try:
            (self.folders[0] / file_id).write_bytes(content)
        except OSError as error:
            raise Unavailable("no room for attachments") from error
        return file_id

    def file(self, file_id: str, *, into: IO[bytes], most_bytes: int) -> None:
        paths = (folder / file_id for folder in self.folders)
        path = next((path for path in paths if path.is_file()), None)
        if path is None or path.name != file_id:
            raise NotFound("no such attachment")
        if path.stat().st_size > most_bytes:
            raise TooLarge(f"more than {most_bytes} bytes")
        with path.open("rb") as stored:
            shutil.copyfileobj(stored, into)

    def close(self) -> None:
        for page in self._pages:
            page.cleanup()
        self._pages = []
