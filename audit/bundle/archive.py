"""A zip file that is written as it is read, so memory stays flat however large it is."""

import hashlib
import zipfile
from collections.abc import Iterable, Iterator

from audit.bundle.verify import PROVEN
from audit.formats.pipe import Pipe

CHUNK = 1 << 16


class Archive:
    """One zip file. `digests` are the SHA-256 of the members written so far, `counts` the
    lines of those that hold lines."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.digests: dict[str, str] = {}

    def written(self, members: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
        """The bytes of the zip file. A member's content is read when its turn has come."""
        pipe = Pipe()
        with zipfile.ZipFile(pipe, "w") as archive:  # stored: packing takes longer than reading
            for name, content in members:
                yield from self.member(archive, name, content, pipe)
        yield pipe.drain()

    def member(
        self, archive: zipfile.ZipFile, name: str, content: Iterable[bytes], pipe: Pipe
    ) -> Iterator[bytes]:
        digest, count = hashlib.sha256(), 0
        is_proven = name in PROVEN
        with archive.open(name, "w", force_zip64=True) as file:
            for data in content:
                if not is_proven:
                    digest.update(data)
                count += data.count(b"\n")
                file.write(data)
                if len(pipe.held) >= CHUNK:
                    yield pipe.drain()
        if not is_proven:
            self.digests[name] = digest.hexdigest()
        if name.endswith(".jsonl"):
            self.counts[name.removesuffix(".jsonl")] = count
