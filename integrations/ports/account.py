"""What can be asked of every account, whatever its kind. Raises
integrations.exceptions.ProviderError."""

from datetime import datetime
from typing import IO, Protocol

from integrations.contracts import AnyItem, Change, Page
from integrations.contracts.people import Correspondence, Correspondent
from integrations.ports.evidence import Evidence


class Files(Protocol):
    """Where the bytes of attachments and documents come from."""

    def file(self, file_id: str, *, into: IO[bytes], most_bytes: int) -> None:
        """Write the bytes of an attachment or document into a file that can be rewound. Raises
        TooLarge for more than `most_bytes`."""
        ...


class Import(Protocol):
    """What an operator reads in, page by page. `place` tells it from others, and begins each of
    its cursors; `attached` holds the attachments of the last two pages."""

    place: str

    @property
    def attached(self) -> Files: ...
    def page(self, cursor: str | None) -> Page[AnyItem]: ...
    def close(self) -> None: ...


class Reader(Files, Protocol):
    """Reads of one account."""

    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]:
        """What was created or changed since then; all there is without a time."""
        ...

    def items_in_window(self, *, since: datetime, cursor: str | None, limit: int) -> Page[AnyItem]:
        """What a first sync is to know: events that take place since then, and of everything else
        what was created or changed."""
        ...

    def item(self, item_id: str) -> AnyItem: ...
    def history(self, *, since: datetime, cursor: str | None, limit: int) -> Page[Change]:
        """What was changed since then, oldest first. Raises NotFound where the provider keeps no
        history."""
        ...

    def correspondence(self, address: str) -> Correspondence:
        """How often the account's user and this address wrote to each other."""
        ...

    def correspondents(self, *, limit: int) -> tuple[Correspondent, ...]:
        """To whom the account's user sent mail last, the latest first. None where the provider
        cannot tell."""
        ...

    def evidence(self, key: str) -> Evidence:
        """What became of the write with this idempotency key."""
        ...


class Writer(Protocol):
    """Writes for one user, each with the idempotency key of one attempt's action. A write with
    a `revision` is refused when the object has another one by now: by the provider itself, where
    its capabilities say `conditional_write`.

    Returns the provider's answer as a plain dict, with the object's `revision` where it tells.
    Only `guardrails.execute.executor` may open one. `credential` is a fingerprint of what it
    writes with, and `request_id` what the provider calls its last request; empty
    where nobody can tell.
    """

    @property
    def credential(self) -> str: ...
    @property
    def request_id(self) -> str: ...
