"""Reads of the ledger, as values."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connections
from django.db.models import Count, Exists, OuterRef, Q

from audit.contracts import LEDGER_TENANT, ActionPage, ActionState, Artifact, Filters, Recorded
from audit.ledger import chain, ids, queries, vault
from audit.ledger.keys import tenant_key
from audit.ledger.routing import LEDGER
from audit.models import ExecutedAgentAction

# Fields of Recorded that are columns of the same name.
COLUMNS = tuple(
    name
    for name in Recorded.__dataclass_fields__
    if name not in ("resource_id", "target_id", "payload", "artifacts")
)
LOCKED = (
    "What it is about cannot be opened with the key that this installation has now "
    "(LEDGER_VAULT_KEY)."
)
ALTERED = "What it is about is not what was stored with it. Run manage.py verify_ledger."
END = "ledger.end"  # the last row of an organisation that recorded anything
ERASED: dict[str, Any] = {"artifacts": [], "payload": {}, "resource_id": "", "target_id": ""}


def recorded(action_id: UUID) -> tuple[Recorded, ...]:
    """Every phase of an action, oldest first; empty for an action the ledger does not know, as
    most are that come to be done."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute("SELECT FROM audit_action WHERE action_id = %s LIMIT 1", [action_id])
        if not cursor.rowcount:
            return ()
    return values(queries.select_with_payload().filter(action_id=action_id).order_by("id"))


def recorded_as_far(action_id: UUID) -> tuple[tuple[Recorded, ...], str]:
    """As `recorded`, without contents that do not open, and why they don't: see `readable`."""
    rows = queries.select_with_payload().filter(action_id=action_id).order_by("id")
    return readable(rows)


def recorded_of_tenant(action_id: UUID, *, filters: Filters) -> tuple[Recorded, ...]:
    """As `recorded`, but empty when the action does not match `filters`."""
    rows = queries.select_matching(filters).filter(action_id=action_id)
    return recorded(action_id) if rows.exists() else ()


def open_attempts(
    *,
    older_than: datetime,
    newer_than: datetime | None = None,
    after: UUID | None = None,
    limit: int = 100,
) -> tuple[Recorded, ...]:
    """Attempts recorded before `older_than` that have no outcome, oldest action first; those
    of actions behind `after`, so that a page of them can follow another. None of organisations
    whose ledger has ended: no outcome can be recorded there.

    The cost grows with the attempts looked at: `newer_than` leaves out actions asked for
    earlier, which a run that looks often needs.
    """
    outcome = ExecutedAgentAction.objects.filter(
        action_id=OuterRef("action_id"), attempt_no=OuterRef("attempt_no"), phase="outcome"
    )
    ended = queries.keep_about_ledger(queries.select_phases()).filter(
        tenant_id=OuterRef("tenant_id"), action_type=END, status="succeeded"
    )
    rows = queries.select_with_payload().filter(
        ~Exists(outcome), ~Exists(ended), phase="attempt", recorded_at__lt=older_than
    )
    if newer_than:
        rows = rows.filter(action_id__gte=ids.floor(newer_than))
    if after:
        rows = rows.filter(action_id__gt=after)
    return values(rows.order_by("action_id", "id")[:limit])


def under_way(*, since: datetime, among: int = 2000) -> tuple[Recorded, ...]:
    """Attempts recorded since then that have no outcome yet, looked for among the newest
    `among` rows, so that the cost stays flat."""
    outcome = ExecutedAgentAction.objects.filter(
        action_id=OuterRef("action_id"), attempt_no=OuterRef("attempt_no"), phase="outcome"
    )
    last = ExecutedAgentAction.objects.order_by("-id").values_list("id", flat=True).first() or 0
    rows = queries.select_with_payload().filter(
        ~Exists(outcome), phase="attempt", id__gt=last - among, recorded_at__gte=since
    )
    return values(rows.order_by("id"))


def decisions(
    *,
    tenant_id: UUID,
    account_id: UUID | None = None,
    triggers: Sequence[str] = (),
    limit: int,
) -> tuple[Recorded, ...]:
    """The first phase of each of the tenant's (or account's) last `limit` actions that were
    decided, newest action first; of those that one of `triggers` set off, if any is named."""
    decided = Q(phase__in=("attempt", "blocked")) | Q(phase="control", status="waiting")
    earlier = ExecutedAgentAction.objects.filter(
        decided, action_id=OuterRef("action_id"), id__lt=OuterRef("id")
    )
    rows = queries.select_with_payload().filter(decided, ~Exists(earlier), tenant_id=tenant_id)
    if account_id:
        rows = rows.filter(account_id=account_id)
    if triggers:
        rows = rows.filter(trigger__in=triggers)
    return values(rows.order_by("-action_id")[:limit])


def actions(*, filters: Filters, limit: int = 50, before: UUID | None = None) -> ActionPage:
    """One page of the actions that match, each by its latest phase, newest action first."""
    rows = queries.join_payload(queries.select_matching(filters)).order_by("-action_id")
    if before:
        rows = rows.filter(action_id__lt=before)
    found = values(rows[: limit + 1])
    page = found[:limit]
    return ActionPage(rows=page, before=page[-1].action_id if len(found) > limit else None)


def actions_of_run(*, tenant_id: UUID, run_id: str) -> tuple[Recorded, ...]:
    """The actions of one run (a turn), each by its latest phase, oldest action first."""
    rows = queries.select_matching(Filters(tenant_id=tenant_id, run_id=run_id))
    return values(queries.join_payload(rows).order_by("action_id"))


def states_of_runs(*, tenant_id: UUID, run_ids: Iterable[str]) -> tuple[ActionState, ...]:
    """How the actions of several runs stand now, oldest action first, without their contents."""
    rows = queries.select_latest(queries.select_phases())
    rows = rows.filter(tenant_id=tenant_id, run_id__in=list(run_ids)).order_by("action_id")
    names = tuple(ActionState.__dataclass_fields__)
    return tuple(ActionState(**row) for row in rows.values(*names))


def states_of_actions(*, tenant_id: UUID, action_ids: Collection[UUID]) -> dict[UUID, ActionState]:
    """How these actions of the tenant stand now, without their contents. No query for none."""
    if not action_ids:
        return {}
    rows = queries.select_latest(queries.select_phases())
    rows = rows.filter(tenant_id=tenant_id, action_id__in=action_ids)
    names = tuple(ActionState.__dataclass_fields__)
    return {row["action_id"]: ActionState(**row) for row in rows.values(*names)}


def count_by_status(*, tenant_id: UUID, since: datetime, newest: int) -> Counter[str]:
    """How many actions asked for since then are in which state now, of the `newest` so many:
    what is older is not read. Exports, changes of policy and other rows that only remark are not
    counted."""
    rows = queries.select_matching(Filters(tenant_id=tenant_id, since=since))
    rows = rows.exclude(status="recorded").order_by("-action_id", "-id")
    return Counter(rows.values_list("status", flat=True)[:newest])


def count_recent(*, since: datetime) -> dict[str, int]:
    """As `count_by_status`, of all tenants together: for metrics, which name nobody."""
    rows = queries.select_between(
        queries.select_latest(queries.select_phases()), since=since, until=None
    )
    rows = rows.exclude(status="recorded").order_by()
    return dict(rows.values_list("status").annotate(number=Count("id")).order_by("status"))


def about_ledger(
    tenant_id: UUID,
    *action_types: str,
    resource_id: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int = 100,
) -> tuple[Recorded, ...]:
    """Rows about the ledger itself (`ledger.…`) of these types, newest action first, by an
    index that holds nothing else; those about one resource, if it is named. Raises ValueError for
    a type of other rows, of which it would find none."""
    if others := [one for one in action_types if not one.startswith("ledger.")]:
        raise ValueError(f"Rows of the type {others[0]} are not about the ledger: see `actions`.")
    rows = queries.keep_about_ledger(queries.select_with_payload())
    rows = rows.filter(tenant_id=tenant_id, action_type__in=action_types)
    if resource_id:
        rows = rows.filter(resource_key=chain.keyed(tenant_key(tenant_id), resource_id))
    rows = queries.select_between(rows, since=since, until=until)
    return values(rows.order_by("-action_id", "-id")[:limit])


def only_tenant() -> UUID | None:
    """The one organisation of the ledger; None when it has none or several."""
    rows = ExecutedAgentAction.objects.exclude(tenant_id=LEDGER_TENANT).values_list(
        "tenant_id", flat=True
    )
    first, last = rows.order_by("tenant_id").first(), rows.order_by("-tenant_id").first()
    return first if first == last else None


def values(rows: Iterable[ExecutedAgentAction]) -> tuple[Recorded, ...]:
    return tuple(value(row) for row in rows)


def readable(rows: Iterable[ExecutedAgentAction]) -> tuple[tuple[Recorded, ...], str]:
    """As `values`, for pages that must come up whatever does not open: without contents that
    don't, and why, in a sentence. Empty: all that was not erased opens."""
    found = list(open_each(rows))
    why = next((why for _, _, why in found if why), "")
    return tuple(_value(row, content) for row, content, _ in found), why


def open_each(
    rows: Iterable[ExecutedAgentAction],
) -> Iterator[tuple[ExecutedAgentAction, dict[str, Any] | None, str]]:
    """Each row, what its payload holds as far as it opens, and why it doesn't. The key of an
    organisation that does not open is tried once."""
    locked = set[UUID]()
    for row in rows:
        content, why = None, LOCKED if row.tenant_id in locked else ""
        try:
            content = None if why else body(row)
        except vault.WrongVaultKey:
            locked.add(row.tenant_id)
            why = LOCKED
        except vault.Unreadable:
            why = ALTERED
        yield row, content, why


def value(row: ExecutedAgentAction) -> Recorded:
    return _value(row, body(row))


def _value(row: ExecutedAgentAction, content: dict[str, Any] | None) -> Recorded:
    content = content or ERASED
    return Recorded(
        **{name: getattr(row, name) for name in COLUMNS},
        resource_id=content["resource_id"],
        target_id=content["target_id"],
        payload=content["payload"],
        artifacts=tuple(Artifact(**artifact) for artifact in content["artifacts"]),
    )


def body(row: ExecutedAgentAction) -> dict[str, Any] | None:
    """What the payload of `row` holds; None when it was erased."""
    plain = opened(row)
    if plain is None:
        return None
    content: dict[str, Any] = json.loads(plain[1])
    return content


def opened(row: ExecutedAgentAction) -> tuple[bytes, str] | None:
    """Salt and body of the payload of `row`; None when it was erased, by itself or with the
    organisation's key. Raises audit.ledger.vault.Unreadable for one that is not this row's."""
    if row.content is None:
        return None
    salt, body, box = row.content.salt, row.content.body, row.content.box
    if salt is not None and body is not None:
        return bytes(salt), body
    place = vault.Place(
        row.tenant_id, row.action_id, row.attempt_no, row.phase, row.payload_commitment
    )
    return vault.decrypt(bytes(box or b""), place=place)
