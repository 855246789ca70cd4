"""What a reconciliation found, as rows of the ledger, and read back from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from audit.contracts import Entry
from audit.ledger.ids import uuid7
from audit.ledger.selectors import about_ledger, recorded
from guardrails.comply.reconciliation.compare import (
    Comparison,
    Disagreement,
    Resolution,
)
from guardrails.execute import outcomes
from guardrails.execute.settling import INCIDENT
from guardrails.facts import reasons
from integrations.contracts import AccountRef

SUMMARY = "ledger.reconciliation"
STEP = "ledger.reconciliation_step"
MAX_ROWS = 500


@dataclass(frozen=True, kw_only=True)
class AccountResult:
    """One account: compared, or why it could not be."""

    account: AccountRef
    comparison: Comparison | None
    new_incidents: tuple[Disagreement, ...] = ()
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Reconciliation:
    """How far a run over an organisation came. `totals` are those of all accounts so far, `noted`
    the accounts that could not be compared or disagree, `results` only those of this call.
    `after` is the last account's user, source and id; None when all were compared. `action_id`
    names its rows in the ledger."""

    action_id: UUID
    since: datetime
    began_at: datetime
    totals: Mapping[str, int] = field(default_factory=dict)
    noted: tuple[Mapping[str, Any], ...] = ()
    after: tuple[str, str, str] | None = None
    results: tuple[AccountResult, ...] = ()

    @property
    def incidents(self) -> int:
        return self.totals.get("incidents", 0)

    @property
    def sentence(self) -> str:
        """The run in one line."""
        totals, accounts = self.totals, self.totals["accounts"]
        compared = accounts - totals["not_compared"]
        found = (
            f"{totals['incidents']} where provider and ledger disagree"
            if totals["incidents"]
            else "provider and ledger agree"
        )
        line = f"{compared} of {accounts} accounts compared"
        return f"{line}, {totals['effects']} effects: {found}." if compared else f"{line}."

    def behind(self, results: tuple[AccountResult, ...], *, is_last: bool) -> "Reconciliation":
        """The run after these further accounts."""
        account = results[-1].account if results else None
        further = [noted(one) for one in results if one.problem or _incidents(one)]
        return replace(
            self,
            totals=_totals(results, self.totals),
            noted=(*self.noted, *further)[:MAX_ROWS],
            after=None
            if is_last or account is None
            else (account.external_user_id, account.source, str(account.id)),
            results=results,
        )


def unfinished(organisation_id: UUID) -> Reconciliation | None:
    """The newest run, where it broke off before its last account."""
    rows = about_ledger(organisation_id, SUMMARY, STEP, limit=1)
    if not rows or rows[0].action_type == SUMMARY:
        return None
    totals = rows[0].payload
    user, source, account_id = totals["after"]
    return Reconciliation(
        action_id=rows[0].action_id,
        since=datetime.fromisoformat(totals["since"]),
        began_at=datetime.fromisoformat(totals["began_at"]),
        totals=totals["totals"],
        noted=tuple(totals["accounts"]),
        after=(user, source, account_id),
    )


def entry(organisation_id: UUID, run: Reconciliation, *, now: datetime) -> Entry:
    """The run's end, or how far it came."""
    return Entry(
        tenant_id=organisation_id,
        action_id=run.action_id,
        phase="control",
        status="recorded",
        action_type=STEP if run.after else SUMMARY,
        occurred_at=now,
        actor_type="system",
        trigger="system",
        payload={
            "sentence": run.sentence,
            "since": run.since,
            "began_at": run.began_at,
            "totals": dict(run.totals),
            "accounts": [dict(one) for one in run.noted],
            "after": run.after,
        },
    )


def incident(account: AccountRef, found: Disagreement, *, now: datetime) -> Entry:
    change, action = found.change, found.action
    return Entry(
        tenant_id=account.organisation_id,
        action_id=uuid7(),
        phase="control",
        status="failed",
        action_type=INCIDENT,
        occurred_at=now,
        account_id=account.id,
        actor_type="system",
        on_behalf_of=account.external_user_id,
        trigger="system",
        provider=account.source,
        resource_type=change.kind if change else "",
        resource_id=change.object_id if change else "",
        decision_reason=found.reason,
        error_code=found.reason,
        parent_action_id=action.action_id if action else None,
        target_row=action.row_id if action else None,
        payload={
            "sentence": found.sentence,
            "mark": mark(account, found),
            "account": account.external_user_id,
            "change": change.model_dump(mode="json") if change else None,
            "action_type": action.action_type if action else "",
        },
    )


def mark(account: AccountRef, found: Disagreement) -> str:
    """Equal for the same incident in the next run."""
    return f"{account.id} {found.mark}"


def resolution(found: Resolution, *, now: datetime) -> Entry:
    """A remark on the action: what the provider's history says became of it."""
    action = found.action
    outcome = next(row for row in recorded(action.action_id) if row.id == action.row_id)
    reason = "found_done" if found.was_done else "found_not_done"
    return replace(
        outcomes.reopened(outcome, actor_type="recovery"),
        phase="control",
        status="recorded",
        decision_reason=reason,
        target_row=action.row_id,
        occurred_at=now,
        payload={"sentence": reasons.sentence(reason)},
        artifacts=(),
        latency_ms=None,
    )


def noted(one: AccountResult) -> dict[str, Any]:
    return {
        "account_id": str(one.account.id),
        "user": one.account.external_user_id,
        "source": one.account.source,
        "problem": one.problem,
        "effects": one.comparison.effects if one.comparison else 0,
        "incidents": _incidents(one),
    }


def _incidents(one: AccountResult) -> int:
    return len(one.comparison.incidents) if one.comparison else 0


def _totals(results: Sequence[AccountResult], before: Mapping[str, int]) -> dict[str, int]:
    found = [one.comparison for one in results if one.comparison]
    further = {
        "accounts": len(results),
        "not_compared": len(results) - len(found),
        "effects": sum(one.effects for one in found),
        "explained": sum(one.explained for one in found),
        "open": sum(one.open for one in found),
        "by_others": sum(one.by_others for one in found),
        "incidents": sum(len(one.incidents) for one in found),
        "resolved": sum(len(one.resolutions) for one in found),
    }
    return {name: number + before.get(name, 0) for name, number in further.items()}
