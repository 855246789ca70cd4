"""Documents in folders."""

from typing import Any, Protocol, runtime_checkable

from integrations.contracts import Document, Folder
from integrations.ports.account import Reader, Writer


@runtime_checkable
class FilesReader(Reader, Protocol):
    def document(self, document_id: str) -> Document: ...
    def folders(self) -> tuple[Folder, ...]: ...


@runtime_checkable
class FilesWriter(Writer, Protocol):
    def create_document(
        self, *, name: str, content: str, folder_id: str, key: str
    ) -> dict[str, Any]: ...
    def append_document(
        self, document_id: str, *, content: str, revision: str | None, key: str
    ) -> dict[str, Any]: ...
    def move_document(
        self, document_id: str, *, folder_id: str, revision: str | None, key: str
    ) -> dict[str, Any]: ...
    def share_document(
        self, document_id: str, *, email: str, role: str, revision: str | None, key: str
    ) -> dict[str, Any]: ...
    def unshare_document(
        self, document_id: str, *, email: str, revision: str | None, key: str
    ) -> dict[str, Any]: ...
    def trash_document(self, document_id: str, *, revision: str | None, key: str) -> dict[str, Any]:
        """Puts it into the trash, where nobody but its owner finds it, and for a while."""
        ...

    def restore_document(
        self, document_id: str, *, revision: str | None, key: str
    ) -> dict[str, Any]:
        """Takes it out of the trash: who read it before reads it again."""
        ...
