"""Holding each provider's history against the ledger, and writing down where they disagree.

What the ledger lacks cannot be found in the ledger: only the provider can tell of an effect
that was never written down. Nothing is ever performed or repeated here.

A run goes through the accounts step by step. Each step is recorded, so that one that breaks off
is gone on with behind it.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from audit.contracts import Attempted
from audit.keeping.end import ACTION_TYPE as END
from audit.ledger import ids, ledger, provider_side
from audit.ledger.selectors import about_ledger
from guardrails.comply.reconciliation import (
    compare as reconciled,
    rows as reconciliation_rows,
)
from guardrails.comply.reconciliation.compare import SKEW
from guardrails.comply.reconciliation.rows import SUMMARY, AccountResult, Reconciliation
from guardrails.execute.settling import INCIDENT
from integrations.accounts import reads
from integrations.contracts import AccountRef, Change
from integrations.database.pools import release_connections
from integrations.exceptions import Malformed, NotFound, ProviderError
from integrations.models import Account, Organisation
from integrations.ports.registry import BY_SOURCE

log = logging.getLogger(__name__)
PAGE, MAX_CHANGES = 500, 50_000
ACCOUNTS = 50  # of one step: a task has time for them
# So that one run covers what the run before could not yet see, and a late one leaves no hole.
OVERLAP = timedelta(days=2)
NO_HISTORY = "This provider keeps no history: what was done cannot be compared."


class NoHistory(Exception):
    """The account's provider keeps no history, or does not show it."""


def reconcile(
    organisation: Organisation, *, now: datetime, days: int | None = None
) -> Reconciliation:
    """Compare every account of the organisation, and record what was found: each incident once,
    what became of unknown actions, and the run itself.

    Without `days` it goes on where a run of the last interval broke off, or back to the last run
    and a little further. An account that cannot be compared is reported as such and keeps no other
    from it. Raises audit.contracts.LedgerError.
    """
    run = _anew(now - timedelta(days=days), now) if days else start(organisation.id, now=now)
    found = step(organisation, run, now=now)
    while found.after:
        following = step(organisation, found, now=now)
        found = replace(following, results=(*found.results, *following.results))
    return found


def start(organisation_id: UUID, *, now: datetime) -> Reconciliation:
    """The run of the last interval that broke off; a new one where none did."""
    found = reconciliation_rows.unfinished(organisation_id)
    if found and now - found.began_at < _interval():
        return found
    return _anew(_since(organisation_id, now), now)


def step(organisation: Organisation, run: Reconciliation, *, now: datetime) -> Reconciliation:
    """Compare the next accounts of the run, and record how far it came."""
    rows = Account.objects.select_related("organisation").filter(organisation=organisation)
    if run.after:
        user, source, last = run.after
        of_user = Q(source__gt=source) | Q(source=source, id__gt=last)
        rows = rows.filter(Q(of_user, external_user_id=user) | Q(external_user_id__gt=user))
    rows = rows.order_by("external_user_id", "source", "id")[: ACCOUNTS + 1]
    accounts = [row.ref() for row in rows]
    recorded_ids = _read_recorded_ids(organisation.id, run.since)
    results = tuple(
        _account(account, since=run.since, recorded_ids=recorded_ids, now=now)
        for account in accounts[:ACCOUNTS]
    )
    found = run.behind(results, is_last=len(accounts) <= ACCOUNTS)
    ledger.append(reconciliation_rows.entry(organisation.id, found, now=now))
    if not found.after and found.incidents:
        log.error("guardrails.reconciliation_disagrees incidents=%s", found.incidents)
    return found


def _anew(since: datetime, now: datetime) -> Reconciliation:
    return Reconciliation(action_id=ids.uuid7(), since=since, began_at=now)


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
    if not BY_SOURCE[account.source].capabilities.history:
        raise NoHistory
    reader, cursor, found = reads.reader(account), None, dict[str, Change]()
    cursors: set[str] = set()
    while True:
        release_connections()
        try:
            page = reader.history(since=since, cursor=cursor, limit=PAGE)
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
            raise Malformed("history: it never ends")
        cursors.add(cursor)


def _account(
    account: AccountRef, *, since: datetime, recorded_ids: set[str], now: datetime
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
    attempted = provider_side.list_since(tenant_id=tenant_id, account_id=account.id, since=since)
    own = [change for change in changes if change.by == "client"]
    keys = {key for change in own if (key := reconciled.action_of(change.key))}
    named = provider_side.list_attempted(tenant_id=tenant_id, action_ids=keys)
    found = reconciled.compare(
        changes,
        account_id=account.id,
        by_key={one.action_id: one for one in named},
        by_object=_by_object(tenant_id, [one for one in own if one.key is None], attempted),
        attempted=attempted,
        covered_from=since + SKEW,
        now=now,
    )
    new = tuple(
        one for one in found.incidents if reconciliation_rows.mark(account, one) not in recorded_ids
    )
    for incident in new:
        ledger.append(reconciliation_rows.incident(account, incident, now=now))
    for resolution in found.resolutions:
        ledger.append(reconciliation_rows.resolution(resolution, now=now))
    return AccountResult(account=account, comparison=found, new_incidents=new)


def _by_object(
    tenant_id: UUID, changes: Sequence[Change], attempted: Iterable[Attempted]
) -> dict[str, list[Attempted]]:
    """The attempted actions on, or behind, each object that changed without a key."""
    objects = sorted({change.object_id for change in changes})
    creators = (
        provider_side.find_creators(tenant_id=tenant_id, external_ids=objects) if objects else {}
    )
    by_id = {one.action_id: one for one in attempted}
    by_resource: dict[str, list[Attempted]] = {}
    for one in by_id.values():
        by_resource.setdefault(one.resource_key, []).append(one)
    return {
        name: [
            *(by_id[key] for key in sorted(creators.get(name, set())) if key in by_id),
            *by_resource.get(provider_side.digest(tenant_id, name), ()),
        ]
        for name in objects
    }


def _since(organisation_id: UUID, now: datetime) -> datetime:
    last = about_ledger(organisation_id, SUMMARY, limit=1)
    began = min(ids.moment(last[0].action_id), now) if last else now - _interval()
    return max(began, now - 4 * _interval()) - OVERLAP


def _interval() -> timedelta:
    return timedelta(days=settings.RECONCILE_DAYS or 7)


def _read_recorded_ids(organisation_id: UUID, since: datetime) -> set[str]:
    """The marks of incidents that are in the ledger already."""
    rows = about_ledger(organisation_id, INCIDENT, since=since - OVERLAP, limit=10_000)
    return {str(row.payload.get("mark", "")) for row in rows}
