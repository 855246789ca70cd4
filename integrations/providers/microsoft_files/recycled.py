"""What Remit put into the recycle bin. Graph shows nothing of what lies there."""

from datetime import UTC

from integrations.contracts import Document
from integrations.exceptions import NotFound
from integrations.models import FileWrite
from integrations.providers.microsoft_files.answers import ItemSaid, ParentSaid
from integrations.providers.microsoft_files.files import Files


def note(said: ItemSaid) -> dict[str, str]:
    """What a row keeps of a file that is to go there."""
    return {"path": f"{said.id}/{said.name or ''}", "path_before": said.folder_id}


def describe(own: Files, document_id: str) -> Document:
    """By the row of the last write that put it there. Who reads it once it is back nobody knows.
    Raises NotFound for what Remit did not put there."""
    rows = FileWrite.objects.filter(
        account_id=own.account.id,
        operation="trash_document",
        path__startswith=f"{document_id}/",
        done=True,
    )
    row = rows.order_by("-begun_at").first()
    if row is None:
        raise NotFound("there is no such file")
    said = ItemSaid(
        id=document_id,
        name=row.path.partition("/")[2],
        parentReference=ParentSaid(id=row.path_before),
        createdDateTime=row.begun_at.astimezone(UTC),
        lastModifiedDateTime=row.begun_at.astimezone(UTC),
    )
    return own.describe(said, None, trashed=True)
