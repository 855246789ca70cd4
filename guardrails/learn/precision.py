"""How well learned patterns do: what they acted on, and what somebody put back.

A pattern that is corrected once stops until a person approves it again.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F

from audit.contracts import Filters, Recorded
from audit.ledger import selectors as ledger
from guardrails.actions import registry
from guardrails.facts.facts import Facts
from guardrails.gather import own_mail
from guardrails.gather.lookups import gather
from guardrails.learn import patterns
from guardrails.models import LearnedPattern, PatternHit
from guardrails.policies import changes
from guardrails.policies.changes import Author
from integrations.accounts.reads import reader
from integrations.contracts import AccountRef
from integrations.database.pools import release_connections

WINDOW = timedelta(days=30)  # later, a mail that is put back is no correction
OWN_INITIATIVE = frozenset({"webhook", "pattern"})
LATER_ACTIONS = 200
AUTHOR = Author(name="correction", door="schedule")


def count_hit(
    pattern_id: UUID,
    *,
    account: AccountRef,
    item_id: str,
    subject: str,
    turn_id: str,
    now: datetime,
) -> None:
    """Count one item that an approved pattern matched; the same item counts once."""
    with transaction.atomic():
        rows = LearnedPattern.objects.select_for_update().filter(
            id=pattern_id, account_id=account.id, state=LearnedPattern.State.APPROVED
        )
        if not rows.exists():
            return
        _, is_new = PatternHit.objects.get_or_create(
            pattern_id=pattern_id,
            item_id=item_id,
            defaults={
                "account_id": account.id,
                "subject": subject[:500],
                "turn_id": turn_id,
                "at": now,
            },
        )
        if is_new:
            rows.update(hits=F("hits") + 1, last_hit_at=now)


def open_hits(account_id: UUID, *, since: datetime, limit: int) -> tuple[str, ...]:
    """Items that patterns that act now treated since then, and nobody put back."""
    rows = PatternHit.objects.filter(
        account_id=account_id,
        at__gte=since,
        corrected_at=None,
        pattern__state=LearnedPattern.State.APPROVED,
    )
    return tuple(rows.order_by("-at").values_list("item_id", flat=True)[:limit])


def look(account: AccountRef, item_id: str, *, now: datetime) -> bool:
    """Compare what patterns did to this item with what it is now at the provider. Who put
    it back has corrected the pattern, which is suspended. True when somebody did.

    One query when no pattern touched the item. Raises ProviderError.
    """
    hits = PatternHit.objects.filter(
        account_id=account.id, item_id=item_id, corrected_at=None, at__gte=now - WINDOW
    )
    # Each of them: two patterns may have treated the same mail.
    return bool(sum(_look(account, hit, now) for hit in hits))


def put_back(done: Sequence[Recorded], facts: Iterable[Facts]) -> tuple[str, ...]:
    """The titles of what was done and is not so any more. An item that is gone was deleted,
    which takes nothing back. Pure."""
    found = []
    for row, seen in zip(done, facts, strict=True):
        action, arguments = _parsed(row)
        if seen.email is not None and not action.already_so(arguments, seen, ()):
            found.append(action.title)
    return tuple(found)


def _look(account: AccountRef, hit: PatternHit, now: datetime) -> bool:
    done = [
        row
        for row in ledger.actions_of_run(tenant_id=account.organisation_id, run_id=hit.turn_id)
        if row.pattern_id == str(hit.pattern_id) and row.status == "succeeded" and row.payload
    ]
    if not done:
        return False
    release_connections()
    titles = put_back(done, [_now(account, row) for row in done])
    # Asked last: most mail lies as it was left, and this reads much of the ledger.
    return bool(titles) and not _agent_went_on(account, hit, done) and _correct(hit, titles, now)


def _agent_went_on(account: AccountRef, hit: PatternHit, done: Sequence[Recorded]) -> bool:
    """Whether the agent itself, asked by nobody, did something to the item afterwards, or to
    another mail of its thread that took its label off too."""
    filters = Filters(
        tenant_id=account.organisation_id, account_id=account.id, status="succeeded", since=hit.at
    )
    filings = own_mail.filings_of(account, hit.item_id)
    return any(
        row.trigger in OWN_INITIATIVE
        and not row.approved_by
        and row.run_id != hit.turn_id
        and row.action_id > done[-1].action_id
        and (object_of(row) == hit.item_id or row.action_id in filings)
        for row in ledger.actions(filters=filters, limit=LATER_ACTIONS).rows
    )


def object_of(row: Recorded) -> str:
    """The provider's id of what an action was done to; empty when it is erased or none."""
    action = registry.BY_NAME.get(row.action_type)
    field = action.object_field if action else None
    return str(row.payload.get("arguments", {}).get(field, "")) if field else ""


def _now(account: AccountRef, row: Recorded) -> Facts:
    action, arguments = _parsed(row)
    return gather(
        reader(account),
        object_kind=action.object_kind,
        object_id=action.object_id(arguments),
        needs=action.needs,
        own_address=account.address,
    )


def _parsed(row: Recorded) -> tuple[Any, Any]:
    action = registry.BY_NAME[row.action_type]
    return action, action.parse(row.payload["arguments"])


def _correct(hit: PatternHit, titles: Sequence[str], now: datetime) -> bool:
    what = ", ".join(f"“{title}”" for title in titles)
    with changes.recording(LearnedPattern, [hit.pattern_id], author=AUTHOR):
        if not PatternHit.objects.filter(pk=hit.pk, corrected_at=None).update(
            corrected_at=now, correction=f"Put back: {what}."
        ):
            return False
        LearnedPattern.objects.filter(pk=hit.pattern_id).update(corrections=F("corrections") + 1)
        patterns.suspend(
            pattern_id=hit.pattern_id,
            why=f"Somebody put a mail back that it had treated: {what}.",
            now=now,
        )
    return True
