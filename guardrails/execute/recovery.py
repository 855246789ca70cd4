"""Closing what a crash left open. Recovery asks the provider and never performs anything."""

import logging
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from audit.contracts import Recorded
from audit.ledger.selectors import open_attempts, recorded
from guardrails.execute import settling
from integrations.contracts import AccountRef
from integrations.exceptions import ProviderError
from integrations.models import Account

log = logging.getLogger(__name__)
GIVE_UP_AFTER = timedelta(hours=24)
# Who had a call fail and goes on with it does so at once, or when the lease of a dead process ends.
LEFT_AFTER = timedelta(minutes=4)
# Longer than a provider call takes with all its repeats, so that calls under way are left alone.
SETTLED_AFTER_SECONDS = 120.0


def recover_open_attempts(
    *, now: datetime, older_than_seconds: float = SETTLED_AFTER_SECONDS, page: int = 100
) -> int:
    """Ask the provider about attempts without an outcome; how many were closed.

    What the provider performed is closed as succeeded. What it did not perform is left to
    the caller's retry (`execute` with the same id) for LEFT_AFTER, and is then closed as failed,
    with the proof; a retry may follow still. What belongs to an account that is gone is closed as
    unknown, for a person to look at. A provider that cannot tell is asked again when it said; after
    a day a person is asked instead, by an incident.
    """
    # Confirmed approvals may be older: `approvals.finish_confirmed` goes on with those.
    closed, since = 0, now - 2 * GIVE_UP_AFTER
    after: UUID | None = None
    while True:
        attempts = open_attempts(
            older_than=now - timedelta(seconds=older_than_seconds),
            newer_than=since,
            after=after,
            limit=page,
        )
        closed += sum(_recover(attempts, now=now))
        if len(attempts) < page:
            return closed
        after = attempts[-1].action_id


def _recover(attempts: Sequence[Recorded], *, now: datetime) -> Iterator[bool]:
    accounts = _accounts({attempt.account_id for attempt in attempts if attempt.account_id})
    for attempt in attempts:
        account = accounts.get(attempt.account_id) if attempt.account_id else None
        give_up = account is None or attempt.recorded_at < now - GIVE_UP_AFTER
        named = settling.asked_again_at(recorded(attempt.action_id), attempt.attempt_no)
        if named is not None and now < named and not give_up:
            continue
        is_left = attempt.recorded_at < now - LEFT_AFTER
        try:
            yield settling.recover(attempt, account, is_left=is_left, give_up=give_up) is not None
        except ProviderError as error:
            log.warning(
                "guardrails.recovery_waits action=%s code=%s", attempt.action_id, error.code
            )


def _accounts(ids: set[UUID]) -> dict[UUID, AccountRef]:
    rows = Account.objects.select_related("organisation").filter(id__in=ids)
    return {row.id: row.ref() for row in rows}
