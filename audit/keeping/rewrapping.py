"""A new vault key: every organisation's data key is wrapped anew. The data keys themselves, and
with them all contents, stay as they are."""

from uuid import UUID

from django.db import connections

from audit.keeping import erasure
from audit.ledger import events, ledger, vault
from audit.ledger.routing import LEDGER

ACTION_TYPE = "ledger.rewrap"
WRAPPED = "SELECT tenant_id, wrapped FROM audit_data_key WHERE wrapped IS NOT NULL ORDER BY 1"
REWRAP = "SELECT audit_rewrap(%s, %s, %s, %s, %s)"


def waiting() -> list[tuple[UUID, bytes]]:
    """The wrapped data keys that the present vault key does not open, by organisation.

    Raises audit.ledger.vault.WrongVaultKey for one that the key before does not open either.
    """
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(WRAPPED)
        found = [(tenant_id, bytes(wrapped)) for tenant_id, wrapped in cursor.fetchall()]
    return [one for one in found if not vault.unwrap_raw(*one)[1]]


def rewrap(tenant_id: UUID, wrapped: bytes, *, actor_id: str) -> None:
    """Wrap this data key under the present vault key and record it, or neither.

    Raises audit.ledger.vault.WrongVaultKey, audit.keeping.erasure.NotPermitted; DatabaseError
    where the key was changed or destroyed meanwhile.
    """
    key, _ = vault.unwrap_raw(tenant_id, wrapped)
    entry = events.build_entry(
        ACTION_TYPE,
        tenant_id=tenant_id,
        status="succeeded",
        actor_type="admin",
        actor_id=actor_id,
        payload={},
    )
    anew = vault.wrap(tenant_id, key)
    with erasure.unless_held() as cursor:
        cursor.execute(REWRAP, [*ledger.in_the_clear(entry), wrapped, anew])
        # A key that could not be opened again would be every content of the organisation lost.
        if vault.unwrap_raw(tenant_id, vault.load_wrapped(tenant_id) or b"") != (key, True):
            raise vault.WrongVaultKey("The data key does not open again. Nothing was changed.")
