"""Checkpoints as signed notes (c2sp.org/signed-note and c2sp.org/tlog-checkpoint), Ed25519.

Pure: no Django, no clock. A note says “the ledger of this tenant has this many rows and this
root”, and is signed. The name of the key is the ledger's origin, so that a note of one
tenant is never taken for another's.
"""

import base64
import binascii
import hashlib
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

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

    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


class Signer:
    """Signs checkpoints. `seed` is the 32 bytes of an Ed25519 private key."""

    def __init__(self, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self._key.public_key().public_bytes_raw()

    def verifier_key(self, origin: str) -> str:
        """The public key in the form `origin+id+base64`, for people who verify."""
        encoded = base64.b64encode(ED25519 + self.public).decode()
        return f"{origin}+{key_id(origin, self.public).hex()}+{encoded}"

    def sign(self, tree: Tree) -> str:
        text = tree.text()
        signed = key_id(tree.origin, self.public) + self._key.sign(text.encode())
        return f"{text}\n{DASH} {tree.origin} {base64.b64encode(signed).decode()}\n"


def signer(encoded: str) -> Signer:
    """The signer of LEDGER_SIGNING_KEY. Raises ValueError with a sentence."""
    try:
        seed = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        seed = b""
    if len(seed) != 32:
        raise ValueError(
            "LEDGER_SIGNING_KEY must be the base64 of 32 random bytes. Make one with: "
            "openssl rand -base64 32"
        )
    return Signer(seed)


def key_id(name: str, public: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + ED25519 + public).digest()[:4]


def read(note: str, *, verifier_key: str) -> Tree:
    """What `note` says, if the key signed it. Raises NotANote."""
    name, public = read_key(verifier_key)
    text, blank, signatures = note.partition("\n\n")
    lines = text.split("\n")
    if not blank or len(lines) != 3:
        raise NotANote("This is no checkpoint: it has other lines than origin, size and root.")
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


def verified(signature: str, text: str, name: str, public: bytes) -> bool:
    try:
        signed = base64.b64decode(signature, validate=True)
        Ed25519PublicKey.from_public_bytes(public).verify(signed[4:], f"{text}\n".encode())
    except (binascii.Error, InvalidSignature):
        return False
    return signed[:4] == key_id(name, public)


def read_key(verifier_key: str) -> tuple[str, bytes]:
    """The name and the 32 bytes of a verifier key. Raises NotANote."""
    name, _, rest = verifier_key.strip().partition("+")
    identifier, _, encoded = rest.partition("+")
    try:
        public = base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise NotANote("This is no key: its last part is no base64.") from error
    if len(public) != 33 or public[:1] != ED25519:
        raise NotANote("This is no key of the kind origin+id+base64 with Ed25519.")
    if identifier != key_id(name, public[1:]).hex():
        raise NotANote("The key's id does not fit the key: it was not copied whole.")
    return name, public[1:]
