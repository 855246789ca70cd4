"""Months of long ago, and bundles of a ledger from which some of them left."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
from django.db import connections
from django.utils import timezone

from audit.database import guards
from audit.keeping import retention
from audit.ledger import ids, ledger
from audit.ledger.months import Month
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.databases import url
from tests.audit.entries import DRAFT, append_action, entry

OLDEST, OLD, KEPT = (Month(date(2020, month, 1)) for month in (1, 2, 3))
PARTS = ("audit_artifact", "audit_payload", "audit_action")


@contextmanager
def old_months() -> Iterator[None]:
    """These three are there. What is left of them at the end is cleared away by their owner."""
    name = connections["default"].settings_dict["NAME"]
    with psycopg.connect(url(name), autocommit=True) as session:
        for month in (OLDEST, OLD, KEPT):
            session.execute("SELECT audit_make_month(%s)", [month.first])
        try:
            yield
        finally:
            clear(session)


def clear(session: psycopg.Connection[tuple[Any, ...]]) -> None:
    for part in PARTS:
        for month in (OLDEST, OLD, KEPT):
            session.execute(f"DROP TABLE IF EXISTS {part}_{month.suffix}")
    with session.transaction():
        session.execute("ALTER TABLE audit_leaf DISABLE TRIGGER USER")
        session.execute(
            "DELETE FROM audit_leaf WHERE action_id < audit_month_floor(%s)",
            [KEPT.following.first],
        )
        for name in guards.KINDS:
            session.execute(f"ALTER TABLE audit_leaf ENABLE ALWAYS TRIGGER audit_leaf_{name}")


def settle() -> UUID:
    """An organisation with actions of the three months and one of today, all sealed."""
    tenant_id = uuid4()
    for month in (OLDEST, OLD, OLD, KEPT):
        append_of(month, tenant_id)
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    return tenant_id


def append_of(month: Month, tenant_id: UUID, **changes: object) -> UUID:
    at = datetime(month.first.year, month.first.month, 5, tzinfo=UTC)
    action_id = ids.assemble(int(at.timestamp() * 1000), ids.uuid7().int & (2**74 - 1))
    attempt = entry(tenant_id=tenant_id, action_id=action_id, **changes)
    ledger.append(attempt)
    ledger.append(replace(attempt, phase="outcome", status="succeeded", artifacts=(DRAFT,)))
    return action_id


def cut(before: Month = KEPT) -> retention.Plan:
    """Two people let the months before this one leave."""
    now = timezone.now()
    made = retention.propose(
        retention.plan(before, now=now), reason="two years are over", actor_id="operator:olga"
    )
    return retention.confirm(made, actor_id="operator:omar", now=timezone.now())


def example() -> tuple[UUID, bytes]:
    """A bundle of an organisation of which three of five actions left."""
    with old_months():
        tenant_id = settle()
        cut()
        sealed.seal(tenant_id)
        return tenant_id, bundles.make(tenant_id)


def doctored(data: bytes) -> Iterator[bundles.Files]:
    """One where a row more is passed off as having left, one where the record of what left is
    missing, and one where that says another place."""
    files = bundles.unpack(data)
    lines = files["ledger.jsonl"].splitlines(keepends=True)
    leaf = hashlib.sha256(b"\0" + lines[6].strip()).hexdigest()
    lines[6] = f'{{"left":"{leaf}"}}\n'.encode()
    yield mended(files, "ledger.jsonl", lines)
    for record in ("drop", "change"):
        files = bundles.unpack(data)
        payloads = files["payloads.jsonl"].splitlines(keepends=True)
        at = next(number for number, line in enumerate(payloads) if b"proposed_by" in line)
        payloads[at] = payloads[at].replace(b"[[0,5]]", b"[[0,9]]") if record == "change" else b""
        yield mended(files, "payloads.jsonl", payloads)


def mended(files: bundles.Files, name: str, lines: list[bytes]) -> bundles.Files:
    files[name] = b"".join(lines)
    bundles.mend(files)
    return files
