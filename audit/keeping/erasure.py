"""Erases what rows are about, unless a legal hold forbids it.

An erasure deletes payloads and artifacts, and appends a row (phase `redaction`) that names
the rows and the reason, in the same transaction; the database allows it no other way. Rows
themselves never change, so whatever was sealed or exported before still verifies.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connections, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from psycopg import errors

from audit.contracts import Entry
from audit.ledger import events, ledger, queries, vault
from audit.ledger.ids import uuid7
from audit.ledger.routing import LEDGER
from audit.models import ExecutedAgentAction, LedgerPayload

ACTION_TYPE = "ledger.redaction"
LEGAL_HOLD = "ledger.hold"
BATCH = 1000
SAID_EVERY = 10 * BATCH  # rows; some seconds
REDACT = "SELECT audit_redact(%s, %s, %s)"
LOCK = """
SELECT set_config('idle_in_transaction_session_timeout', '0', true),
       pg_advisory_xact_lock_shared(x'A0D17'::int), pg_advisory_xact_lock(hashtextextended(%s, 0))
"""


class Held(Exception):
    """A legal hold keeps these rows. Nothing was erased by this call."""


class NotPermitted(Exception):
    """The database does not let this process do that. Nothing was done by this call."""


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Which rows of one organisation: of one action, of actions on behalf of one user, or,
    with neither, all."""

    tenant_id: UUID
    action_id: UUID | None = None
    on_behalf_of: str = ""


def select_rows(scope: Scope) -> queries.Rows:
    """The rows of the scope that have something to erase, oldest first. What says that
    something was erased or is under a legal hold stays."""
    payload = LedgerPayload.objects.filter(action_id=OuterRef("action_id"), row_id=OuterRef("id"))
    found: queries.Rows = (
        ExecutedAgentAction.objects.filter(Exists(payload), tenant_id=scope.tenant_id)
        .exclude(phase="redaction")
        .exclude(action_type__in=vault.PLAIN_ACTIONS)
    )
    if scope.action_id:
        found = found.filter(action_id=scope.action_id)
    if scope.on_behalf_of:
        found = found.filter(on_behalf_of=scope.on_behalf_of)
    return found.order_by("action_id", "id")


def ignore_progress(progress: str) -> None:
    """For callers who need no progress."""


def erase(
    scope: Scope,
    *,
    reason: str,
    actor_id: str,
    at_most: int | None = None,
    say: Callable[[str], None] = ignore_progress,
) -> tuple[UUID, int]:
    """Erase the contents of the rows of the scope, a thousand at a time, and no more when
    `at_most` are erased. Returns the action under which that is recorded and how many rows it
    was. `say` is called with the progress.

    Raises Held when a legal hold keeps one of them, and NotPermitted. A crash in between leaves
    a part erased, each part with its record; calling again goes on.
    """
    action_id, erased = uuid7(), 0
    for ids in iterate_batches(scope):
        redact(
            ids,
            tenant_id=scope.tenant_id,
            action_id=action_id,
            reason=reason,
            actor_id=actor_id,
        )
        erased += len(ids)
        if at_most and erased >= at_most:
            break
        if erased % SAID_EVERY == 0:
            say(f"{erased:,} rows' contents erased so far")
    return action_id, erased


def iterate_batches(scope: Scope) -> Iterator[list[int]]:
    """The ids of the rows that have something to erase, while it is being erased. Goes on behind
    the last one, and begins once more at its end: a late outcome belongs to an early action."""
    found = first = select_rows(scope)
    while True:
        page = list(found.values_list("action_id", "id")[:BATCH])
        if page:
            yield [row_id for _, row_id in page]
            action_id, row_id = page[-1]
            behind = first.filter(action_id__gte=action_id)
            found = behind.exclude(action_id=action_id, id__lte=row_id)
        elif found is first:
            return
        else:
            found = first


def redact(ids: list[int], **said: Any) -> None:
    with unless_held() as cursor:
        cursor.execute(REDACT, build_redaction(ids, **said))


@contextmanager
def unless_held() -> Iterator[Any]:
    """A cursor in a transaction of its own. Raises Held or NotPermitted where the database
    refuses because of a legal hold or of this process's role; nothing happened then."""
    try:
        with transaction.atomic(using=LEDGER), connections[LEDGER].cursor() as cursor:
            yield cursor
    except DatabaseError as error:
        sentence = str(error).splitlines()[0]
        if not isinstance(error.__cause__, errors.InsufficientPrivilege):
            raise
        if "legal hold" in sentence:
            raise Held(sentence) from error
        if "permission denied" in sentence:
            raise NotPermitted(
                f"This process's database role may not do that ({sentence}). Use the command, "
                "under a role that may: docs/ledger.md, Separate database roles."
            ) from error
        raise


def build_redaction(
    ids: list[int], *, tenant_id: UUID, action_id: UUID, reason: str, actor_id: str
) -> tuple[str, bytes, str]:
    """What REDACT is given: the row that names these rows, and its payload."""
    entry = Entry(
        tenant_id=tenant_id,
        action_id=action_id,
        phase="redaction",
        status="recorded",
        action_type=ACTION_TYPE,
        occurred_at=timezone.now(),
        actor_type="admin",
        actor_id=actor_id,
        trigger="operator",
        payload={"rows": ids, "reason": reason},
    )
    return ledger.in_the_clear(entry)


def set_legal_hold(*, tenant_id: UUID, on_behalf_of: str, reason: str, actor_id: str) -> UUID:
    """Keep everything of an organisation, or of one user in it, from erasure until the
    legal hold is released. Returns its id. What is being erased, and an organisation that is about
    to end, is waited for.

    Raises audit.ledger.ledger.Ended when it has ended, and other LedgerErrors."""
    with no_erasure_meanwhile(tenant_id):
        return events.record(
            LEGAL_HOLD,
            tenant_id=tenant_id,
            status="pending",
            on_behalf_of=on_behalf_of,
            actor_type="admin",
            actor_id=actor_id,
            payload={"reason": reason},
        )


@contextmanager
def no_erasure_meanwhile(tenant_id: UUID) -> Iterator[None]:
    """The database takes the first lock when it drops months, and the second one when it erases
    contents or destroys the organisation's key: so it sees a legal hold, or the legal hold comes
    later."""
    # In a transaction of a connection of its own: the ledger is appended to outside of one, and
    # behind a pooler no lock lasts longer.
    with closing(connections[LEDGER].copy()) as apart:
        apart.set_autocommit(False)
        with apart.cursor() as cursor:
            cursor.execute(LOCK, [f"audit_hold {tenant_id}"])
        yield
        with suppress(DatabaseError):  # where the connection broke off, the server did it
            apart.rollback()


def list_legal_holds(tenant_id: UUID) -> list[ExecutedAgentAction]:
    """The legal holds of this organisation that are in force, oldest first."""
    released = ExecutedAgentAction.objects.filter(
        action_id=OuterRef("action_id"), status="succeeded"
    )
    found = ExecutedAgentAction.objects.filter(
        ~Exists(released), tenant_id=tenant_id, action_type=LEGAL_HOLD, status="pending"
    )
    return list(found.order_by("action_id"))


def release_legal_hold(legal_hold_id: UUID, *, tenant_id: UUID, reason: str, actor_id: str) -> bool:
    """End a legal hold. False when this organisation has no such one in force."""
    if legal_hold_id not in [found.action_id for found in list_legal_holds(tenant_id)]:
        return False
    events.record(
        LEGAL_HOLD,
        tenant_id=tenant_id,
        action_id=legal_hold_id,
        status="succeeded",
        actor_type="admin",
        actor_id=actor_id,
        payload={"reason": reason},
    )
    return True
