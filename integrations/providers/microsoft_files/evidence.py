"""What became of a write to files at Microsoft: by Remit's own record of it, by where the file is
and the bytes that lie there, and by who is let in. Files at Microsoft have no place for a mark of
Remit's."""

import hashlib
from collections.abc import Callable

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound, TooLarge
from integrations.models import FileWrite
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed
from integrations.providers.drives import writing
from integrations.providers.drives.text import MAX_TEXT_BYTES
from integrations.providers.microsoft import subscribing
from integrations.providers.microsoft_files import grants
from integrations.providers.microsoft_files.answers import ItemSaid
from integrations.providers.microsoft_files.files import Files

NOBODY_KNOWS = CannotTell(ask_again_at=None)
AS_BEFORE = NotPerformed(proof="The file is as it was before.")


def find(account: AccountRef, key: str) -> Evidence:
    """Raises ProviderError where Microsoft has to be asked and is away."""

    if (found := subscribing.find_evidence(account, key)) is not None:
        return found

    def look(row: FileWrite) -> Evidence:
        own = Files(account)
        if row.operation == "create_document":
            return _created(own, row)
        if not row.etag_before:
            # It is kept before anything is sent.
            return NotPerformed(proof="Remit had not asked Microsoft for it yet.")
        return LOOKS[row.operation](own, row)

    return writing.find_evidence(account, key, look)


def is_done(own: Files, row: FileWrite, said: ItemSaid) -> bool:
    """Whether a file shows a write that was sent before, under the key of this row."""
    if row.operation == "append_document":
        return digest_at(own, said) == row.digest
    if row.operation == "move_document":
        return said.folder_id == row.path.partition("/")[2] != row.path_before
    if row.operation in ("share_document", "unshare_document"):
        return is_shared(own, row) is True
    return False


def is_shared(own: Files, row: FileWrite) -> bool | None:
    """As the row wants it: without a role, that the address is let in no more. None where nobody
    can say."""
    id, role, email = row.path.split("/", 2)
    let_in = own.grants(id)
    if let_in is None:
        return None
    present = grants.own_of(let_in, email)
    if not role:
        return present is None
    return present is not None and grants.role_of(present) == role


def digest_at(own: Files, said: ItemSaid) -> str:
    """Of the bytes that lie there; empty for more than Remit writes."""
    try:
        return digest(own.content(said.id, most=2 * MAX_TEXT_BYTES))
    except TooLarge:
        return ""


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _created(own: Files, row: FileWrite) -> Evidence:
    """A file with just these bytes is what this write was to bring about: nothing else may have
    been there."""
    folder_id, _, name = row.path.partition("/")
    try:
        said = own.called(folder_id, name)
    except NotFound:
        return NotPerformed(proof="The folder holds no such file.")
    if said.is_file and digest_at(own, said) == row.digest:
        return writing.performed(row, said.id, said.etag or "")
    # Somebody else has changed it since, or was first.
    return NOBODY_KNOWS


def _changed(own: Files, row: FileWrite) -> Evidence:
    try:
        said = own.at(row.path.partition("/")[0])
    except NotFound:
        return NOBODY_KNOWS
    if is_done(own, row, said):
        return writing.performed(row, said.id, said.etag or "")
    return AS_BEFORE if said.etag == row.etag_before else NOBODY_KNOWS


def _shared(own: Files, row: FileWrite) -> Evidence:
    """Sharing does not change the version of a file for certain. So where an address is not let
    in, it was not let in, or somebody took that back."""
    found = is_shared(own, row)
    if found:
        said = own.at(row.path.partition("/")[0])
        return writing.performed(row, said.id, said.etag or "")
    if found is False and row.operation == "unshare_document":
        return NotPerformed(proof="The address is still let in.")
    return NOBODY_KNOWS


def _trashed(own: Files, row: FileWrite) -> Evidence:
    try:
        said = own.at(row.path.partition("/")[0])
    except NotFound:
        return writing.performed(row, row.path.partition("/")[0], "")
    return AS_BEFORE if said.etag == row.etag_before else NOBODY_KNOWS


def _restored(own: Files, row: FileWrite) -> Evidence:
    try:
        said = own.at(row.path.partition("/")[0])
    except NotFound:
        return NotPerformed(proof="The file is not back.")
    return writing.performed(row, said.id, said.etag or "")


LOOKS: dict[str, Callable[[Files, FileWrite], Evidence]] = {
    "append_document": _changed,
    "move_document": _changed,
    "share_document": _shared,
    "unshare_document": _shared,
    "trash_document": _trashed,
    "restore_document": _restored,
}
