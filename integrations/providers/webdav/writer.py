"""Writes to somebody's files. Only `integrations.accounts.writes` may import this module.

A new file is put under its name where nothing else may be: the server takes it once. A change is
put on the version that was looked at and no other, and a move never covers another file. Each
write is a row (`FileWrite`), committed before the server is called.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from integrations.contracts import AccountRef
from integrations.exceptions import Changed, NotFound, Rejected
from integrations.models import FilePlace, FileWrite
from integrations.ports.files import FilesWriter
from integrations.providers.account_writer import AccountWriter
from integrations.providers.drives import writing
from integrations.providers.drives.text import MAX_TEXT_BYTES, read_text
from integrations.providers.webdav import documents, evidence
from integrations.providers.webdav.folders import STRONG, Files, spell

Answer = dict[str, Any]
TAKEN = "The folder has a file or folder of this name already."
PLAIN = "text/plain; charset=utf-8"
NO_TRASH = "This server has no trash. Remit deletes nothing for good."
NO_SHARING = "A WebDAV server cannot be asked to share a file. Share it in its own pages."


class WebDavWriter(AccountWriter):
    """Satisfies `integrations.ports.files.FilesWriter`."""

    def create_document(self, *, name: str, content: str, folder_id: str, key: str) -> Answer:
        if not name.isprintable() or "/" in name or name.strip(". ") != name.strip(" "):
            raise Rejected("A file cannot have this name.")
        own, raw = Files(self._account), content.encode()
        folder = own.list(own.folder_path(folder_id)).path
        path = f"{folder}{spell(name)}"
        place = documents.places(self._account, [path])[path]
        row, is_new = self._start("create_document", key, place, path=path, raw=raw)
        if row.done:
            return dict(row.answer)
        try:
            etag = own.session.create(own.url(path), raw, kind=PLAIN)
        except Changed as error:
            # Once it was sent, what lies there may be this very file.
            etag, present = ("", b"") if is_new else own.session.get(own.url(path))
            if is_new or _digest(present) != row.digest:
                raise Rejected(TAKEN) from error
        return writing.finish(row, row.document_id, etag or own.file(path).etag)

    def append_document(
        self, document_id: str, *, content: str, revision: str | None, key: str
    ) -> Answer:
        own, place = Files(self._account), documents.place(self._account, document_id)
        etag, before = own.session.get(own.url(place.path), most_bytes=MAX_TEXT_BYTES)
        row = writing.find_row(self._account, key)
        if row is not None and (row.done or _digest(before) == row.digest):
            return dict(row.answer) if row.done else writing.finish(row, row.document_id, etag)
        if read_text(before) is None:
            raise Rejected("Only to plain text can something be added.")
        _check(etag, revision)
        raw = before + content.encode()
        row, _ = self._start("append_document", key, place, path=place.path, raw=raw)
        writing.note_version(row, etag, digest=_digest(raw))
        after = own.session.replace(own.url(place.path), raw, etag=etag, kind=PLAIN)
        return writing.finish(row, row.document_id, after or own.file(place.path).etag)

    def move_document(
        self, document_id: str, *, folder_id: str, revision: str | None, key: str
    ) -> Answer:
        own, place = Files(self._account), documents.place(self._account, document_id)
        folder = own.list(own.folder_path(folder_id)).path
        path = f"{folder}{place.path.rpartition('/')[2]}"
        row, is_new = self._start("move_document", key, place, path=path)
        if row.done:
            return dict(row.answer)
        try:
            etag = own.file(row.path_before).etag
        except NotFound:
            if is_new:
                raise
            return self._moved(own, row)
        _check(etag, revision)
        writing.note_version(row, etag)
        try:
            own.session.move(own.url(row.path_before), own.url(path), etag=etag)
        except Changed as error:
            # One status for both: the file has changed, or another is in the way.
            if own.file(row.path_before).etag != etag:
                raise
            raise Rejected(TAKEN) from error
        return self._moved(own, row)

    def trash_document(self, document_id: str, *, revision: str | None, key: str) -> Answer:
        raise Rejected(NO_TRASH)

    def restore_document(self, document_id: str, *, revision: str | None, key: str) -> Answer:
        raise Rejected(NO_TRASH)

    def share_document(
        self, document_id: str, *, email: str, role: str, revision: str | None, key: str
    ) -> Answer:
        raise Rejected(NO_SHARING)

    def unshare_document(
        self, document_id: str, *, email: str, revision: str | None, key: str
    ) -> Answer:
        raise Rejected(NO_SHARING)

    def _start(
        self, operation: str, key: str, place: FilePlace, *, path: str, raw: bytes = b""
    ) -> tuple[FileWrite, bool]:
        return writing.begin(
            self._account,
            key,
            operation,
            document_id=place.document_id,
            path=path,
            path_before=place.path,
            digest=_digest(raw) if raw else "",
        )

    def _moved(self, own: Files, row: FileWrite) -> Answer:
        etag = own.file(row.path).etag
        evidence.note_move(row)
        return writing.finish(row, row.document_id, etag)


def _check(etag: str, revision: str | None) -> None:
    """The server must be able to hold the write to the version that was looked at."""
    if not etag.startswith(STRONG):
        raise Rejected("The server does not tell versions apart, so nothing is changed here.")
    writing.check_version(etag, revision)


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


open_writer: Callable[[AccountRef], FilesWriter] = WebDavWriter
