"""Writes to files as rows (`FileWrite`): committed before the server is called, with the version of
the file that they were made on."""

from collections.abc import Callable
from typing import Any

from integrations.contracts import AccountRef
from integrations.exceptions import Changed
from integrations.models import FileWrite
from integrations.ports.evidence import Evidence, Performed
from integrations.providers import own_record

Answer = dict[str, Any]


def find_row(account: AccountRef, key: str) -> FileWrite | None:
    return FileWrite.objects.filter(account_id=account.id, key=key).first()


def begin(account: AccountRef, key: str, operation: str, **about: Any) -> tuple[FileWrite, bool]:
    """The row of this write, new or from an earlier try, and whether it is new."""
    return FileWrite.objects.get_or_create(
        account_id=account.id, key=key, defaults={"operation": operation, **about}
    )


def check_version(etag: str, revision: str | None) -> None:
    """Raises Changed where it is not the one that was decided on."""
    if revision is not None and etag != revision:
        raise Changed("it has another version by now")


def note_version(row: FileWrite, etag: str, *, digest: str = "") -> None:
    """Which version the write is made on stands in the row before it is sent."""
    row.etag_before, row.digest = etag, digest
    row.save(update_fields=["etag_before", "digest", "changed_at"])


def finish(row: FileWrite, id: str, etag: str) -> Answer:
    row.answer = answer_of(id, etag)
    row.done = True
    row.save(update_fields=["answer", "done", "changed_at"])
    return dict(row.answer)


def find_evidence(account: AccountRef, key: str, look: Callable[[FileWrite], Evidence]) -> Evidence:
    return own_record.find_evidence(find_row(account, key), look)


def performed(row: FileWrite, id: str, etag: str) -> Performed:
    return Performed(response=answer_of(id, etag), at=row.changed_at)


def answer_of(id: str, etag: str) -> Answer:
    return {"id": id} | ({"revision": etag} if etag else {})
