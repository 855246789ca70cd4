"""How far the ledger is sealed, as people's pages need it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connections

from audit.models import Checkpoint
from audit.routing import LEDGER

BEHIND_SECONDS = 60

STATE = """
WITH last AS (SELECT xact, row_id FROM audit_leaf ORDER BY xact DESC, row_id DESC LIMIT 1)
SELECT newest.size, newest.signed_at, (
    SELECT recorded_at FROM audit_action a
    WHERE a.tenant_id = wanted.tenant_id AND (a.xact, a.id) >
        (coalesce((SELECT xact FROM last), '0'), coalesce((SELECT row_id FROM last), 0))
    ORDER BY a.xact, a.id LIMIT 1
), clock_timestamp()
FROM (VALUES (%s::uuid)) AS wanted(tenant_id) LEFT JOIN LATERAL (
    SELECT size, signed_at FROM audit_checkpoint
    WHERE tenant_id = wanted.tenant_id ORDER BY size DESC LIMIT 1
) AS newest ON true
"""


@dataclass(frozen=True, kw_only=True)
class Sealing:
    """How far one tenant's ledger is sealed. `waiting_since` is when the oldest row that is
    not sealed yet was recorded; all by the database's clock, `at` as well."""

    size: int
    signed_at: datetime | None
    waiting_since: datetime | None
    at: datetime

    @property
    def is_behind(self) -> bool:
        waits = self.waiting_since
        return waits is not None and (self.at - waits).total_seconds() > BEHIND_SECONDS

    @property
    def sentence(self) -> str:
        """The badge of the ledger's pages."""
        if self.is_behind and self.waiting_since:
            return (
                f"Not sealed since {since(self.waiting_since, now=self.at)}: is "
                "`manage.py seal_ledger` running?"
            )
        if self.signed_at is None:
            return "Nothing is sealed yet."
        return f"Sealed {since(self.signed_at, now=self.at)} ago, {self.size:,} records."


def since(moment: datetime, *, now: datetime) -> str:
    """The time that went by, in the largest unit that fits."""
    seconds = max(0, int((now - moment).total_seconds()))
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def sealing(tenant_id: UUID) -> Sealing:
    """How far the ledger of this tenant is sealed."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(STATE, [tenant_id])
        size, signed_at, waiting_since, at = cursor.fetchone()
    return Sealing(size=size or 0, signed_at=signed_at, waiting_since=waiting_since, at=at)


def newest(tenant_id: UUID) -> Checkpoint | None:
    """The newest checkpoint of this tenant."""
    return Checkpoint.objects.filter(tenant_id=tenant_id).order_by("-size").first()
