"""An exported row as texts, in which order its parts come, and what a format has to give."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from audit.ledger.lines import LINE
from audit.models import ExecutedAgentAction

COLUMNS = tuple(field.attname for field in ExecutedAgentAction._meta.concrete_fields)
CONTENT = ("artifacts", "payload", "resource_id", "target_id")
WORDS = ("sentence", "object")
HEADER = (*WORDS, *COLUMNS, *CONTENT, "salt")
ARTIFACTS = b'{"artifacts":'
NOTHING = (b"null",) * len(CONTENT)
WHOLE = (
    b'%b,"artifacts":%b,"artifacts_digest":%b,"payload":%b,"payload_commitment":%b,'
    b'"resource_id":%b,"resource_key":%b,"salt":%b,"schema_version":%b,"target_id":%b,'
    b'"target_key":%b'
)


@dataclass(frozen=True)
class Text:
    """How PostgreSQL writes the line of a row: `columns` of audit_action, which is `a`, as CSV
    with these marks."""

    columns: str
    delimiter: str = ","
    quote: str = '"'


# The line that is sealed. JSON has no control characters, so nothing is quoted and it comes out
# as it is.
SEALED = Text(LINE, delimiter="\x02", quote="\x01")


class Row(NamedTuple):
    """Texts in UTF-8: `line` is the row as its encoder's `text` says; `body` what its payload
    commits to, as canonical JSON, and `salt` in hexadecimal digits, None when they were erased.
    `columns` and `canonical` are for sealed lines."""

    line: bytes
    body: bytes | None
    salt: bytes | None

    def columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = json.loads(self.line)
        return columns

    def payload(self) -> Any:
        """What an entry gave as its payload; nothing where it was erased."""
        return json.loads(self.content()[1]) or {}

    def content(self) -> tuple[bytes, ...]:
        """Artifacts, payload, resource_id and target_id, each as canonical JSON.

        The body is cut at its keys: within a text each quotation mark has a backslash before
        it, artifacts are flat, and behind the payload only two texts follow.
        """
        if self.body is None:
            return NOTHING
        artifacts, found, rest = self.body.partition(b'],"payload":')
        payload, also_found, ids = rest.rpartition(b',"resource_id":')
        resource_id, at_last, target_id = ids.partition(b',"target_id":')
        if not (found and also_found and at_last and artifacts.startswith(ARTIFACTS)):
            raise ValueError("A payload has another form than the ledger gives it.")
        return artifacts[len(ARTIFACTS) :] + b"]", payload, resource_id, target_id[:-1]

    def canonical(self) -> bytes:
        """The whole row as one canonical JSON object."""
        artifacts, payload, resource_id, target_id = self.content()
        salt = b"null" if self.salt is None else b'"%b"' % self.salt
        one, _, rest = self.line.partition(b',"artifacts_digest":')
        two, _, rest = rest.partition(b',"payload_commitment":')
        three, _, rest = rest.partition(b',"resource_key":')
        four, _, rest = rest.partition(b',"schema_version":')
        five, _, six = rest.partition(b',"target_key":')
        return WHOLE % (
            *(one, artifacts, two, payload, three, resource_id),
            *(four, salt, five, target_id, six),
        )


class Encoder(Protocol):
    """One file in one format: `head`, then its pages of rows, whose lines are `text`, then
    `tail`."""

    @property
    def text(self) -> Text: ...
    def head(self) -> bytes: ...
    def page(self, rows: Iterable[Row]) -> bytes: ...
    def tail(self) -> bytes: ...
