"""A bundle: a period of one tenant's ledger that proves itself to people who trust neither us
nor our database. A zip file, written as it is read, so memory stays flat.

It begins and ends at checkpoints: the earlier one's frontier stands for everything before,
and the later one's signed root is over that and exactly these lines.
"""

import hashlib
import io
import zipfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import connections

from audit import chain, export, selectors
from audit.contracts import ActorType, Status
from audit.ids import uuid7
from audit.lines import LINE
from audit.merkle import Frontier
from audit.models import Checkpoint
from audit.notes import read_key
from audit.routing import LEDGER

FORMAT = "remit-ledger-bundle/1"
FOLDER = Path(__file__).parent
PAGE = 2000
POLICY_PAGE = 100
CHUNK = 1 << 16
STOPS = 50  # checkpoints in between: each takes a verifier some milliseconds

IN_ORDER = """
FROM audit_leaf l JOIN audit_action a ON a.action_id = l.action_id AND a.id = l.row_id
{join}
WHERE l.tenant_id = %s AND l.leaf_index >= %s AND l.leaf_index < %s
ORDER BY l.leaf_index
"""
LINES = f"SELECT {LINE} {IN_ORDER.format(join='')}"
PAYLOADS = "SELECT p.row_id, p.salt, p.body " + IN_ORDER.format(
    join="JOIN audit_payload p ON p.action_id = a.action_id AND p.row_id = a.id"
)
ARTIFACTS = (
    """
SELECT f.row_id, f.ordinal, f.kind, f.provider, f.external_id, f.url_key, f.digest
"""
    + IN_ORDER.format(join="JOIN audit_artifact f ON f.action_id = a.action_id AND f.row_id = a.id")
    + ", f.ordinal"
)
DIGESTS = "SELECT DISTINCT a.policy_digest " + IN_ORDER.format(join="").replace(
    "ORDER BY l.leaf_index", "AND a.policy_digest <> '' ORDER BY a.policy_digest"
)
POLICIES = """
SELECT digest, body FROM audit_policy WHERE tenant_id = %s AND digest = ANY(%s) ORDER BY digest
"""
# Of rows that were recorded before the period's end, the place of the last one. Nothing
# sealed before then can be later, so only what follows is looked at.
LAST = """
SELECT max(l.leaf_index)
FROM audit_leaf l JOIN audit_action a ON a.action_id = l.action_id AND a.id = l.row_id
WHERE l.tenant_id = %s AND l.leaf_index >= %s AND a.recorded_at < %s
"""


# Of redactions, the place of the last one; none if it is not sealed yet.
REDACTION = """
SELECT l.leaf_index FROM audit_action a
LEFT JOIN audit_leaf l ON l.row_id = a.id
WHERE a.tenant_id = %s AND a.phase = 'redaction' ORDER BY a.xact DESC, a.id DESC LIMIT 1
"""


class NothingSealed(Exception):
    """This tenant has no checkpoint yet, so there is nothing to prove."""

    def __init__(self) -> None:
        super().__init__(
            "Nothing of this organisation, or not its last erasure, is sealed yet. Start "
            "`manage.py seal_ledger` and try again in a second."
        )


@dataclass(frozen=True, kw_only=True)
class Period:
    """When rows were recorded: `since` is inclusive, `until` exclusive, None is open."""

    tenant_id: UUID
    since: datetime | None = None
    until: datetime | None = None


class Pipe(io.RawIOBase):
    """Takes what a zip file writes, until it is handed on."""

    def __init__(self) -> None:
        self.held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.held += data
        return len(data)

    def drain(self) -> bytes:
        held, self.held = bytes(self.held), bytearray()
        return held


class Bundle:
    """One bundle. Making it chooses its checkpoints and records its start in the ledger;
    iterating over it (once) gives the bytes of the zip file and records its end.

    Raises NothingSealed, and audit.ledger.LedgerError when the start cannot be recorded.
    """

    content_type = "application/zip"
    suffix = "bundle.zip"

    def __init__(self, *, period: Period, actor_type: ActorType, actor_id: str) -> None:
        self.id = uuid7()
        self.period = period
        self.actor_type = actor_type
        self.actor_id = actor_id
        _, self.generated_at = selectors.snapshot()
        self.newest = explained(ending(period))
        earlier = beginning(period)
        self.first = Frontier()
        if earlier and earlier.size < self.newest.size:
            self.first = Frontier(earlier.size, map(bytes, earlier.frontier))
        self.counts: dict[str, int] = {}
        self.digests: dict[str, str] = {}
        self.record("pending")

    def __iter__(self) -> Generator[bytes]:
        pipe = Pipe()
        try:
            with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                for name, content in self.files():
                    yield from self.member(archive, name, content, pipe)
            yield pipe.drain()
        except BaseException:  # also when the reader goes away
            self.record("failed", error_code="interrupted")
            raise
        self.record("succeeded")

    def files(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        for name in ("README.txt", "verify.py"):
            yield name, iter([(FOLDER / name).read_bytes()])
        yield "keys.json", iter([chain.canonical_bytes({"keys": self.keys()}) + b"\n"])
        yield "checkpoint.note", iter([self.newest.note.encode()])
        yield "checkpoints.jsonl", (line({"note": note}) for note in self.stops())
        yield "ledger.jsonl", (f"{row[0]}\n".encode() for row in self.rows(LINES))
        yield "payloads.jsonl", map(payload, self.rows(PAYLOADS))
        yield "artifacts.jsonl", map(artifact, self.rows(ARTIFACTS))
        yield "policies.jsonl", (line({"digest": d, "body": b}) for d, b in self.policies())
        yield "manifest.json", iter([chain.canonical_bytes(self.manifest()) + b"\n"])

    def member(
        self, archive: zipfile.ZipFile, name: str, content: Iterator[bytes], pipe: Pipe
    ) -> Iterator[bytes]:
        digest, count = hashlib.sha256(), 0
        with archive.open(name, "w", force_zip64=True) as file:
            for data in content:
                digest.update(data)
                count += 1
                file.write(data)
                if len(pipe.held) >= CHUNK:
                    yield pipe.drain()
        self.digests[name] = digest.hexdigest()
        if name.endswith(".jsonl"):
            self.counts[name.removesuffix(".jsonl")] = count

    def rows(self, query: str) -> Iterator[Any]:
        """Page by page, so that no transaction stays open however long the reader takes."""
        for start in range(self.first.size, self.newest.size, PAGE):
            with connections[LEDGER].cursor() as cursor:
                end = min(start + PAGE, self.newest.size)
                cursor.execute(query, [self.period.tenant_id, start, end])
                page = cursor.fetchall()
            yield from page

    def policies(self) -> Iterator[tuple[str, str]]:
        """The policies that the rows name, some at a time."""
        tenant = self.period.tenant_id
        with connections[LEDGER].cursor() as cursor:
            cursor.execute(DIGESTS, [tenant, self.first.size, self.newest.size])
            digests = [row[0] for row in cursor.fetchall()]
        for start in range(0, len(digests), POLICY_PAGE):
            with connections[LEDGER].cursor() as cursor:
                cursor.execute(POLICIES, [tenant, digests[start : start + POLICY_PAGE]])
                page = cursor.fetchall()
            yield from page

    def between(self) -> Any:
        return Checkpoint.objects.filter(
            tenant_id=self.period.tenant_id, size__gt=self.first.size, size__lte=self.newest.size
        )

    def stops(self) -> Iterator[str]:
        """Some checkpoints on the way, evenly spread over the rows."""
        step = max(1, (self.newest.size - self.first.size) // STOPS)
        wanted = self.first.size + step
        while wanted < self.newest.size:
            found = self.between().filter(size__gte=wanted).order_by("size").first()
            if not found or found.size == self.newest.size:
                return
            yield found.note
            wanted = found.size + step

    def keys(self) -> list[str]:
        return sorted(set(self.between().values_list("verifier_key", flat=True).distinct()))

    def manifest(self) -> dict[str, Any]:
        plain: dict[str, Any] = chain.storable(
            {
                "format": FORMAT,
                "origin": read_key(self.newest.verifier_key)[0],
                "tenant_id": self.period.tenant_id,
                "export_id": self.id,
                "generated_at": self.generated_at,
                "since": self.period.since,
                "until": self.period.until,
                "first": self.first.size,
                "size": self.newest.size,
                "left": [node.hex() for node in self.first.nodes],
                "counts": self.counts,
                "files": self.digests,
            }
        )
        return plain

    def record(self, status: Status, *, error_code: str = "") -> None:
        export.record(
            export_id=self.id,
            tenant_id=self.period.tenant_id,
            actor_type=self.actor_type,
            actor_id=self.actor_id,
            status=status,
            error_code=error_code,
            manifest=self.manifest(),
        )


def beginning(period: Period) -> Checkpoint | None:
    """A checkpoint that ends before the period, with a row of that time behind it, which
    shows a verifier that no row of the period came earlier. None: from the first row."""
    if not period.since:
        return None
    earlier = Checkpoint.objects.filter(tenant_id=period.tenant_id, signed_at__lt=period.since)
    found: Checkpoint | None = earlier.order_by("-size")[1:2].first()
    return found


def ending(period: Period) -> Checkpoint:
    """The first checkpoint with a row after the period; the newest one if there is none."""
    checkpoints = Checkpoint.objects.filter(tenant_id=period.tenant_id).order_by("size")
    newest: Checkpoint | None = checkpoints.last()
    if newest is None:
        raise NothingSealed
    if not period.until:
        return newest
    within = checkpoints.filter(signed_at__lt=period.until).last()
    place = within.size if within else 0
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(LAST, [period.tenant_id, place, period.until])
        last = cursor.fetchone()[0]
    return checkpoints.filter(size__gte=(place if last is None else last + 1) + 1).first() or newest


def explained(end: Checkpoint) -> Checkpoint:
    """A checkpoint that also covers the last redaction, so that the bundle itself says why
    payloads are missing in it. Raises NothingSealed while that is not sealed."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(REDACTION, [end.tenant_id])
        found = cursor.fetchone()
    if found is None or (found[0] is not None and found[0] < end.size):
        return end
    covering = Checkpoint.objects.filter(tenant_id=end.tenant_id, size__gt=found[0] or 0)
    later: Checkpoint | None = covering.order_by("size").first() if found[0] is not None else None
    if later is None:
        raise NothingSealed
    return later


def payload(row: Any) -> bytes:
    row_id, salt, body = row
    return line({"row_id": row_id, "salt": bytes(salt).hex(), "body": body})


def artifact(row: Any) -> bytes:
    names = ("row_id", "ordinal", "kind", "provider", "external_id", "url_key", "digest")
    return line(dict(zip(names, row, strict=True)))


def line(value: dict[str, Any]) -> bytes:
    return chain.canonical_bytes(value) + b"\n"
