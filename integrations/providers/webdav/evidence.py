"""What became of a write to somebody's files: by Remit's own record of it, and by what lies there
now."""

import hashlib
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound
from integrations.models import FilePlace, FileWrite
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.providers.webdav.folders import Files

# A server that is slow may still do what it was sent.
LATE = timedelta(seconds=30)


def find(account: AccountRef, key: str) -> Evidence:
    """Raises ProviderError where the server has to be asked and is away."""
    row = FileWrite.objects.filter(account_id=account.id, key=key).first()
    if row is None:
        return NotPerformed(proof="Remit had sent nothing to the server under this key.")
    if row.done:
        return Performed(response=row.answer, at=row.changed_at)
    own = Files(account)
    found = _look_at_move(own, row) if row.operation == "move_document" else _look(own, row)
    late = row.changed_at + LATE
    if isinstance(found, NotPerformed) and timezone.now() < late:
        return CannotTell(ask_again_at=late)
    return found


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
        return _performed(row, etag)
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
        return _performed(row, there.etag)
    return CannotTell(ask_again_at=None)


def _performed(row: FileWrite, etag: str) -> Performed:
    answer = {"id": row.document_id} | ({"revision": etag} if etag else {})
    return Performed(response=answer, at=row.changed_at)
