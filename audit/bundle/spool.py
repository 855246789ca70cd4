"""What comes later in a bundle, on disk until its turn has come."""

from collections.abc import Iterator
from tempfile import TemporaryFile

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12


class Spool:
    """Chunks of bytes, given back in their order. `with Spool() as spool:` removes them at its
    end. They lie on disk under a key that nobody else has and that is gone with them: what is
    erased from the ledger later must not be found in a freed block. Raises OSError."""

    def __init__(self) -> None:
        self.key = AESGCM(AESGCM.generate_key(256))
        self.sizes: list[int] = []

    def __enter__(self) -> "Spool":
        self.file = TemporaryFile()
        return self

    def __exit__(self, *failure: object) -> None:
        self.file.close()

    def put(self, chunk: bytes) -> None:
        if chunk:
            box = self.key.encrypt(nonce(len(self.sizes)), chunk, None)
            self.file.write(box)
            self.sizes.append(len(box))

    def chunks(self) -> Iterator[bytes]:
        self.file.seek(0)
        for number, size in enumerate(self.sizes):
            yield self.key.decrypt(nonce(number), self.file.read(size), None)


def nonce(number: int) -> bytes:
    return number.to_bytes(NONCE_BYTES, "big")
