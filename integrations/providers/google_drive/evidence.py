"""What became of a write to files at Google Drive: by Remit's own record of it, by the mark that
the file carries now, and by who is let in. A file has one mark, of the last write of Remit's."""

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound
from integrations.models import FileWrite
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed
from integrations.providers.drives import writing
from integrations.providers.google_drive import docs
from integrations.providers.google_drive.answers import FileSaid, Grant
from integrations.providers.google_drive.docs import DOCUMENT
from integrations.providers.google_drive.files import Files, named

MARK = "remit"
SHARING = frozenset({"share_document", "unshare_document"})


def find(account: AccountRef, key: str) -> Evidence:
    """Raises ProviderError where Google has to be asked and is away."""

    def look(row: FileWrite) -> Evidence:
        id, *shared = row.path.split("/", 2)
        is_new = row.operation == "create_document"
        if not (is_new or row.etag_before):
            # It is kept before anything is sent.
            return NotPerformed(proof="Remit had not asked Google for it yet.")
        own = Files(account)
        try:
            said = own.at(id)
        except NotFound:
            if is_new:
                return NotPerformed(proof="Google has no file of the id that it gave for this one.")
            return CannotTell(ask_again_at=None)
        # Google gave this id for this one write alone.
        if is_new or is_marked(own, said, key) or (shared and _is_shared(said, *shared)):
            return writing.performed(row, said.id, said.version)
        return _judge(row, said)

    return writing.find_evidence(account, key, look)


def is_marked(own: Files, said: FileSaid, key: str) -> bool:
    """In a document of Google's own program, what was added has a mark of its own."""
    if _mark_of(said) == key:
        return True
    return said.mime_type == DOCUMENT and key in docs.look(own.docs, said.id).ranges


def _mark_of(said: FileSaid) -> str:
    return said.marks.get(MARK, "")


def grant_of(said: FileSaid, email: str) -> Grant | None:
    return next((one for one in named(said) if one.address.casefold() == email.casefold()), None)


def _is_shared(said: FileSaid, role: str, email: str) -> bool:
    """Without a role: that nothing is shared."""
    grant = grant_of(said, email)
    return grant is None if not role else grant is not None and grant.role == role


def _judge(row: FileWrite, said: FileSaid) -> Evidence:
    """Of a file that does not show the write."""
    if said.version == row.etag_before:
        return NotPerformed(proof="The file is as it was before.")
    if row.operation not in SHARING and said.mime_type != DOCUMENT and _is_older(row, said):
        return NotPerformed(proof="The file's mark is older than this write.")
    # Somebody else has changed it since: on top of this write, or in its place.
    return CannotTell(ask_again_at=None)


def _is_older(row: FileWrite, said: FileSaid) -> bool:
    """Nobody but Remit sets a mark, and nobody takes it away. One of another account is of
    nobody knows when."""
    mark = _mark_of(said)
    older = FileWrite.objects.filter(account_id=row.account_id, changed_at__lt=row.changed_at)
    return not mark or older.filter(key=mark).exists()
