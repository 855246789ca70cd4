"""What Remit put into the recycle bin: Graph shows nothing of it, so a row keeps what it was."""

from typing import Any

from integrations.contracts import Document
from integrations.exceptions import NotFound
from integrations.models import FileWrite
from integrations.providers.microsoft_files.answers import ItemSaid
from integrations.providers.microsoft_files.files import Files


def note(own: Files, said: ItemSaid) -> dict[str, Any]:
    """A file as it is before it goes there, with who reads it: they may read it again once it is
    back."""
    return own.describe(said, own.grants(said.id), trashed=True).model_dump(mode="json")


def describe(own: Files, document_id: str) -> Document:
    """By the row of the last write that was to put it there. Its answer may have been lost: what
    is gone now was put there. Raises NotFound for what Remit never put there."""
    rows = FileWrite.objects.filter(
        account_id=own.account.id, operation="trash_document", path=document_id
    )
    row = rows.exclude(was=None).exclude(etag_before="").order_by("-begun_at").first()
    if row is None:
        raise NotFound("there is no such file")
    return Document.model_validate(row.was)
