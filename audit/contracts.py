"""Values that cross the edge of `audit`: what is appended to the ledger and what is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

Phase = Literal["attempt", "outcome", "blocked", "control", "redaction"]
Status = Literal[
    "pending", "succeeded", "noop", "failed", "blocked", "waiting", "denied", "unknown", "recorded"
]
ActorType = Literal["agent", "user", "admin", "recovery", "maintenance", "system"]
Verdict = Literal["allowed", "blocked", "approved", "none"]
JSON = Mapping[str, Any]
# Rows about the ledger itself, of no organisation, are of this tenant.
LEDGER_TENANT = UUID(int=0)
# More than an append takes: the clocks of worker and database disagree.
CLOCKS_APART = timedelta(seconds=2)


class LedgerError(Exception):
    """The entry was not appended by this call. What needs a ledger row must not go on."""


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """One thing an action created at the provider (draft, message, issue, event)."""

    kind: str
    provider: str
    external_id: str
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One phase of one action, to be appended. Nothing appended ever changes.

    Ids of other apps' rows are text or uuid, never as foreign keys: the ledger
    outlives what it names. Free text, names, addresses and plain provider ids go into
    `payload`, the only part that can be erased later; the rest is codes and ids.
    `resource_id` and `target_id` are stored as a keyed digest, plain only in the payload.
    `occurred_at` is the worker's clock (UTC); the database adds its own.
    """

    tenant_id: UUID
    action_id: UUID  # version 7: its time orders actions and chooses the partition
    phase: Phase
    status: Status
    action_type: str
    occurred_at: datetime
    attempt_no: int = 1
    # who
    account_id: UUID | None = None
    actor_type: ActorType = "agent"
    actor_id: str = ""
    on_behalf_of: str = ""
    credential_ref: str = ""
    agent_id: str = ""
    agent_version: str = ""
    model_id: str = ""
    skill_ref: str = ""
    pattern_id: str = ""
    # thread
    trigger: str = ""  # chat, webhook, pattern, operator, system
    run_id: str = ""
    trace_id: str = ""
    parent_action_id: UUID | None = None
    # what
    provider: str = ""
    resource_type: str = ""
    resource_id: str = ""
    target_id: str = ""
    target_group_id: str = ""
    # right
    decision: Verdict = "none"
    decision_reason: str = ""
    policy_digest: str = ""
    approval_id: str = ""
    approved_by: str = ""
    # result
    idempotency_key: str = ""
    error_code: str = ""
    provider_request_id: str = ""
    latency_ms: int | None = None
    target_row: int | None = None
    payload: JSON = field(default_factory=dict)
    artifacts: tuple[Artifact, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ActionState:
    """How far one action of a run is, by its latest phase."""

    action_id: UUID
    run_id: str
    action_type: str
    status: Status
    decision_reason: str


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """One stored phase, as the executor and people's pages need it.

    `recorded_at` is the database's clock, `occurred_at` the worker's. `payload` and
    `artifacts` are empty when the payload was erased.
    """

    id: int
    tenant_id: UUID
    action_id: UUID
    phase: Phase
    attempt_no: int
    status: Status
    action_type: str
    account_id: UUID | None
    actor_type: ActorType
    actor_id: str
    on_behalf_of: str
    agent_id: str
    agent_version: str
    model_id: str
    skill_ref: str
    pattern_id: str
    trigger: str
    run_id: str
    parent_action_id: UUID | None
    provider: str
    resource_type: str
    decision: Verdict
    decision_reason: str
    policy_digest: str
    approval_id: str
    approved_by: str
    idempotency_key: str
    error_code: str
    latency_ms: int | None
    target_row: int | None
    occurred_at: datetime
    recorded_at: datetime
    resource_id: str
    target_id: str
    payload: JSON
    artifacts: tuple[Artifact, ...]
    credential_ref: str = ""
    provider_request_id: str = ""

    @property
    def clocks_apart(self) -> timedelta | None:
        """By how much the worker's clock was behind the database's (negative: ahead of it),
        if that is more than CLOCKS_APART."""
        behind = self.recorded_at - self.occurred_at
        return behind if abs(behind) > CLOCKS_APART else None


@dataclass(frozen=True, kw_only=True)
class Attempted:
    """One action that went to a provider, and what the ledger says became of it: `status` is
    that of the row `row_id`. `is_resolved` says that a later row tells more about it."""

    action_id: UUID
    account_id: UUID | None
    action_type: str
    idempotency_key: str
    resource_key: str
    status: Status
    row_id: int
    began_at: datetime
    is_resolved: bool


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Which actions of one tenant. `status` and the rest are those of the action's latest
    phase; `since` (inclusive) and `until` (exclusive) are about when the action was asked
    for, which its id tells; `clocks_apart` is about any phase. Empty fields filter nothing."""

    tenant_id: UUID
    account_id: UUID | None = None
    action_type: str = ""
    status: str = ""
    run_id: str = ""
    on_behalf_of: frozenset[str] = frozenset()
    clocks_apart: bool = False
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_period(self) -> bool:
        """Whether they choose by time alone, if at all."""
        return self == Filters(tenant_id=self.tenant_id, since=self.since, until=self.until)

    def chosen(self) -> dict[str, Any]:
        """What is filtered by, as plain values; empty where everything is wanted."""
        plain = {name: value for name, value in vars(self).items() if value}
        del plain["tenant_id"]
        if self.on_behalf_of:
            plain["on_behalf_of"] = sorted(self.on_behalf_of)
        return plain


@dataclass(frozen=True, kw_only=True)
class ActionPage:
    """Actions by their latest phase, newest action first. `before` continues below it."""

    rows: tuple[Recorded, ...]
    before: UUID | None
