"""Holding each provider's history against the ledger, and writing down where they disagree.

What the ledger lacks cannot be found in the ledger: only the provider can tell of an effect
that was never written down. Nothing is ever performed or repeated here.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings

from audit import ledger, provider_side
from audit.contracts import Attempted, Entry
from audit.end import ACTION_TYPE as END
from audit.ids import uuid7
from audit.selectors import about_ledger, recorded
from guardrails import entries, reasons, reconciled
from guardrails.reconciled import SKEW, Comparison, Disagreement, Resolution
from integrations import reads
from integrations.contracts import AccountRef, Change
from integrations.exceptions import Malformed, NotFound, ProviderError
from integrations.models import Account, Organisation
from integrations.pools import release_connections
from integrations.registry import BY_SOURCE

log = logging.getLogger(__name__)
SUMMARY, INCIDENT = "ledger.reconciliation", "ledger.incident"
PAGE, MAX_CHANGES, SHOWN = 500, 50_000, 500
# So that one run covers what the run before could not yet see, and a late one leaves no hole.
OVERLAP = timedelta(days=2)
NO_HISTORY = "This provider keeps no history: what was done cannot be compared."


class NoHistory(Exception):
    """The account's provider keeps no history, or does not show it."""


@dataclass(frozen=True, kw_only=True)
class AccountResult:
    """One account: compared, or why it could not be."""

    account: AccountRef
    comparison: Comparison | None
    new_incidents: tuple[Disagreement, ...] = ()
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Reconciliation:
    """What one run over an organisation found. `action_id` names its row in the ledger."""

    action_id: UUID
    since: datetime
    results: tuple[AccountResult, ...]

    @property
    def incidents(self) -> int:
        return sum(len(one.comparison.incidents) for one in self.results if one.comparison)

    @property
    def not_compared(self) -> int:
        return sum(one.comparison is None for one in self.results)

    @property
    def sentence(self) -> str:
        return sentence(self.totals())

    def totals(self) -> dict[str, int]:
        """The numbers of all accounts."""
        found = [one.comparison for one in self.results if one.comparison]
        return {
            "accounts": len(self.results),
            "not_compared": self.not_compared,
            "effects": sum(one.effects for one in found),
            "explained": sum(one.explained for one in found),
            "open": sum(one.open for one in found),
            "by_others": sum(one.by_others for one in found),
            "incidents": self.incidents,
            "resolved": sum(len(one.resolutions) for one in found),
        }


def sentence(totals: Mapping[str, int]) -> str:
    """A run in one line."""
    compared = totals["accounts"] - totals["not_compared"]
    found = (
        f"{totals['incidents']} where provider and ledger disagree"
        if totals["incidents"]
        else "provider and ledger agree"
    )
    told = f"{compared} of {totals['accounts']} accounts compared"
    return f"{told}, {totals['effects']} effects: {found}." if compared else f"{told}."


def reconcile(
    organisation: Organisation, *, now: datetime, days: int | None = None
) -> Reconciliation:
    """Compare every account of the organisation, and record what was found: each incident once,
    what became of unknown actions, and the run itself.

    Without `days` it goes back to the last run, and a little further. An account that cannot be
    compared is told as such and keeps no other from it. Raises audit.ledger.LedgerError.
    """
    since = now - timedelta(days=days) if days else _since(organisation.id, now)
    told = _told(organisation.id, since)
    rows = Account.objects.select_related("organisation").filter(organisation=organisation)
    accounts = [row.ref() for row in rows.order_by("external_user_id", "source")]
    results = tuple(_account(account, since=since, told=told, now=now) for account in accounts)
    found = Reconciliation(action_id=uuid7(), since=since, results=results)
    ledger.append(_summary(organisation.id, found, now=now))
    if found.incidents:
        log.error("guardrails.reconciliation_disagrees incidents=%s", found.incidents)
    return found


def is_due(organisation_id: UUID, *, now: datetime) -> bool:
    """Whether the setting RECONCILE_DAYS asks for a run by now; 0 asks for none, and so does the
    end of the organisation's ledger."""
    days = settings.RECONCILE_DAYS
    # Runs a little late must not slip by a whole day.
    since = now - timedelta(days=days) + timedelta(hours=1)
    return (
        bool(days)
        and not about_ledger(organisation_id, SUMMARY, since=since, limit=1)
        and not about_ledger(organisation_id, END, limit=1)
    )


def history_of(account: AccountRef, *, since: datetime, now: datetime) -> tuple[Change, ...]:
    """The provider's whole history of the account since then.

    Raises NoHistory; ProviderError, also for a history that contradicts itself or never ends.
    """
    read = BY_SOURCE[account.source].history
    if read is None:
        raise NoHistory
    reader, cursor, found = reads.reader(account), None, dict[str, Change]()
    cursors: set[str] = set()
    while True:
        release_connections()
        try:
            page = read(reader, since, cursor, PAGE)
        except NotFound as error:
            raise NoHistory from error
        for change in page.items:
            if change.id in found:
                raise Malformed("history: an entry is there twice")
            if not since - SKEW <= change.at <= now + SKEW:
                raise Malformed("history: an entry is not of the time that was asked for")
            found[change.id] = change
        cursor = page.next_cursor
        if not cursor:
            return tuple(found.values())
        if cursor in cursors or not page.items or len(found) > MAX_CHANGES:
            raise Malformed("history: it does not end")
        cursors.add(cursor)


def _account(
    account: AccountRef, *, since: datetime, told: set[str], now: datetime
) -> AccountResult:
    try:
        changes = history_of(account, since=since, now=now)
    except NoHistory:
        return AccountResult(account=account, comparison=None, problem=NO_HISTORY)
    except ProviderError as error:
        log.warning("guardrails.reconciliation_skips account=%s code=%s", account.id, error.code)
        problem = f"The provider's history could not be read ({error.code.replace('_', ' ')})."
        return AccountResult(account=account, comparison=None, problem=problem)
    tenant_id = account.organisation_id
    attempted = provider_side.attempted_since(
        tenant_id=tenant_id, account_id=account.id, since=since
    )
    own = [change for change in changes if change.by == "client"]
    keys = {key for change in own if (key := reconciled.action_of(change.key))}
    named = provider_side.attempted(tenant_id=tenant_id, action_ids=keys)
    found = reconciled.compare(
        changes,
        account_id=account.id,
        by_key={one.action_id: one for one in named},
        by_object=_by_object(tenant_id, [one for one in own if one.key is None], attempted),
        attempted=attempted,
        covered_from=since + SKEW,
        now=now,
    )
    new = tuple(one for one in found.incidents if _mark(account, one) not in told)
    for incident in new:
        ledger.append(_incident(account, incident, now=now))
    for resolution in found.resolutions:
        ledger.append(_resolution(resolution, now=now))
    return AccountResult(account=account, comparison=found, new_incidents=new)


def _by_object(
    tenant_id: UUID, changes: Sequence[Change], attempted: Iterable[Attempted]
) -> dict[str, list[Attempted]]:
    """The attempted actions on, or behind, each object that changed without a key."""
    objects = sorted({change.object_id for change in changes})
    made = provider_side.made(tenant_id=tenant_id, external_ids=objects) if objects else {}
    by_id = {one.action_id: one for one in attempted}
    by_resource: dict[str, list[Attempted]] = {}
    for one in by_id.values():
        by_resource.setdefault(one.resource_key, []).append(one)
    return {
        name: [
            *(by_id[key] for key in sorted(made.get(name, set())) if key in by_id),
            *by_resource.get(provider_side.digest(tenant_id, name), ()),
        ]
        for name in objects
    }


def _since(organisation_id: UUID, now: datetime) -> datetime:
    last = about_ledger(organisation_id, SUMMARY, limit=1)
    days = timedelta(days=settings.RECONCILE_DAYS or 7)
    began = min(last[0].occurred_at, now) if last else now - days
    return max(began, now - 4 * days) - OVERLAP


def _told(organisation_id: UUID, since: datetime) -> set[str]:
    """The marks of incidents that are in the ledger already."""
    rows = about_ledger(organisation_id, INCIDENT, since=since - OVERLAP, limit=10_000)
    return {str(row.payload.get("mark", "")) for row in rows}


def _mark(account: AccountRef, incident: Disagreement) -> str:
    return f"{account.id} {incident.mark}"


def _incident(account: AccountRef, incident: Disagreement, *, now: datetime) -> Entry:
    change, action = incident.change, incident.action
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
        decision_reason=incident.reason,
        error_code=incident.reason,
        parent_action_id=action.action_id if action else None,
        target_row=action.row_id if action else None,
        payload={
            "sentence": incident.sentence,
            "mark": _mark(account, incident),
            "account": account.external_user_id,
            "change": change.model_dump(mode="json") if change else None,
            "action_type": action.action_type if action else "",
        },
    )


def _resolution(resolution: Resolution, *, now: datetime) -> Entry:
    """A remark on the action: what the provider's history says became of it."""
    action = resolution.action
    outcome = next(row for row in recorded(action.action_id) if row.id == action.row_id)
    reason = "found_done" if resolution.was_done else "found_not_done"
    return replace(
        entries.reopened(outcome, actor_type="recovery"),
        phase="control",
        status="recorded",
        decision_reason=reason,
        target_row=action.row_id,
        occurred_at=now,
        payload={"sentence": reasons.sentence(reason)},
        artifacts=(),
        latency_ms=None,
    )


def _summary(organisation_id: UUID, found: Reconciliation, *, now: datetime) -> Entry:
    accounts: list[dict[str, Any]] = [
        {
            "account_id": str(one.account.id),
            "user": one.account.external_user_id,
            "source": one.account.source,
            "problem": one.problem,
            "effects": one.comparison.effects if one.comparison else 0,
            "incidents": len(one.comparison.incidents) if one.comparison else 0,
        }
        for one in found.results
    ]
    return Entry(
        tenant_id=organisation_id,
        action_id=found.action_id,
        phase="control",
        status="recorded",
        action_type=SUMMARY,
        occurred_at=now,
        actor_type="system",
        trigger="system",
        payload={
            "sentence": found.sentence,
            "since": found.since,
            "totals": found.totals(),
            "accounts": accounts[:SHOWN],
        },
    )
