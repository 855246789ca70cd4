"""Writes to files at Microsoft. Only `integrations.accounts.writes` may import this module.

A new file is put under its name where nothing else may be: Graph takes it once. Every other write
names the version that was looked at; of moves and of the recycle bin, Graph's reference promises to
hold them to it. Each write is a row (`FileWrite`), committed before Graph is called. Its `path` is
the file's id and what is to become of it: where it goes, or with which role whom to let in.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound, Rejected, TooLarge
from integrations.models import FileWrite
from integrations.network.answers import parse
from integrations.ports.files import FilesWriter
from integrations.providers.drives import writing
from integrations.providers.drives.text import MAX_TEXT_BYTES, is_text, read_text
from integrations.providers.drives.writing import Answer
from integrations.providers.microsoft.session import NameTaken
from integrations.providers.microsoft.subscribing import SubscribingWriter
from integrations.providers.microsoft_files import grants, recycled
from integrations.providers.microsoft_files.answers import GrantSaid, ItemSaid
from integrations.providers.microsoft_files.evidence import digest, digest_at, is_done
from integrations.providers.microsoft_files.files import Files, child_of, url_of

ONCE = {"@microsoft.graph.conflictBehavior": "fail"}
FORBIDDEN = frozenset('"*:<>?/\\|')
SHARED_AS = {"reader": "read", "writer": "write"}
NO_NAME = "A file cannot have this name at OneDrive."
NO_TEXT = "Only to plain text files of up to 1 MB can something be added."
NO_FOLDER = "This folder is not there, or lies in the recycle bin."
NO_COMMENTS = "OneDrive has no role for comments alone. Let them read it, or write it."
NO_WAY_BACK = (
    "At work, Microsoft lets only the user take a file out of the recycle bin. Do it on OneDrive's "
    "own page."
)
NOT_ALONE = (
    "This address is let in together with others, or by a folder above. Change it on OneDrive's "
    "own page."
)
OWNER = "This address may do more with the file than that."
NO_VERSION = "Microsoft names no version of this file, so nothing is changed here."
NOT_KNOWN = "Microsoft does not say all of who is let in, so nothing is shared here."


class GraphFilesWriter(SubscribingWriter):
    """Satisfies `integrations.ports.files.FilesWriter` and `.pushes.PushWriter`."""

    resource = "me/drive/root"
    change_types = "updated"  # Graph knows no others of a drive

    def create_document(self, *, name: str, content: str, folder_id: str, key: str) -> Answer:
        if (
            not name
            or not name.isprintable()
            or FORBIDDEN & set(name)
            or name != name.strip(" ").rstrip(".")
        ):
            raise Rejected(NO_NAME)
        raw = content.encode()
        with self._opened() as own:
            if writing.find_row(self._account, key) is None:
                _check_folder(own, folder_id)
            row, is_new = writing.begin(
                *(self._account, key, "create_document"),
                path=f"{folder_id}/{name}",
                digest=digest(raw),
            )
            if row.done:
                return dict(row.answer)
            try:
                path = f"{child_of(folder_id, name)}/content"
                said = parse(ItemSaid, own.session.put(path, raw, params=ONCE))
            except NameTaken:
                if is_new:
                    raise
                # Once it was sent, what lies there may be this very file.
                said = own.called(folder_id, name)
                if digest_at(own, said) != row.digest:
                    raise
            return writing.finish(row, said.id, said.etag or "")

    def append_document(
        self, document_id: str, *, content: str, revision: str | None, key: str
    ) -> Answer:
        def note(own: Files, said: ItemSaid) -> dict[str, str]:
            return {"path": said.id, "digest": digest(_text_of(own, said) + content.encode())}

        def send(own: Files, said: ItemSaid, row: FileWrite) -> ItemSaid:
            raw = _text_of(own, said) + content.encode()
            if digest(raw) != row.digest:
                raise Rejected("The file has other bytes by now. Look at it again.")
            path = f"{url_of(said.id)}/content"
            return parse(ItemSaid, own.session.put(path, raw, etag=said.etag or ""))

        return self._change("append_document", document_id, note, send, revision=revision, key=key)

    def move_document(
        self, document_id: str, *, folder_id: str, revision: str | None, key: str
    ) -> Answer:
        def note(own: Files, said: ItemSaid) -> dict[str, str]:
            _check_folder(own, folder_id)
            return {"path": f"{said.id}/{folder_id}", "path_before": said.folder_id}

        def send(own: Files, said: ItemSaid, row: FileWrite) -> ItemSaid:
            body = {"parentReference": {"id": folder_id}}
            answer = own.session.send("PATCH", url_of(said.id), body, etag=said.etag or "")
            return parse(ItemSaid, answer)

        return self._change("move_document", document_id, note, send, revision=revision, key=key)

    def trash_document(self, document_id: str, *, revision: str | None, key: str) -> Answer:
        def send(own: Files, said: ItemSaid, row: FileWrite) -> None:
            own.session.send("DELETE", url_of(said.id), etag=said.etag or "")

        return self._change(
            *("trash_document", document_id),
            lambda own, said: {"path": said.id, "was": recycled.note(own, said)},
            send,
            revision=revision,
            key=key,
        )

    def restore_document(self, document_id: str, *, revision: str | None, key: str) -> Answer:
        with self._opened() as own:
            if not own.is_personal:
                raise Rejected(NO_WAY_BACK)
            row, _ = writing.begin(self._account, key, "restore_document", path=document_id)
            if row.done:
                return dict(row.answer)
            try:
                said = own.get(document_id)
            except NotFound:
                writing.note_version(row, "gone")
                said = parse(
                    ItemSaid, own.session.send("POST", f"{url_of(document_id)}/restore", {})
                )
            return writing.finish(row, said.id, said.etag or "")

    def share_document(
        self, document_id: str, *, email: str, role: str, revision: str | None, key: str
    ) -> Answer:
        if role not in SHARED_AS:
            raise Rejected(NO_COMMENTS)

        def send(own: Files, said: ItemSaid, row: FileWrite) -> None:
            _let_in(own, said, email, role)

        return self._change(
            *("share_document", document_id),
            lambda own, said: {"path": f"{said.id}/{role}/{email}"},
            send,
            revision=revision,
            key=key,
        )

    def unshare_document(
        self, document_id: str, *, email: str, revision: str | None, key: str
    ) -> Answer:
        def send(own: Files, said: ItemSaid, row: FileWrite) -> None:
            _let_out(own, said, email)

        return self._change(
            *("unshare_document", document_id),
            lambda own, said: {"path": f"{said.id}//{email}"},
            send,
            revision=revision,
            key=key,
        )

    def _change(
        self,
        operation: str,
        document_id: str,
        note: Callable[[Files, ItemSaid], dict[str, Any]],
        send: Callable[[Files, ItemSaid, FileWrite], ItemSaid | None],
        *,
        revision: str | None,
        key: str,
    ) -> Answer:
        """`note` is what the row keeps of it, before anything is sent."""
        row = writing.find_row(self._account, key)
        if row is not None and row.done:
            return dict(row.answer)
        with self._opened() as own:
            try:
                said = own.get(document_id)
            except NotFound:
                if row is None or not row.etag_before or operation != "trash_document":
                    raise
                return writing.finish(row, document_id, "")
            if row is not None and row.etag_before and is_done(own, row, said):
                return writing.finish(row, said.id, said.etag or "")
            before = row.etag_before if row is not None else ""
            writing.check_version(said.etag or "", before or revision)
            if not said.etag:
                raise Rejected(NO_VERSION)
            about = note(own, said)
            row, _ = writing.begin(self._account, key, operation, **about)
            writing.note_version(row, said.etag, digest=about.get("digest", ""))
            after = send(own, said, row)
            if after is None and operation != "trash_document":
                after = own.at(said.id)
            return writing.finish(row, said.id, (after.etag or "") if after else "")

    @contextmanager
    def _opened(self) -> Iterator[Files]:
        own = Files(self._account)
        try:
            yield own
        finally:
            self.request_id = own.session.request_id


def _check_folder(own: Files, folder_id: str) -> None:
    try:
        folder = own.at(folder_id)
    except NotFound as error:
        raise NotFound(NO_FOLDER) from error
    if not folder.is_folder:
        raise NotFound(NO_FOLDER)


def _text_of(own: Files, said: ItemSaid) -> bytes:
    """Raises Rejected for what is no text, or too long."""
    kind = (said.file.mime_type or "") if said.file else ""
    if not is_text(kind, said.name or ""):
        raise Rejected(NO_TEXT)
    try:
        raw = own.content(said.id, most=MAX_TEXT_BYTES)
    except TooLarge as error:
        raise Rejected(NO_TEXT) from error
    if read_text(raw) is None:
        raise Rejected(NO_TEXT)
    return raw


def _let_in(own: Files, said: ItemSaid, email: str, role: str) -> None:
    """Microsoft would write a mail about it, in words of its own: nobody decided on that one."""
    let_in = own.grants(said.id)
    if let_in is None:
        raise Rejected(NOT_KNOWN)
    present = grants.own_of(let_in, email)
    if present is None:
        body: dict[str, Any] = {
            "recipients": [{"email": email}],
            "roles": [SHARED_AS[role]],
            "requireSignIn": True,
            "sendInvitation": False,
        }
        own.session.send("POST", f"{url_of(said.id)}/invite", body)
    elif grants.role_of(present) != role:
        _check_own(present)
        path = f"{url_of(said.id)}/permissions/{quote(present.id, safe='')}"
        own.session.send("PATCH", path, {"roles": [SHARED_AS[role]]}, etag=said.etag or "")


def _check_own(present: GrantSaid) -> None:
    if "owner" in present.roles:
        raise Rejected(OWNER)
    if present.inherited is not None:
        raise Rejected(NOT_ALONE)


def _let_out(own: Files, said: ItemSaid, email: str) -> None:
    let_in = own.grants(said.id)
    if let_in is None:
        raise Rejected(NOT_KNOWN)
    present = grants.own_of(let_in, email)
    if present is not None:
        _check_own(present)
        path = f"{url_of(said.id)}/permissions/{quote(present.id, safe='')}"
        own.session.send("DELETE", path, etag=said.etag or "")
    elif email.casefold() in {one.casefold() for one in grants.roles(let_in, own.owner)}:
        raise Rejected(NOT_ALONE)


open_writer: Callable[[AccountRef], FilesWriter] = GraphFilesWriter
