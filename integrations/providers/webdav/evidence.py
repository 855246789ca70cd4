"""What became of a write to somebody's files: by Remit's own record of it, and by what lies there
now."""

import hashlib

from django.db import transaction

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound
from integrations.models import FilePlace, FileWrite
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed
from integrations.providers.drives import writing
from integrations.providers.webdav.folders import Files


def find(account: AccountRef, key: str) -> Evidence:
    """Raises ProviderError where the server has to be asked and is away."""

    def look(row: FileWrite) -> Evidence:
        own = Files(account)
        return _look_at_move(own, row) if row.operation == "move_document" else _look(own, row)

    return writing.find_evidence(account, key, look)


def note_move(row: FileWrite) -> None:
    """The file keeps its id at its new place; unless that was seen as a new file meanwhile, which
    it then stays."""
    with transaction.atomic():
        rows = FilePlace.objects.select_for_update().filter(account_id=row.account_id)
        if rows.filter(path=row.path).exclude(etag="").exists():
            return
        rows.filter(path=row.path).exclude(document_id=row.document_id).delete()
        rows.filter(document_id=row.document_id).update(path=row.path)


def _look(own: Files, row: FileWrite) -> Evidence:
    """A file with just these bytes is what this write was to bring about: nothing else may have
    been there."""
    try:
        etag, raw = own.session.get(own.url(row.path))
    except NotFound:
        return NotPerformed(proof="The folder holds no such file.")
    if hashlib.sha256(raw).hexdigest() == row.digest:
        return writing.performed(row, row.document_id, etag)
    if etag and etag == row.etag_before:
        return NotPerformed(proof="The file is as it was before.")
    # Somebody else has changed it since, or was first.
    return CannotTell(ask_again_at=None)


def _look_at_move(own: Files, row: FileWrite) -> Evidence:
    if not row.etag_before:
        return NotPerformed(proof="Remit had not asked for the move yet.")
    try:
        if own.file(row.path_before).etag == row.etag_before:
            return NotPerformed(proof="The file is where it was before.")
    except NotFound:
        try:
            there = own.file(row.path)
        except NotFound:
            return CannotTell(ask_again_at=None)
        note_move(row)
        return writing.performed(row, row.document_id, there.etag)
    return CannotTell(ask_again_at=None)
