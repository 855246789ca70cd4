"""Payloads under lock: each organisation's are encrypted with a data key of its own.

AES-256-GCM. The data key is random and stored wrapped (AES key wrap, RFC 3394) in
`audit_data_key`; what wraps it is derived from the setting LEDGER_VAULT_KEY, for each
organisation another. Destroying the data key makes every copy of the payloads unreadable,
those in backups too. Commitments are over salt and plain body, so proofs need no key.

An encrypted payload is bound to its row: put under another one it does not open. The policies
that decided lie under the same lock, each bound to its digest.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import SupportsBytes
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.keywrap import (
    InvalidUnwrap,
    aes_key_unwrap,
    aes_key_wrap,
)
from django.conf import settings
from django.db import connections

from audit.ledger.chain import SALT_BYTES
from audit.ledger.routing import LEDGER

KEY_BYTES = 32
NONCE_BYTES = 12
WRAPPING = b"remit ledger data key 1\0"
# The database itself reads or keeps these rows' payloads, also when the data key is gone.
# They hold ids, counts and the reason given, and can't be erased.
PLAIN_PHASE = "redaction"
PLAIN_ACTIONS = (
    *("ledger.hold", "ledger.end", "ledger.retention", "ledger.rewrap"),
    "ledger.clock",
)
NOT_ITS_OWN = "The content is not the one that was stored here."

MAKE = """
INSERT INTO audit_data_key (tenant_id, wrapped) VALUES (%s, %s) ON CONFLICT DO NOTHING
"""
NEWEST = """
SELECT tenant_id, wrapped FROM audit_data_key WHERE wrapped IS NOT NULL
ORDER BY made_at DESC LIMIT 1
"""
READ = "SELECT wrapped FROM audit_data_key WHERE tenant_id = %s"
# `bytes(Place)` of the row `a`, as SQL: for who reads many payloads at once.
PLACE = (
    "uuid_send(a.tenant_id) || uuid_send(a.action_id) || "
    "convert_to(concat_ws(' ', a.attempt_no, a.phase, a.payload_commitment), 'UTF8')"
)


class Unreadable(Exception):
    """The payload does not open: it is not the one that was stored with its row."""


class WrongVaultKey(Exception):
    """A data key does not open with LEDGER_VAULT_KEY: it was wrapped with another one."""


class KeyDestroyed(Exception):
    """The organisation's data key was destroyed: nothing can be stored for it any more."""


@dataclass(frozen=True)
class Place:
    """The row that a payload belongs to."""

    tenant_id: UUID
    action_id: UUID
    attempt_no: int
    phase: str
    payload_commitment: str

    def __bytes__(self) -> bytes:
        rest = f"{self.attempt_no} {self.phase} {self.payload_commitment}"
        return self.tenant_id.bytes + self.action_id.bytes + rest.encode()


class DataKeys:
    """The organisations' data keys, cached for `seconds` each so that a destroyed one is not
    used for long. Threads share them."""

    def __init__(
        self, *, seconds: float = 60.0, size: int = 1024, clock: Callable[[], float] = monotonic
    ) -> None:
        self.seconds, self.size, self.clock = seconds, size, clock
        self.cached: dict[UUID, tuple[AESGCM | None, float]] = {}

    def for_reading(self, tenant_id: UUID) -> AESGCM | None:
        """None when the organisation's key is destroyed or missing."""
        found = self.cached.get(tenant_id)
        if found and found[1] > self.clock():
            return found[0]
        return self.cache(tenant_id, load_wrapped(tenant_id))

    def for_writing(self, tenant_id: UUID) -> AESGCM:
        """The organisation's key; made with its first row. Raises KeyDestroyed."""
        found = self.cached.get(tenant_id)
        if found and found[0] and found[1] > self.clock():
            return found[0]
        key = self.cache(tenant_id, load_wrapped(tenant_id) or make_key(tenant_id))
        if key is None:
            raise KeyDestroyed(
                f"The ledger of the organisation {tenant_id} has ended: its data key was "
                "destroyed, and nothing can be recorded for it."
            )
        return key

    def cache(self, tenant_id: UUID, wrapped: bytes | None) -> AESGCM | None:
        key = unwrap(tenant_id, wrapped) if wrapped else None
        if len(self.cached) >= self.size:
            self.cached.clear()  # each is read again when it is needed
        self.cached[tenant_id] = key, self.clock() + self.seconds
        return key

    def forget(self, tenant_id: UUID) -> None:
        self.cached.pop(tenant_id, None)


keys = DataKeys()


def load_wrapped(tenant_id: UUID) -> bytes | None:
    """The wrapped data key; None when it is destroyed or was never made."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(READ, [tenant_id])
        row = cursor.fetchone()
    return bytes(row[0]) if row and row[0] is not None else None


def make_key(tenant_id: UUID) -> bytes | None:
    """The data key of an organisation that had none; None when it had one that is destroyed.
    Of two processes that make one at once the first counts."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(MAKE, [tenant_id, wrap(tenant_id, secrets.token_bytes(KEY_BYTES))])
    return load_wrapped(tenant_id)


def try_key() -> None:
    """Raises WrongVaultKey when the newest data key does not open."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(NEWEST)
        row = cursor.fetchone()
    if row:
        unwrap(row[0], bytes(row[1]))


def wrap(tenant_id: UUID, key: bytes) -> bytes:
    """Raises WrongVaultKey in a process that was given no key: nobody's secret would wrap it."""
    secret = settings.LEDGER_VAULT_KEY or settings.LEDGER_KEY
    if not secret:
        raise WrongVaultKey(
            f"This process ({settings.PROCESS}) has neither LEDGER_VAULT_KEY nor LEDGER_KEY, so it "
            "can record nothing. Give it the key of the other programs, or set REMIT_PROCESS to "
            "one that has it."
        )
    return aes_key_wrap(wrapping_key(tenant_id, secret), key)


def unwrap(tenant_id: UUID, wrapped: bytes) -> AESGCM:
    return AESGCM(unwrap_raw(tenant_id, wrapped)[0])


def unwrap_raw(tenant_id: UUID, wrapped: bytes) -> tuple[bytes, bool]:
    """The data key, and whether the present vault key opens it rather than the one before.
    Raises WrongVaultKey when neither does."""
    present = settings.LEDGER_VAULT_KEY or settings.LEDGER_KEY
    for secret in filter(None, (present, settings.LEDGER_VAULT_KEY_BEFORE)):
        try:
            return aes_key_unwrap(wrapping_key(tenant_id, secret), wrapped), secret == present
        except InvalidUnwrap:
            continue
    raise WrongVaultKey(
        f"The data key of the organisation {tenant_id} does not open: LEDGER_VAULT_KEY (or "
        "LEDGER_KEY, where that is not set) is another one than when it was made. Set that one, "
        "or set it as LEDGER_VAULT_KEY_BEFORE and run: manage.py rewrap_data_keys"
    )


def wrapping_key(tenant_id: UUID, secret: str) -> bytes:
    about = WRAPPING + tenant_id.bytes
    hkdf = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=about)
    return hkdf.derive(secret.encode())


def is_plain(*, phase: str, action_type: str) -> bool:
    """Whether payloads of such rows are stored as they are."""
    return phase == PLAIN_PHASE or action_type in PLAIN_ACTIONS


def encrypt(salt: bytes, body: bytes, *, place: Place) -> bytes:
    """The box with a payload's salt and body. Raises KeyDestroyed, WrongVaultKey."""
    return encrypt_at(salt + body, tenant_id=place.tenant_id, place=place)


def decrypt(box: bytes, *, place: Place) -> tuple[bytes, str] | None:
    """Salt and body of a payload; None when the organisation's key is destroyed or missing.

    Raises Unreadable for what was not stored with this row, and WrongVaultKey.
    """
    plain = decrypt_at(box, tenant_id=place.tenant_id, place=place)
    if plain is None:
        return None
    try:
        return plain[:SALT_BYTES], plain[SALT_BYTES:].decode()
    except ValueError as error:
        raise Unreadable(NOT_ITS_OWN) from error


def encrypt_at(plain: bytes, *, tenant_id: UUID, place: SupportsBytes) -> bytes:
    """The box that opens at this place alone. Raises KeyDestroyed, WrongVaultKey."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + keys.for_writing(tenant_id).encrypt(nonce, plain, bytes(place))


def decrypt_at(box: bytes, *, tenant_id: UUID, place: SupportsBytes) -> bytes | None:
    """What is in the box; None when the organisation's key is destroyed or missing. Raises
    Unreadable for one that was not stored at this place, and WrongVaultKey."""
    key = keys.for_reading(tenant_id)
    return None if key is None else open_with(key, box, bytes(place))


def open_with(key: AESGCM, box: bytes, place: bytes) -> bytes:
    """What is in the box. Raises Unreadable for one that was not stored at this place."""
    try:
        return key.decrypt(box[:NONCE_BYTES], box[NONCE_BYTES:], place)
    except (InvalidTag, ValueError) as error:
        raise Unreadable(NOT_ITS_OWN) from error
