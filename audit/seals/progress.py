"""How far the ledger is sealed, as people's pages need it."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connections

from audit.ledger.prepared import Prepared
from audit.ledger.routing import LEDGER
from audit.models import Checkpoint

BEHIND_SECONDS = 60

# The tenant is compared as text: there is no index then but that of the order, in which few
# rows wait, and the server keeps one plan for all tenants. Planning many months takes longer
# than looking into them.
STATE = """
WITH last AS (SELECT xact, row_id FROM audit_leaf ORDER BY xact DESC, row_id DESC LIMIT 1)
SELECT json_build_object('size', newest.size, 'signed_at', newest.signed_at, 'waiting_since', (
    SELECT recorded_at FROM audit_action a
    WHERE a.tenant_id::text = wanted.tenant_id::text AND (a.xact, a.id) >
        (coalesce((SELECT xact FROM last), '0'), coalesce((SELECT row_id FROM last), 0))
    ORDER BY a.xact, a.id LIMIT 1
), 'at', clock_timestamp())
FROM (VALUES (%s::uuid)) AS wanted(tenant_id) LEFT JOIN LATERAL (
    SELECT size, signed_at FROM audit_checkpoint
    WHERE tenant_id = wanted.tenant_id ORDER BY size DESC LIMIT 1
) AS newest ON true
"""
load_state = Prepared("audit_sealing", STATE)


OLDEST = """
WITH last AS (SELECT xact, row_id FROM audit_leaf ORDER BY xact DESC, row_id DESC LIMIT 1)
SELECT clock_timestamp() - recorded_at FROM audit_action a
WHERE (a.xact, a.id) >
    (coalesce((SELECT xact FROM last), '0'), coalesce((SELECT row_id FROM last), 0))
ORDER BY a.xact, a.id LIMIT 1
"""


@dataclass(frozen=True, kw_only=True)
class SealProgress:
    """How far one tenant's ledger is sealed. `waiting_since` is when the oldest row that is
    not sealed yet was recorded; all by the database's clock, `at` as well. Once it has waited
    for `stop_after`, nothing is done any more that cannot be taken back."""

    size: int
    signed_at: datetime | None
    waiting_since: datetime | None
    at: datetime
    stop_after: timedelta

    @property
    def waited(self) -> timedelta:
        return self.at - self.waiting_since if self.waiting_since else timedelta()

    @property
    def is_behind(self) -> bool:
        return self.waited.total_seconds() > BEHIND_SECONDS

    @property
    def stops(self) -> str:
        """Why what cannot be taken back must not be done; empty where it may."""
        if self.waiting_since is None or self.waited < self.stop_after:
            return ""
        return (
            f"A record has waited to be sealed for {format_age(self.waiting_since, now=self.at)}."
        )

    @property
    def sentence(self) -> str:
        """The badge of the ledger's pages."""
        if self.is_behind and self.waiting_since:
            until = " Until it is, nothing that cannot be undone is done." if self.stops else ""
            return (
                f"Not sealed since {format_age(self.waiting_since, now=self.at)}: is "
                f"`manage.py seal_ledger` running?{until}"
            )
        if self.signed_at is None:
            return "Nothing is sealed yet."
        return f"Sealed {format_age(self.signed_at, now=self.at)} ago, {self.size:,} records."


def format_age(since: datetime, *, now: datetime) -> str:
    """The time that went by, in the largest unit that fits."""
    seconds = max(0, int((now - since).total_seconds()))
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def load_progress(tenant_id: UUID) -> SealProgress:
    """How far the ledger of this tenant is sealed. One query."""
    found = json.loads(load_state.first(connections[LEDGER], [str(tenant_id)]) or b"")
    return SealProgress(
        size=found["size"] or 0,
        signed_at=parse(found["signed_at"]),
        waiting_since=parse(found["waiting_since"]),
        at=datetime.fromisoformat(found["at"]),
        stop_after=timedelta(minutes=settings.LEDGER_STOP_MINUTES),
    )


def load_oldest_wait() -> timedelta | None:
    """For how long the oldest record of any tenant has waited for its seal."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(OLDEST)
        found = cursor.fetchone()
    return found[0] if found else None


def is_any_behind() -> bool:
    """Whether a record of any tenant has waited for its seal for longer than BEHIND_SECONDS."""
    waited = load_oldest_wait()
    return waited is not None and waited > timedelta(seconds=BEHIND_SECONDS)


def parse(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def find_newest_checkpoint(tenant_id: UUID) -> Checkpoint | None:
    """The newest checkpoint of this tenant."""
    return Checkpoint.objects.filter(tenant_id=tenant_id).order_by("-size").first()
