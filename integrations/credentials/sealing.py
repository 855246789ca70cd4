"""A secret sealed to a public key and bound to one account (HPKE, RFC 9180).

Who has the public key alone, such as the web process, can seal and not open. A sealed secret that
is copied to another account's row does not open there.
"""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)
KEY_BYTES = 32


class BadKey(ValueError):
    """What should be a key is none."""


class CannotOpen(ValueError):
    """No key at hand opens it, or it was sealed for another account."""


@dataclass(frozen=True, kw_only=True)
class Sealed:
    """`key_id` names the public key, so that what waits for another key is found."""

    key_id: str
    data: bytes


def public_key(text: str) -> X25519PublicKey:
    """From base64, as settings hold it. Raises BadKey."""
    return X25519PublicKey.from_public_bytes(_key_bytes(text))


def private_key(text: str) -> X25519PrivateKey:
    """From base64, as settings hold it. Raises BadKey."""
    return X25519PrivateKey.from_private_bytes(_key_bytes(text))


def to_text(key: X25519PublicKey) -> str:
    return base64.b64encode(_raw(key)).decode()


def key_id(key: X25519PublicKey) -> str:
    return hashlib.sha256(_raw(key)).hexdigest()[:16]


def seal(secret: str, *, account_id: UUID, key: X25519PublicKey) -> Sealed:
    data = SUITE.encrypt(secret.encode(), key, _purpose(account_id))
    return Sealed(key_id=key_id(key), data=data)


def unseal(sealed: Sealed, *, account_id: UUID, keys: list[X25519PrivateKey]) -> str:
    """The secret. `keys` may hold those from before a change. Raises CannotOpen."""
    for key in keys:
        if key_id(key.public_key()) == sealed.key_id:
            try:
                return SUITE.decrypt(sealed.data, key, _purpose(account_id)).decode()
            except (InvalidTag, ValueError) as error:
                raise CannotOpen("it was sealed for another account, or changed") from error
    raise CannotOpen("this process has no key for it")


def _purpose(account_id: UUID) -> bytes:
    return b"remit credential of account " + str(account_id).encode()


def _raw(key: X25519PublicKey) -> bytes:
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def _key_bytes(text: str) -> bytes:
    try:
        found = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadKey("Give the key as base64.") from error
    if len(found) != KEY_BYTES:
        raise BadKey(f"A key has {KEY_BYTES} bytes.")
    return found
