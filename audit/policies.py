"""The policies that decided, kept under the digests that rows name, so that every decision can
be decided again from the ledger alone."""

from uuid import UUID

from django.db import connections

from audit.models import LedgerPolicy
from audit.routing import LEDGER

KEEP = """
INSERT INTO audit_policy (tenant_id, digest, body) VALUES (%s, %s, %s)
ON CONFLICT (tenant_id, digest) DO NOTHING
"""


def keep(*, tenant_id: UUID, digest: str, body: str) -> None:
    """Store a policy under its digest, if it is not there. `body` is its canonical JSON and
    `digest` the SHA-256 of that, in hex; the database refuses any other. One query where it
    is there already."""
    if LedgerPolicy.objects.filter(tenant_id=tenant_id, digest=digest).exists():
        return
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(KEEP, [tenant_id, digest, body])


def body(*, tenant_id: UUID, digest: str) -> str | None:
    """The policy with this digest, as canonical JSON; None when it is not kept."""
    rows = LedgerPolicy.objects.filter(tenant_id=tenant_id, digest=digest)
    found: str | None = rows.values_list("body", flat=True).first()
    return found
