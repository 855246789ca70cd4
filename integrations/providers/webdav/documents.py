"""Files as documents of Remit: their ids, and what is said of each."""

from collections.abc import Iterable

from integrations.contracts import AccountRef, Document
from integrations.exceptions import NotFound
from integrations.models import FilePlace
from integrations.providers.webdav.folders import File, Files


def places(account: AccountRef, paths: Iterable[str]) -> dict[str, FilePlace]:
    """The row of each path, made where there is none."""
    wanted = list(paths)
    rows = FilePlace.objects.filter(account_id=account.id, path__in=wanted)
    if len(known := {row.path for row in rows}) < len(wanted):
        FilePlace.objects.bulk_create(
            [FilePlace(account_id=account.id, path=one) for one in wanted if one not in known],
            ignore_conflicts=True,
        )
    return {row.path: row for row in rows.all()}


def place(account: AccountRef, document_id: str) -> FilePlace:
    """Raises NotFound for a file that Remit has never seen."""
    row = FilePlace.objects.filter(account_id=account.id, document_id=document_id).first()
    if row is None:
        raise NotFound("Remit has not seen this file")
    return row


def describe(own: Files, row: FilePlace, file: File, *, text: str = "") -> Document:
    folder = f"{file.path.rpartition('/')[0]}/"
    folder_id = own.folder_id(folder)
    return Document(
        id=row.document_id,
        revision=file.etag,
        updated_at=file.changed_at,
        name=file.name,
        mime_type=file.mime_type,
        content_text=text,
        folder_id=folder_id,
        folder_path=f"/{folder_id.partition(':')[2]}",
        created_at=file.created_at,
        modified_at=file.changed_at,
        size_bytes=file.size,
        file_id=f"{row.document_id} {file.etag}" if file.etag else None,
        owner="" if own.server.readers is None else own.account.address,
    )
