"""An exported row as texts, in which order its parts come, and what a format has to give."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from audit.lines import LINE
from audit.models import ExecutedAgentAction

COLUMNS = tuple(field.attname for field in ExecutedAgentAction._meta.concrete_fields)
CONTENT = ("artifacts", "payload", "resource_id", "target_id")
HEADER = (*COLUMNS, *CONTENT, "salt")
ARTIFACTS = '{"artifacts":'
NOTHING = ("null",) * len(CONTENT)


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
    """`line` is the row as its encoder's `text` says; `body` what its payload commits to, as
    canonical JSON, and `salt` in hexadecimal digits, None when they were erased. `columns` and
    `canonical` are for sealed lines."""

    line: str
    body: str | None
    salt: str | None

    def columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = json.loads(self.line)
        return columns

    def content(self) -> tuple[str, ...]:
        """Artifacts, payload, resource_id and target_id, each as canonical JSON.

        The body is cut at its keys: within a text each quotation mark has a backslash before
        it, artifacts are flat, and behind the payload only two texts follow.
        """
        if self.body is None:
            return NOTHING
        artifacts, found, rest = self.body.partition('],"payload":')
        payload, also_found, ids = rest.rpartition(',"resource_id":')
        resource_id, at_last, target_id = ids.partition(',"target_id":')
        if not (found and also_found and at_last and artifacts.startswith(ARTIFACTS)):
            raise ValueError("A payload has another form than the ledger gives it.")
        return f"{artifacts[len(ARTIFACTS) :]}]", payload, resource_id, target_id[:-1]

    def canonical(self) -> str:
        """The whole row as one canonical JSON object."""
        artifacts, payload, resource_id, target_id = self.content()
        salt = "null" if self.salt is None else f'"{self.salt}"'
        one, _, rest = self.line.partition(',"artifacts_digest":')
        two, _, rest = rest.partition(',"payload_commitment":')
        three, _, rest = rest.partition(',"resource_key":')
        four, _, rest = rest.partition(',"schema_version":')
        five, _, six = rest.partition(',"target_key":')
        return (
            f'{one},"artifacts":{artifacts},"artifacts_digest":{two},"payload":{payload},'
            f'"payload_commitment":{three},"resource_id":{resource_id},"resource_key":{four},'
            f'"salt":{salt},"schema_version":{five},"target_id":{target_id},"target_key":{six}'
        )


class Encoder(Protocol):
    """One file in one format: `head`, then its pages of rows, whose lines are `text`, then
    `tail`."""

    @property
    def text(self) -> Text: ...
    def head(self) -> bytes: ...
    def page(self, rows: Iterable[Row]) -> bytes: ...
    def tail(self) -> bytes: ...
