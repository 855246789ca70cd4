"""Sealing in tests. A transaction elsewhere on the server holds the sealer up, so a tenant is
sealed until all its rows are."""

import base64
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

from django.db import connections
from django.db.models import Exists, OuterRef

from audit.models import ExecutedAgentAction, Leaf
from audit.seals import sealer
from audit.seals.notes import Signer

SEED = b"a signing key for tests, 32 byte"
SIGNER = Signer(SEED)
SIGNING_KEY = base64.b64encode(SEED).decode()
SECONDS = 60.0


def key(tenant_id: UUID) -> str:
    return SIGNER.verifier_key(sealer.origin(tenant_id))


def seal(tenant_id: UUID) -> None:
    """Seal until every row of this tenant has its leaf."""
    sealed = Leaf.objects.filter(row_id=OuterRef("id"))
    waiting = ExecutedAgentAction.objects.filter(~Exists(sealed), tenant_id=tenant_id)
    until(lambda: not waiting.exists(), meanwhile=lambda: sealer.seal(signer=SIGNER))


@contextmanager
def recorded_before(age: timedelta) -> Iterator[None]:
    """Meanwhile the database dates rows as recorded so long ago, as if they had waited."""
    with connections["default"].cursor() as cursor:
        change = "ALTER TABLE audit_action ALTER recorded_at SET DEFAULT clock_timestamp()"
        cursor.execute(f"{change} - make_interval(secs => {age.total_seconds()})")
        try:
            yield
        finally:
            cursor.execute(change)


def pause() -> None:
    time.sleep(0.01)


def until(condition: Callable[[], bool], *, meanwhile: Callable[[], object] = pause) -> None:
    """Ask again and again: whatever else runs on the server may hold the sealer up for a while."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "Something holds the sealer up."
        meanwhile()


def waits_for_legal_holds(tenant_id: UUID) -> bool:
    """Whether somebody waits for the lock of this organisation's legal holds."""
    return waits_for(f"hashtextextended('audit_hold {tenant_id}', 0)")


def waits_for_months() -> bool:
    return waits_for("x'A0D17'::int::bigint")


def waits_for(key: str) -> bool:
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory' "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
            f"AND (classid::bigint << 32 | objid::bigint) = {key})"
        )
        (found,) = cursor.fetchone()
    return bool(found)
