"""Retention: whole months of the ledger leave, oldest first, for all organisations at once.

One person proposes, another confirms. A row of each organisation says which places of its
tree left (`ledger.retention`), in the transaction that drops the months; the database allows
it no other way. Leaves and checkpoints stay, so what is left still verifies.
"""

import json
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import DatabaseError, OperationalError, connections
from psycopg import errors

from audit.contracts import LEDGER_TENANT, Entry
from audit.keeping import erasure
from audit.ledger import chain, events, ids, ledger, months, queries, selectors
from audit.ledger.departures import RETENTION
from audit.ledger.months import Month
from audit.ledger.routing import LEDGER
from audit.models import ExecutedAgentAction

ACTION_TYPE = RETENTION
BUSY = "The ledger is being read or written too much just now. Try again."
DAYS = 31  # a month must have ended this long ago; the database holds us to it
VALID = timedelta(days=7)
DROP = "SELECT audit_drop_months(%s, %s)"
# What leaves of each organisation, with the ranges of everything that will have left by then.
PARTS = """
WITH leaving AS (
    SELECT tenant_id, count(*) AS rows, min(leaf_index) AS first, max(leaf_index) AS last
    FROM audit_leaf WHERE action_id >= audit_month_floor(%s) AND action_id < audit_month_floor(%s)
    GROUP BY tenant_id
)
SELECT g.tenant_id, g.rows, g.first, g.last, encode(f.hash, 'hex'), encode(l.hash, 'hex'),
       c.size, encode(c.root, 'hex'), p.places::text
FROM leaving g
JOIN audit_leaf f ON f.tenant_id = g.tenant_id AND f.leaf_index = g.first
JOIN audit_leaf l ON l.tenant_id = g.tenant_id AND l.leaf_index = g.last
JOIN audit_left(%s) p ON p.tenant_id = g.tenant_id
JOIN LATERAL (SELECT size, root FROM audit_checkpoint WHERE tenant_id = g.tenant_id
              ORDER BY size DESC LIMIT 1) c ON true
ORDER BY g.tenant_id
"""
UNDER_LEGAL_HOLD = """
SELECT EXISTS (
    SELECT FROM audit_action h
    WHERE h.action_type = 'ledger.hold' AND h.status = 'pending'
      AND NOT EXISTS (SELECT FROM audit_action r
                      WHERE r.action_id = h.action_id AND r.status = 'succeeded')
      AND EXISTS (SELECT FROM audit_action a
                  WHERE a.tenant_id = h.tenant_id AND h.on_behalf_of IN ('', a.on_behalf_of)
                    AND a.action_id >= audit_month_floor(%s)
                    AND a.action_id < audit_month_floor(%s)))
"""


class CannotDrop(Exception):
    """These months cannot leave now. The message says why and what to do."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """What leaves of one organisation: how many rows, the first and the last place of them in
    its tree with their leaves, and the tree as it is sealed now. `places` are the ranges of
    all places that will have left, those of earlier months too."""

    tenant_id: UUID
    rows: int
    first_place: int
    last_place: int
    first_leaf: str
    last_leaf: str
    size: int
    root: str
    places: list[list[int]]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The months before `before` that would leave. `held` is the first one that a legal hold
    keeps, and with it all later ones."""

    months: tuple[Month, ...]
    parts: tuple[Part, ...]
    held: Month | None

    @property
    def before(self) -> Month:
        return self.months[-1].following

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def digest(self) -> str:
        """Of what leaves. Checkpoints that are signed meanwhile don't change it."""
        named = [
            (part.tenant_id, part.rows, part.first_leaf, part.last_leaf, part.places)
            for part in self.parts
        ]
        whole = chain.storable([list(map(str, self.months)), named])
        return chain.payload_commitment(b"", chain.canonical_bytes(whole))

    @property
    def sentence(self) -> str:
        stays = f" A legal hold keeps {self.held} and what follows." if self.held else ""
        if not self.months:
            return f"No month leaves.{stays}"
        named = f"{self.months[0]}" + (f" to {self.months[-1]}" if len(self.months) > 1 else "")
        return (
            f"These months leave: {named}. Rows: {self.rows}, organisations: "
            f"{len(self.parts)}.{stays}"
        )


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """Months that somebody wants to leave, until another person confirms it."""

    id: UUID
    before: Month
    reason: str
    digest: str
    actor_id: str
    at: datetime


def find_oldest_to_keep(keep: int, *, now: datetime) -> Month:
    """The month before which all leave, if `keep` whole months stay beside this one."""
    this = Month.of(now)
    number = this.first.year * 12 + this.first.month - 1 - keep
    return Month(this.first.replace(year=number // 12, month=number % 12 + 1))


def plan(before: Month, *, now: datetime) -> Plan:
    """What would leave if every month before this one did. Nothing is changed.

    Raises CannotDrop for a month that has not ended 31 days ago.
    """
    if before.first > now.date() - timedelta(days=DAYS):
        raise CannotDrop(f"The months before {before} have not all ended {DAYS} days ago.")
    leaving: list[Month] = []
    held = None
    with connections[LEDGER].cursor() as cursor:
        for month in (one for one in months.list_months() if one < before):
            cursor.execute(UNDER_LEGAL_HOLD, [month.first, month.following.first])
            if cursor.fetchone()[0]:
                held = month
                break
            leaving.append(month)
        parts = []
        if leaving:
            end = leaving[-1].following.first
            cursor.execute(PARTS, [leaving[0].first, end, end])
            names = tuple(Part.__dataclass_fields__)
            for row in cursor.fetchall():
                values = dict(zip(names, row, strict=True))
                parts.append(Part(**values | {"places": json.loads(values["places"])}))
    return Plan(months=tuple(leaving), parts=tuple(parts), held=held)


def propose(found: Plan, *, reason: str, actor_id: str) -> UUID:
    """Record that somebody wants these months to leave; returns the proposal's id."""
    if not found.months:
        raise CannotDrop(found.sentence)
    return events.record(
        ACTION_TYPE,
        tenant_id=LEDGER_TENANT,
        status="waiting",
        actor_type="admin",
        actor_id=actor_id,
        payload={
            "before": str(found.before),
            "months": list(map(str, found.months)),
            "rows": found.rows,
            "digest": found.digest,
            "reason": reason,
        },
    )


def list_proposals(*, now: datetime) -> list[Proposal]:
    """Those of the last seven days that nobody confirmed, newest first."""
    waiting = ExecutedAgentAction.objects.filter(
        tenant_id=LEDGER_TENANT, action_type=ACTION_TYPE, action_id__gte=ids.floor(now - VALID)
    )
    done = set(waiting.filter(status="succeeded").values_list("action_id", flat=True))
    found = []
    for row in queries.join_payload(waiting.filter(status="waiting")).order_by("-id"):
        content = selectors.body(row)
        if row.action_id in done or content is None:
            continue
        said = content["payload"]
        found.append(
            Proposal(
                id=row.action_id,
                before=Month.parse(said["before"]),
                reason=said["reason"],
                digest=said["digest"],
                actor_id=row.actor_id,
                at=row.recorded_at,
            )
        )
    return found


def confirm(proposal_id: UUID, *, actor_id: str, now: datetime) -> Plan:
    """Let the months of a proposal leave; returns what left.

    Raises CannotDrop, when the same person proposed it or when something else would leave by
    now, and audit.keeping.erasure.Held for a legal hold that was set meanwhile. Nothing left then.
    """
    proposal = next((one for one in list_proposals(now=now) if one.id == proposal_id), None)
    if proposal is None:
        raise CannotDrop("There is no such proposal, it is over seven days old, or it is done.")
    if name_person(actor_id) == name_person(proposal.actor_id):
        raise CannotDrop("Another person than the one who proposed it must confirm it.")
    found = plan(proposal.before, now=now)
    if found.digest != proposal.digest:
        raise CannotDrop("What would leave has changed meanwhile. Look at it and propose it again.")
    drop(found, proposal, actor_id=actor_id)
    events.record(
        ACTION_TYPE,
        tenant_id=LEDGER_TENANT,
        action_id=proposal.id,
        status="succeeded",
        actor_type="admin",
        actor_id=actor_id,
        payload={"months": list(map(str, found.months)), "rows": found.rows},
    )
    return found


def name_person(actor_id: str) -> str:
    """Who somebody is, wherever they work: `operator:olga` and `command:olga` are one."""
    return actor_id.partition(":")[2].strip().casefold()


def drop(found: Plan, proposal: Proposal, *, actor_id: str) -> None:
    entries = [build_entry(part, found, proposal, actor_id=actor_id) for part in found.parts]
    named = [
        {"row": json.loads(row), "salt": salt.hex(), "body": body}
        for row, salt, body in map(ledger.in_the_clear, entries)
    ]
    try:
        with erasure.unless_held() as cursor:
            cursor.execute(DROP, [found.before.first, json.dumps(named)])
    except OperationalError as error:
        raise CannotDrop(BUSY) from error
    except DatabaseError as error:
        if isinstance(error.__cause__, errors.RaiseException):
            raise CannotDrop(str(error).splitlines()[0]) from error
        raise


def build_entry(part: Part, found: Plan, proposal: Proposal, *, actor_id: str) -> Entry:
    said: dict[str, Any] = asdict(part)
    said.pop("tenant_id")
    return events.build_entry(
        ACTION_TYPE,
        tenant_id=part.tenant_id,
        status="succeeded",
        actor_type="admin",
        actor_id=actor_id,
        parent_action_id=proposal.id,
        payload=said
        | {
            "before": str(found.before),
            "months": list(map(str, found.months)),
            "reason": proposal.reason,
            "proposed_by": proposal.actor_id,
        },
    )
