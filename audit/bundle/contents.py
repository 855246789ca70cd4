"""A bundle: rows of one tenant's ledger that prove themselves to people who trust neither us
nor our database. `audit.bundle.extent` says which rows, and what is proven of them.
"""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from audit.bundle import derived, redactions
from audit.bundle.archive import Archive
from audit.bundle.extent import choose_extent
from audit.bundle.proofs import Proofs
from audit.bundle.rows import SealedRows
from audit.bundle.spool import Spool
from audit.bundle.verify import FORMAT, WORDS
from audit.contracts import ActorType, Filters, Status
from audit.formats import export
from audit.ledger import chain, queries
from audit.ledger.ids import uuid7
from audit.models import Checkpoint
from audit.seals import signing_keys
from audit.seals.anchors import Stamped, list_stamped
from audit.seals.notes import read_key

FOLDER = Path(__file__).parent
STOPS = 50  # checkpoints in between: each takes a verifier some milliseconds


class Bundle:
    """One bundle. Making it chooses its checkpoints and records its start in the ledger;
    iterating over it (once) gives the bytes of the zip file and records its end as an export
    does. `with_derived` adds what people read: a report, and the rows as CSV.

    Raises NothingSealed, and audit.contracts.LedgerError when the start cannot be recorded.
    """

    content_type = "application/zip"
    suffix = "bundle.zip"

    def __init__(
        self,
        *,
        filters: Filters,
        actor_type: ActorType,
        actor_id: str,
        with_derived: bool = False,
    ) -> None:
        self.id = uuid7()
        self.with_derived = with_derived
        self.tenant_id = filters.tenant_id
        self.actor_type = actor_type
        self.actor_id = actor_id
        snapshot = queries.take_snapshot()
        self.generated_at = snapshot.at
        self.extent = choose_extent(filters, snapshot=snapshot.text)
        self.redactions = redactions.find_places(self.extent)
        self.rotations = signing_keys.load_keys().rotations  # read after it: its key is among them
        self.verifier_key = self.extent.end.verifier_key
        self.archive = Archive()
        self.record("pending")

    def __iter__(self) -> Generator[bytes]:
        yield from export.recording_its_end(self.archive.written(self.files()), self.record)

    def files(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        rows = SealedRows(self.tenant_id, self.extent.places)
        for name in ("README.txt", "verify.py", "stamps.py"):
            yield name, iter([(FOLDER / name).read_bytes()])
        yield "keys.json", iter([line({"keys": self.keys(), "rotations": self.rotations})])
        yield "checkpoint.note", iter([self.extent.end.note.encode()])
        yield "newest.note", iter([self.extent.newest.note.encode()])
        yield "checkpoints.jsonl", (line({"note": note}) for note in self.stops())
        yield "anchors.jsonl", (line(stamped.line()) for stamped in self.anchors())
        yield "redactions.jsonl", redactions.render_lines(self.extent, self.redactions)
        yield "ledger.jsonl", rows.lines()
        yield "leaves.bin", rows.leaves() if self.extent.completeness == "proven" else iter(())
        yield "proofs.jsonl", self.proofs()
        with Spool() as artifacts:
            yield "payloads.jsonl", rows.payloads(artifacts)
            yield "artifacts.jsonl", artifacts.chunks()
        yield "policies.jsonl", rows.policies()
        if self.with_derived:
            yield from derived.files(rows, self.manifest())
        yield "manifest.json", iter([line(self.manifest())])

    def proofs(self) -> Iterator[bytes]:
        """One for each row where rows may be missing in between; else the root is over all."""
        if self.extent.completeness == "proven" or not self.extent.places:
            return
        found = Proofs(self.tenant_id, self.extent.end.size).of(self.extent.places)
        for place, proof in zip(self.extent.places, found, strict=True):
            yield line({"place": place, "proof": [node.hex() for node in proof]})

    def stops(self) -> Iterator[str]:
        """Some checkpoints on the way, evenly spread over the rows of a period."""
        if self.extent.completeness != "proven":
            return
        first, size = self.extent.first.size, self.extent.end.size
        step = max(1, (size - first) // STOPS)
        wanted = first + step
        while wanted < size:
            found = self.checkpoints().filter(size__gte=wanted).order_by("size").first()
            if not found or found.size >= size:
                return
            yield found.note
            wanted = found.size + step

    def anchors(self) -> Iterator[Stamped]:
        """Time stamped checkpoints on the way, in a bundle of a whole period."""
        if self.extent.completeness == "proven":
            first, size = self.extent.first.size, self.extent.end.size
            yield from list_stamped(self.tenant_id, above=first, upto=size)

    def keys(self) -> list[str]:
        """The keys of the checkpoints that the bundle may hold."""
        held = self.checkpoints().filter(
            size__gt=self.extent.first.size, size__lte=self.extent.newest.size
        )
        return sorted(set(held.values_list("verifier_key", flat=True).distinct()))

    def checkpoints(self) -> Any:
        return Checkpoint.objects.filter(tenant_id=self.tenant_id)

    def manifest(self) -> dict[str, Any]:
        plain: dict[str, Any] = chain.storable(
            {
                "format": FORMAT,
                "words": WORDS[-1],
                "origin": read_key(self.verifier_key)[0],
                "tenant_id": self.tenant_id,
                "export_id": self.id,
                "generated_at": self.generated_at,
                **self.extent.facts(),
                "counts": self.archive.counts,
                "files": self.archive.digests,
                "derived": [name for name in derived.NAMES if self.with_derived],
            }
        )
        return plain

    def record(self, status: Status, *, error_code: str = "") -> None:
        export.record(
            export_id=self.id,
            tenant_id=self.tenant_id,
            actor_type=self.actor_type,
            actor_id=self.actor_id,
            status=status,
            error_code=error_code,
            manifest=self.manifest(),
        )


def line(value: dict[str, Any]) -> bytes:
    return chain.canonical_bytes(value) + b"\n"
