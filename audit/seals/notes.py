"""Checkpoints as signed notes (c2sp.org/signed-note and c2sp.org/tlog-checkpoint), Ed25519.

Pure: no Django, no clock. A note says “the ledger of this tenant has this many rows and this
root”, and is signed. The name of the key is the ledger's origin, so that a note of one
tenant is never taken for another's.
"""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from datetime import datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from audit.ledger.chain import timestamp

ED25519 = b"\x01"
DASH = "\u2014"


class NotANote(ValueError):
    """The text is no checkpoint that this key signed. The message says why."""


@dataclass(frozen=True, kw_only=True)
class Tree:
    """What a checkpoint is about."""

    origin: str
    size: int
    root: bytes

    @property
    def name(self) -> str:
        """That of the keys that sign it."""
        return self.origin

    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


@dataclass(frozen=True, kw_only=True)
class Rotation:
    """That the key `new` signs after the key `old`, from `at` on. `name` is `rotations_name`.

    Both keys sign it, as in The Update Framework: the old one vouches for the new one, whose
    holder shows that they have it.
    """

    name: str
    old: bytes
    new: bytes
    at: datetime

    def text(self) -> str:
        old, new = (base64.b64encode(public).decode() for public in (self.old, self.new))
        return f"{self.name}\n{old}\n{new}\n{timestamp(self.at)}\n"


class Signer:
    """Signs checkpoints. `seed` is the 32 bytes of an Ed25519 private key."""

    def __init__(self, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self._key.public_key().public_bytes_raw()

    def verifier_key(self, origin: str) -> str:
        """The public key in the form `origin+id+base64`, for people who verify."""
        encoded = base64.b64encode(ED25519 + self.public).decode()
        return f"{origin}+{key_id(origin, self.public).hex()}+{encoded}"

    def sign(self, said: Tree | Rotation) -> str:
        return f"{said.text()}\n{self.signature(said)}"

    def signature(self, said: Tree | Rotation) -> str:
        """The line that this key adds to a note."""
        signed = key_id(said.name, self.public) + self._key.sign(said.text().encode())
        return f"{DASH} {said.name} {base64.b64encode(signed).decode()}\n"


def signers(encoded: str) -> tuple[Signer, ...]:
    """Those of LEDGER_SIGNING_KEY: the key in use and, during a rotation, the other one behind
    a comma. Raises ValueError with a sentence."""
    try:
        seeds = [base64.b64decode(one.strip(), validate=True) for one in encoded.split(",")]
    except binascii.Error:
        seeds = [b""]
    if any(len(seed) != 32 for seed in seeds) or len(seeds) > 2:
        raise ValueError(
            "LEDGER_SIGNING_KEY must be the base64 of 32 random bytes; two of them, with a comma "
            "between, while the key is changed. Make one with: openssl rand -base64 32"
        )
    return tuple(map(Signer, seeds))


def rotations_name(ledger: str) -> str:
    """The name under which the keys of the ledger with this origin sign rotations. No tenant
    has it, so a rotation is never taken for a checkpoint."""
    return f"{ledger}/keys"


def key_id(name: str, public: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + ED25519 + public).digest()[:4]


def read(note: str, *, verifier_key: str) -> Tree:
    """What `note` says, if the key signed it. Raises NotANote."""
    name, public = read_key(verifier_key)
    text, blank, signatures = note.partition("\n\n")
    lines = text.split("\n")
    if not blank or len(lines) != 3:
        raise NotANote("This is not a checkpoint: it has other lines than origin, size and root.")
    prefix = f"{DASH} {name} "
    for line in signatures.splitlines():
        if line.startswith(prefix) and verified(line.removeprefix(prefix), text, name, public):
            break
    else:
        raise NotANote("The checkpoint is not signed by this key.")
    origin, size, root = lines
    if origin != name:
        raise NotANote("The checkpoint is of another ledger than its key.")
    return Tree(origin=origin, size=int(size), root=base64.b64decode(root))


def read_rotation(note: str, *, name: str) -> Rotation:
    """What `note` says, if both of its keys signed it. Raises NotANote."""
    text, _, signatures = note.partition("\n\n")
    lines = [line.split(" ") for line in signatures.splitlines()]
    try:
        said, *keys, at = text.split("\n")
        old, new = (base64.b64decode(key, validate=True) for key in keys)
        rotation = Rotation(name=said, old=old, new=new, at=datetime.fromisoformat(at))
        signed = [signature for dash, signer, signature in lines if (dash, signer) == (DASH, name)]
    except ValueError as error:
        raise NotANote("This is not a rotation of the ledger's key.") from error
    for public in (old, new):
        if said != name or not any(verified(one, text, name, public) for one in signed):
            raise NotANote("The rotation is not signed by both of its keys.")
    return rotation


def verified(signature: str, text: str, name: str, public: bytes) -> bool:
    try:
        signed = base64.b64decode(signature, validate=True)
        Ed25519PublicKey.from_public_bytes(public).verify(signed[4:], f"{text}\n".encode())
    except (ValueError, InvalidSignature):
        return False
    return signed[:4] == key_id(name, public)


def read_key(verifier_key: str) -> tuple[str, bytes]:
    """The name and the 32 bytes of a verifier key. Raises NotANote."""
    name, _, rest = verifier_key.strip().partition("+")
    identifier, _, encoded = rest.partition("+")
    try:
        public = base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise NotANote("This is not a key: its last part is not base64.") from error
    if len(public) != 33 or public[:1] != ED25519:
        raise NotANote("This is not a key of the form origin+id+base64 with Ed25519.")
    if identifier != key_id(name, public[1:]).hex():
        raise NotANote("The key's id does not fit the key: it was not copied completely.")
    return name, public[1:]
