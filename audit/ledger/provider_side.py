"""What the ledger says that was done at a provider, to be held against the provider's word."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import cast
from uuid import UUID

from django.db import connections
from django.db.models import Q, QuerySet

from audit.contracts import Attempted, Recorded, Status
from audit.ledger import chain, ids, queries
from audit.ledger.keys import tenant_key
from audit.ledger.routing import LEDGER
from audit.ledger.selectors import values
from audit.models import ActionArtifact, ExecutedAgentAction

# A person may confirm an action long after it was asked for; its id is as old as the question.
ASKED_BEFORE = timedelta(days=31)
# One step of the index for each organisation, however many rows it has.
TENANTS = """
WITH RECURSIVE found(id) AS (
    (SELECT tenant_id FROM audit_action ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT (SELECT tenant_id FROM audit_action WHERE tenant_id > found.id
            ORDER BY tenant_id LIMIT 1)
    FROM found WHERE found.id IS NOT NULL
) SELECT id FROM found WHERE id IS NOT NULL
"""
EXECUTED = Q(phase__in=("attempt", "outcome")) | Q(phase="control", target_row__isnull=False)


def digest(tenant_id: UUID, provider_id: str) -> str:
    """The keyed digest under which rows of this tenant keep a provider's id."""
    return chain.keyed(tenant_key(tenant_id), chain.visible(provider_id))


def list_tenants() -> list[UUID]:
    """Every organisation of the ledger."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(TENANTS)
        return [tenant_id for (tenant_id,) in cursor.fetchall()]


def list_since(*, tenant_id: UUID, account_id: UUID, since: datetime) -> tuple[Attempted, ...]:
    """The account's actions that went to the provider since then, oldest first."""
    rows = ExecutedAgentAction.objects.filter(
        EXECUTED,
        tenant_id=tenant_id,
        account_id=account_id,
        action_id__gte=ids.floor(since - ASKED_BEFORE),
    )
    return tuple(one for one in _group(rows) if one.began_at >= since)


def list_attempted(*, tenant_id: UUID, action_ids: Collection[UUID]) -> tuple[Attempted, ...]:
    """Those of these actions that went to a provider, whenever that was."""
    wanted = sorted(action_ids)
    found: list[Attempted] = []
    for start in range(0, len(wanted), 1000):
        rows = ExecutedAgentAction.objects.filter(
            EXECUTED, tenant_id=tenant_id, action_id__in=wanted[start : start + 1000]
        )
        found += _group(rows)
    return tuple(found)


def find_creators(*, tenant_id: UUID, external_ids: Sequence[str]) -> dict[str, set[UUID]]:
    """The actions that created each of these things, where the ledger knows."""
    found: dict[str, set[UUID]] = {}
    # The table holds keyed digests; the ids themselves in rows from before ids were keyed.
    meant = {one: one for one in external_ids}
    meant |= {digest(tenant_id, one): one for one in external_ids}
    rows = ActionArtifact.objects.filter(tenant_id=tenant_id, external_id__in=list(meant))
    for external_id, action_id in rows.values_list("external_id", "action_id"):
        found.setdefault(meant[external_id], set()).add(action_id)
    return found


def attempts_on(
    *, tenant_id: UUID, account_id: UUID, object_id: str, limit: int
) -> tuple[Recorded, ...]:
    """What this account tried to do to an object, and what created it: the attempts and their
    outcomes, newest first, `limit` rows at most. Two queries."""
    created = find_creators(tenant_id=tenant_id, external_ids=[object_id])
    about = Q(resource_key=digest(tenant_id, object_id))
    about |= Q(action_id__in=created.get(object_id, set()))
    rows = queries.select_with_payload().filter(
        about, tenant_id=tenant_id, account_id=account_id, phase__in=("attempt", "outcome")
    )
    return values(rows.order_by("-id")[:limit])


def _group(rows: QuerySet[ExecutedAgentAction]) -> Iterator[Attempted]:
    in_order = rows.order_by("action_id", "id").iterator()
    for _, group in groupby(in_order, key=lambda row: row.action_id):
        phases: list[ExecutedAgentAction] = list(group)
        attempts = [row for row in phases if row.phase == "attempt"]
        if attempts:
            yield _summarise(attempts, phases)


def _summarise(attempts: list[ExecutedAgentAction], phases: list[ExecutedAgentAction]) -> Attempted:
    """An attempt without an outcome is pending; one outcome that says so makes it succeeded."""
    outcomes = [row for row in phases if row.phase == "outcome"]
    is_open = {row.attempt_no for row in attempts} - {row.attempt_no for row in outcomes}
    succeeded = [row for row in outcomes if row.status == "succeeded"]
    said = succeeded[-1] if succeeded else attempts[-1] if is_open else outcomes[-1]
    return Attempted(
        action_id=said.action_id,
        account_id=said.account_id,
        action_type=said.action_type,
        idempotency_key=said.idempotency_key,
        resource_key=said.resource_key,
        status=cast(Status, said.status),
        row_id=said.id,
        began_at=attempts[0].recorded_at,
        is_resolved=any(row.target_row == said.id for row in phases),
    )
