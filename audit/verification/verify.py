"""Verifications that were done, remembered in the ledger itself with what they found."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import DatabaseError

from audit.contracts import LEDGER_TENANT, LedgerError
from audit.database import guards
from audit.keeping.end import has_ended
from audit.ledger import departures, events
from audit.ledger.departures import Left
from audit.ledger.selectors import about_ledger
from audit.seals.progress import format_age
from audit.verification import seals
from audit.verification.rows import Finding, Verification

ACTION_TYPE = "ledger.verification"
STORED = 50

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Verified:
    """One verification of one tenant. `is_recorded` is false where the ledger could not be
    written."""

    tenant_id: UUID
    rows: int
    actions: int
    findings: tuple[Finding, ...]
    open_attempts: tuple[tuple[int, UUID, datetime], ...]
    left: Left | None  # by retention: no finding
    is_recorded: bool


@dataclass(frozen=True, kw_only=True)
class LastVerification:
    """What pages say about the last one."""

    sentence: str
    is_sound: bool


def verify(
    tenant_ids: Iterable[UUID] | None = None, *, since: datetime | None = None
) -> Iterator[Verified]:
    """Verify these tenants one after the other, all of them without a choice, and record each
    result. A tenant without rows or findings is left out."""
    if tenant_ids is None:
        tenant_ids = seals.list_tenants() if guards.are_installed() else []
    for tenant_id in tenant_ids:
        verification = Verification(tenant_id=tenant_id, since=since)
        findings = tuple(verification)
        if verification.rows or findings:
            yield Verified(
                tenant_id=tenant_id,
                rows=verification.rows,
                actions=verification.actions,
                findings=findings,
                open_attempts=tuple(verification.open_attempts),
                left=departures.find_left(tenant_id),
                is_recorded=record(verification, findings),
            )


def record(verification: Verification, findings: tuple[Finding, ...]) -> bool:
    """Write the result down. A ledger that is broken, or a role that may only read, does not
    keep anybody from hearing it."""
    if verification.tenant_id is None:
        return False
    try:
        events.record(
            ACTION_TYPE,
            tenant_id=verification.tenant_id,
            after_end=True,
            status="failed" if findings else "recorded",
            error_code="not_as_appended" if findings else "",
            payload={
                "sentence": describe(verification.rows, len(findings)),
                "since": verification.since,
                "rows": verification.rows,
                "actions": verification.actions,
                "open_attempts": len(verification.open_attempts),
                "findings": len(findings),
                "first_findings": [str(finding) for finding in findings[:STORED]],
            },
        )
    except (LedgerError, DatabaseError) as error:
        log.error("ledger.verification_not_recorded: %s", error)
        return False
    return True


def describe(rows: int, findings: int) -> str:
    if findings:
        return f"{findings:,} of {rows:,} records are not as they were appended."
    return f"{rows:,} records are as they were appended."


def find_last(tenant_id: UUID, *, now: datetime) -> LastVerification:
    """The last verification of this tenant, for the badge of the ledger's pages."""
    found = about_ledger(tenant_id, ACTION_TYPE, limit=1)
    if has_ended(tenant_id):
        name = str(tenant_id)
        found = about_ledger(LEDGER_TENANT, ACTION_TYPE, resource_id=name, limit=1) or found
    if not found:
        return LastVerification(sentence="It was never verified.", is_sound=True)
    row = found[0]
    said = f"Last verified {format_age(row.recorded_at, now=now)} ago"
    if row.status != "recorded":
        return LastVerification(
            sentence=f"{said}: it does NOT verify. {row.payload.get('sentence', '')}",
            is_sound=False,
        )
    back = str(row.payload.get("since") or "")[:10]
    span = f", back to {back}" if back else ""
    rows = row.payload.get("rows")
    counted = f": {rows:,} records{span}" if isinstance(rows, int) else ""
    return LastVerification(sentence=f"{said}{counted}, as they were appended.", is_sound=True)
