"""Reads of somebody's files at Microsoft."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import IO

from integrations.contracts import AccountRef, AnyItem, Change, Document, Folder, Page
from integrations.contracts.people import Correspondence, Correspondent
from integrations.exceptions import CursorExpired, NotFound, Rejected
from integrations.ports.evidence import Evidence
from integrations.ports.files import FilesReader
from integrations.providers.microsoft_files import evidence, recycled
from integrations.providers.microsoft_files.answers import ItemSaid
from integrations.providers.microsoft_files.files import AT_ONCE, Files
from integrations.providers.microsoft_files.folders import list_folders


class GraphFilesReader:
    """Satisfies `integrations.ports.files.FilesReader`."""

    def __init__(self, account: AccountRef) -> None:
        self._account = account

    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]:
        """Files that were changed since then, without their text, in the order that Graph has them
        in. The cursor is Graph's link to the next page; a page may have none of them."""
        own = Files(self._account)
        try:
            said = own.page(cursor or "", most=min(limit, AT_ONCE))
        except (NotFound, Rejected) as error:
            if cursor is None:
                raise
            raise CursorExpired("the cursor is none of this drive") from error
        found = [one for one in said.value if _is_wanted(one, since)]
        let_in = own.grants_of([one.id for one in found])
        return Page(
            items=tuple(own.describe(one, let_in[one.id]) for one in found),
            next_cursor=own.session.path_of(said.next_link) if said.next_link else None,
        )

    def items_in_window(self, *, since: datetime, cursor: str | None, limit: int) -> Page[AnyItem]:
        return self.items(since=since, cursor=cursor, limit=limit)

    def item(self, item_id: str) -> AnyItem:
        """Raises NotFound, also for what lies in the recycle bin."""
        found = self.document(item_id)
        if found.trashed:
            raise NotFound("it is in the recycle bin")
        return found

    def document(self, document_id: str) -> Document:
        """With its text, where it is plain text. Of what lies in the recycle bin, Graph says
        nothing: what Remit itself put there is known by its own record."""
        own = Files(self._account)
        try:
            said = own.get(document_id)
        except NotFound:
            return recycled.describe(own, document_id)
        return own.describe(said, own.grants(said.id), text=own.text(said))

    def folders(self) -> tuple[Folder, ...]:
        return list_folders(Files(self._account))

    def file(self, file_id: str, *, into: IO[bytes], most_bytes: int) -> None:
        """What Remit cannot read as it is, as a PDF. Raises NotFound, also where the file has other
        bytes by now."""
        id, form, wanted = [*file_id.split(" ", 2), "", ""][:3]
        own = Files(self._account)
        raw = own.content(id, most=most_bytes, form=form)
        # No two versions have the same tag, so these are the bytes of this one.
        if own.get(id).content_tag != wanted:
            raise NotFound("the file has other bytes by now")
        into.write(raw)

    def correspondence(self, address: str) -> Correspondence:
        return Correspondence(address=address, received=0, sent=0)

    def correspondents(self, *, limit: int) -> tuple[Correspondent, ...]:
        return ()

    def evidence(self, key: str) -> Evidence:
        return evidence.find(self._account, key)

    def history(self, *, since: datetime, cursor: str | None, limit: int) -> Page[Change]:
        raise NotFound("Microsoft's changes of files do not say by whom")


def _is_wanted(said: ItemSaid, since: datetime | None) -> bool:
    if not said.is_file or said.deleted is not None:
        return False
    return since is None or (said.changed or datetime.now(UTC)) >= since


open_reader: Callable[[AccountRef], FilesReader] = GraphFilesReader
