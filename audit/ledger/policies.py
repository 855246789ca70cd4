"""The policies that decided, stored under the digests that rows name, so that every decision can
be decided again from the ledger alone. They may say whom an administrator named in an allowed
action, so they lie under the organisation's data key (audit.ledger.vault) and go with its end."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from django.db import connections

from audit.ledger import vault
from audit.ledger.routing import LEDGER
from audit.models import LedgerPolicy

STORE = """
INSERT INTO audit_policy (tenant_id, digest, box)
SELECT %s, %s, %s
WHERE EXISTS (SELECT FROM audit_data_key WHERE tenant_id = %s AND wrapped IS NOT NULL)
ON CONFLICT (tenant_id, digest) DO NOTHING
"""


# By session, so that one database brought back from a backup is asked again.
_seen: WeakKeyDictionary[Any, set[tuple[UUID, str]]] = WeakKeyDictionary()


class Altered(Exception):
    """What is stored under a digest is not the policy with this digest."""


@dataclass(frozen=True)
class Place:
    """Where one policy of an organisation lies."""

    tenant_id: UUID
    digest: str

    def __bytes__(self) -> bytes:
        return b"policy " + self.tenant_id.bytes + self.digest.encode()


def store(*, tenant_id: UUID, digest: str, body: str) -> None:
    """Store a policy under its digest, if it is not there. `body` is its canonical JSON and
    `digest` the SHA-256 of that, in hex. One query where it is there already.

    What this session of the database has seen there is not asked again: nothing is removed before
    the organisation's end.

    Without a data key, as after the organisation's end, nothing is stored, and
    audit.ledger.ledger.append refuses the row that would name it. Raises ValueError for
    another digest.
    """
    connection = connections[LEDGER]
    connection.ensure_connection()
    seen = _seen.setdefault(connection.connection, set())
    if (tenant_id, digest) in seen:
        return
    if LedgerPolicy.objects.filter(tenant_id=tenant_id, digest=digest).exists():
        if not connection.in_atomic_block:
            seen.add((tenant_id, digest))
        return
    if sha256(body.encode()).hexdigest() != digest:
        raise ValueError("That is not the digest of this policy.")
    try:
        box = vault.encrypt_at(body.encode(), tenant_id=tenant_id, place=Place(tenant_id, digest))
    except (vault.KeyDestroyed, vault.WrongVaultKey):
        return
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(STORE, [tenant_id, digest, box, tenant_id])


def body(*, tenant_id: UUID, digest: str) -> str | None:
    """The policy with this digest, as canonical JSON; None when it is not there.

    Raises Altered, and audit.ledger.vault.WrongVaultKey.
    """
    row = LedgerPolicy.objects.filter(tenant_id=tenant_id, digest=digest).first()
    return opened(tenant_id, digest, row.body, row.box) if row else None


def opened(
    tenant_id: UUID, digest: str, body: str | None, box: bytes | memoryview | None
) -> str | None:
    """The policy that is stored like this; None when the organisation's data key is gone.
    `body` are those from before policies were encrypted. Raises Altered, WrongVaultKey."""
    if box is not None:
        try:
            plain = vault.decrypt_at(
                bytes(box), tenant_id=tenant_id, place=Place(tenant_id, digest)
            )
            body = plain.decode() if plain is not None else None
        except (vault.Unreadable, ValueError) as error:
            raise Altered(digest) from error
    if body is not None and sha256(body.encode()).hexdigest() != digest:
        raise Altered(digest)
    return body
