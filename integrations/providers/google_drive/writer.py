"""Writes to files at Google Drive. Only `integrations.accounts.writes` may import this module.

A new file gets an id that Google gave before, and Google takes each id once. Every other write
carries Remit's mark in the same request, or shows in who is let in. Google holds no write to a
version (it has no `If-Match`): Remit looks right before. Each write is a row (`FileWrite`),
committed before Google is called; its `path` is the file's id, with role and address where it is
shared.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from integrations.contracts import AccountRef
from integrations.exceptions import Changed, NotFound, Rejected
from integrations.models import FileWrite
from integrations.network.answers import parse
from integrations.ports.files import FilesWriter
from integrations.providers.account_writer import AccountWriter
from integrations.providers.drives import writing
from integrations.providers.drives.text import MAX_TEXT_BYTES, TEXT_TYPES
from integrations.providers.drives.writing import Answer
from integrations.providers.google.session import Taken
from integrations.providers.google_drive import docs
from integrations.providers.google_drive.answers import FileSaid, IdsSaid
from integrations.providers.google_drive.docs import DOCUMENT
from integrations.providers.google_drive.evidence import MARK, grant_of, is_marked
from integrations.providers.google_drive.files import FIELDS, Files, url_of

PLAIN = "text/plain"
SAME = {"fields": FIELDS}
NO_TEXT = (
    "Only to plain text files of up to 1 MB and to documents of Google's own program can something "
    "be added."
)
NO_FOLDER = "This folder is not there, or lies in the trash."
NO_ACCOUNT = (
    "This address has no account at Google, and Google lets it in only where it may write to it. "
    "Share the file in Drive itself."
)
MORE_ALREADY = "This address may do more with the file than that."
SHARED_AS = frozenset({"reader", "commenter", "writer"})


class GoogleDriveWriter(AccountWriter):
    """Satisfies `integrations.ports.files.FilesWriter`."""

    def create_document(self, *, name: str, content: str, folder_id: str, key: str) -> Answer:
        own, row = Files(self._account), writing.find_row(self._account, key)
        if row is None:
            _check_folder(own, folder_id)
            row, _ = writing.begin(self._account, key, "create_document", path=_new_id(own))
        if row.done:
            return dict(row.answer)
        about = {"id": row.path, "name": name, "mimeType": PLAIN, "parents": [folder_id]}
        try:
            said = _put(own, "POST", "/files", about | _mark(key), content.encode())
        except Taken:
            said = own.at(row.path)  # by an earlier try: nobody else is given this id
        return writing.finish(row, said.id, said.version)

    def append_document(
        self, document_id: str, *, content: str, revision: str | None, key: str
    ) -> Answer:
        def send(own: Files, said: FileSaid) -> FileSaid:
            if said.mime_type == DOCUMENT:
                return _append_to_document(own, said, content, key)
            raw = _text_of(own, said)
            return _put(own, "PATCH", url_of(said.id), _mark(key), raw + content.encode())

        return self._change("append_document", document_id, send, revision=revision, key=key)

    def move_document(
        self, document_id: str, *, folder_id: str, revision: str | None, key: str
    ) -> Answer:
        def send(own: Files, said: FileSaid) -> FileSaid:
            _check_folder(own, folder_id)
            left = ",".join(one for one in said.parents if one != folder_id)
            where = {"addParents": folder_id} | ({"removeParents": left} if left else {})
            return _patch(own, said, _mark(key), where)

        return self._change("move_document", document_id, send, revision=revision, key=key)

    def trash_document(self, document_id: str, *, revision: str | None, key: str) -> Answer:
        return self._put_into_trash("trash_document", document_id, revision, key, into=True)

    def restore_document(self, document_id: str, *, revision: str | None, key: str) -> Answer:
        return self._put_into_trash("restore_document", document_id, revision, key, into=False)

    def share_document(
        self, document_id: str, *, email: str, role: str, revision: str | None, key: str
    ) -> Answer:
        def send(own: Files, said: FileSaid) -> FileSaid:
            grant, grants = grant_of(said, email), f"{url_of(said.id)}/permissions"
            if grant is None:
                _let_in(own, grants, email, role)
            elif grant.role not in SHARED_AS:
                raise Rejected(MORE_ALREADY)
            elif grant.role != role:
                own.session.send("PATCH", f"{grants}/{grant.id}", {"role": role})
            return own.at(said.id)

        about = f"/{role}/{email}"
        return self._change(
            "share_document", document_id, send, revision=revision, key=key, about=about
        )

    def unshare_document(
        self, document_id: str, *, email: str, revision: str | None, key: str
    ) -> Answer:
        def send(own: Files, said: FileSaid) -> FileSaid:
            if grant := grant_of(said, email):
                own.session.send("DELETE", f"{url_of(said.id)}/permissions/{grant.id}")
            return own.at(said.id)

        about = f"//{email}"
        return self._change(
            "unshare_document", document_id, send, revision=revision, key=key, about=about
        )

    def _put_into_trash(
        self, operation: str, document_id: str, revision: str | None, key: str, *, into: bool
    ) -> Answer:
        def send(own: Files, said: FileSaid) -> FileSaid:
            return _patch(own, said, {"trashed": into} | _mark(key), {})

        return self._change(operation, document_id, send, revision=revision, key=key)

    def _change(
        self,
        operation: str,
        document_id: str,
        send: Callable[[Files, FileSaid], FileSaid],
        *,
        revision: str | None,
        key: str,
        about: str = "",
    ) -> Answer:
        row = writing.find_row(self._account, key)
        if row is not None and row.done:
            return dict(row.answer)
        own = Files(self._account)
        said = own.get(document_id)
        if row is None or not is_marked(own, said, key):
            writing.check_version(said.version, revision)
            row = self._note(operation, said, key, about)
            said = send(own, said)
        return writing.finish(row, said.id, said.version)

    def _note(self, operation: str, said: FileSaid, key: str, about: str) -> FileWrite:
        row, _ = writing.begin(self._account, key, operation, path=f"{said.id}{about}")
        writing.note_version(row, said.version)
        return row


def _mark(key: str) -> dict[str, Any]:
    return {"appProperties": {MARK: key}}


def _new_id(own: Files) -> str:
    wanted: dict[str, str | int | list[str]] = {"count": 1, "space": "drive", "type": "files"}
    return parse(IdsSaid, own.session.get("/files/generateIds", wanted)).ids[0]


def _check_folder(own: Files, folder_id: str) -> None:
    folder = own.at(folder_id)
    if not folder.is_folder or folder.trashed:
        raise NotFound(NO_FOLDER)


def _put(own: Files, method: str, path: str, about: dict[str, Any], raw: bytes) -> FileSaid:
    return parse(FileSaid, own.session.upload(method, path, about, raw, kind=PLAIN, params=SAME))


def _text_of(own: Files, said: FileSaid) -> bytes:
    """Raises Rejected for what is no text, or too long."""
    if not said.mime_type.startswith(TEXT_TYPES) or said.size > MAX_TEXT_BYTES:
        raise Rejected(NO_TEXT)
    raw = own.session.download(url_of(said.id), {"alt": "media"}, most_bytes=MAX_TEXT_BYTES)
    if hashlib.md5(raw, usedforsecurity=False).hexdigest() != said.md5:
        raise Changed("it has other bytes by now")
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        raise Rejected(NO_TEXT) from error
    return raw


def _append_to_document(own: Files, said: FileSaid, text: str, key: str) -> FileSaid:
    """What was decided on is the file's version; what Google holds the write to, the document's
    revision: so the version is the same still once the revision is known."""
    document = docs.look(own.docs, said.id)
    writing.check_version(own.at(said.id).version, said.version)
    docs.append(own.docs, said.id, to=document, text=text, mark=key)
    return own.at(said.id)


def _patch(own: Files, said: FileSaid, body: dict[str, Any], where: dict[str, str]) -> FileSaid:
    return parse(FileSaid, own.session.send("PATCH", url_of(said.id), body, params=SAME | where))


def _let_in(own: Files, grants: str, email: str, role: str) -> None:
    """Google would write a mail about it, in words of its own: nobody decided on that one."""
    body = {"type": "user", "role": role, "emailAddress": email}
    try:
        own.session.send("POST", grants, body, params={"sendNotificationEmail": "false"})
    except Rejected as error:
        if "invalidSharingRequest" in error.said:
            raise Rejected(NO_ACCOUNT, said=error.said) from error
        raise


open_writer: Callable[[AccountRef], FilesWriter] = GoogleDriveWriter
