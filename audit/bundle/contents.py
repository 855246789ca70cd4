"""A bundle: a period of one tenant's ledger that proves itself to people who trust neither us
nor our database.

It begins and ends at checkpoints: the earlier one's frontier stands for everything before,
and the later one's signed root is over that and exactly these lines.
"""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from audit import chain, export, selectors, signing_keys
from audit.bundle.archive import Archive
from audit.bundle.period import Period, beginning, ending, explained
from audit.bundle.rows import SealedRows
from audit.contracts import ActorType, Status
from audit.ids import uuid7
from audit.merkle import Frontier
from audit.models import Checkpoint
from audit.notes import read_key

FORMAT = "remit-ledger-bundle/1"
FOLDER = Path(__file__).parent
STOPS = 50  # checkpoints in between: each takes a verifier some milliseconds


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
        self.rotations = signing_keys.keys().rotations  # read after it: its key is among them
        earlier = beginning(period)
        self.first = Frontier()
        if earlier and earlier.size < self.newest.size:
            self.first = Frontier(earlier.size, map(bytes, earlier.frontier))
        self.archive = Archive()
        self.record("pending")

    def __iter__(self) -> Generator[bytes]:
        try:
            yield from self.archive.written(self.files())
        except BaseException:  # also when the reader goes away
            self.record("failed", error_code="interrupted")
            raise
        self.record("succeeded")

    def files(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        rows = SealedRows(self.period.tenant_id, range(self.first.size, self.newest.size))
        for name in ("README.txt", "verify.py"):
            yield name, iter([(FOLDER / name).read_bytes()])
        yield "keys.json", iter([line({"keys": self.keys(), "rotations": self.rotations})])
        yield "checkpoint.note", iter([self.newest.note.encode()])
        yield "checkpoints.jsonl", (line({"note": note}) for note in self.stops())
        yield "ledger.jsonl", rows.lines()
        yield "payloads.jsonl", rows.payloads()
        yield "artifacts.jsonl", rows.artifacts()
        yield "policies.jsonl", rows.policies()
        yield "manifest.json", iter([line(self.manifest())])

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
                "counts": self.archive.counts,
                "files": self.archive.digests,
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


def line(value: dict[str, Any]) -> bytes:
    return chain.canonical_bytes(value) + b"\n"
