"""Who works on a delivery: a claim by a conditional update, held under a lease."""

import json
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q

from agents.inbound import intake
from agents.journal.leases import Heartbeat
from integrations.accounts.rows import COLUMNS, account_of
from integrations.contracts import AccountRef
from integrations.database import clock
from integrations.database.together import Read, run_together
from integrations.models import Delivery
from knowledge.ingest.reading import LARGE
from knowledge.ingest.stored import Start, prepare_start

log = logging.getLogger(__name__)


# With all that working on it begins with.
_CLAIM = f"""
UPDATE integrations_delivery d SET state = 'running', lease_expires_at = %(until)s,
    attempts = d.attempts + 1, stalls = d.stalls + 1
FROM integrations_delivery it LEFT JOIN integrations_account a ON a.id = it.account_id
    LEFT JOIN integrations_organisation o ON o.id = a.organisation_id
WHERE it.id = d.id AND d.id = ANY (ARRAY({{chosen}}))
RETURNING d.id, d.attempts, d.stalls, d.waiting_since, d.is_alone, d.received_at, d.size,
    d.body::text, a.id IS NOT NULL, {COLUMNS}
"""  # noqa: S608  # only constants
_NOT_HELD = "NOT EXISTS (SELECT FROM integrations_outage o WHERE o.account_id = it.account_id)"
_CLAIM_FREE = _CLAIM.format(
    chosen=f"""
    SELECT it.id FROM integrations_delivery it
    WHERE it.id = %(id)s AND (%(held)s OR {_NOT_HELD})
        AND (it.state = 'queued' OR it.state = 'running' AND it.lease_expires_at < %(now)s)
    FOR UPDATE
"""  # noqa: S608  # only constants
)
_OF_ENDED = """
    SELECT account_id, source_id FROM ended WHERE NOT EXISTS (
        SELECT FROM agents_turn t WHERE t.state = 'running'
            AND (t.account_id, t.item_source_id) = (ended.account_id, ended.source_id))
"""
# The attempt number is the fence: a slower process that lost its lease changes nothing.
_FINISH = f"""
WITH ended AS (
    UPDATE integrations_delivery SET state = %(state)s, reason = %(reason)s,
        lease_expires_at = NULL, finished_at = %(now)s
    WHERE id = %(id)s AND attempts = %(attempts)s AND state = 'running'
    RETURNING account_id, source_id
)
{intake.LET_GO.format(item=_OF_ENDED)}
"""  # noqa: S608  # only constants
# Fairly: first one of each account that has none at work, and of its senders one each. So nobody's
# flood, however slowly it is read, keeps others waiting for more than what is at work.
_RANKED = """
    SELECT *, row_number() OVER (
        PARTITION BY account_id ORDER BY state DESC, of_sender, received_at) AS place
    FROM (
        SELECT id, account_id, state, size, received_at, row_number() OVER (
            PARTITION BY account_id, sender ORDER BY state DESC, received_at) AS of_sender
        FROM integrations_delivery WHERE state = 'running' OR state = 'queued' AND reason = ''
    ) of_senders
"""
# Locked one after the other, by their ids, until there are enough: as a join it would look through
# all that wait for each that waits, where the server has not yet learned how many these are.
_LANE = f"""
    SELECT taken.id FROM (
        SELECT it.id FROM ranked it
        WHERE it.state = 'queued' AND it.size {{beside}} %(large)s AND {_NOT_HELD}
        ORDER BY it.place, it.received_at
    ) one, LATERAL (
        SELECT it.id FROM integrations_delivery it
        WHERE it.id = one.id AND it.state = 'queued' AND it.reason = ''
        FOR UPDATE SKIP LOCKED
    ) taken
    LIMIT {{most}}
"""  # noqa: S608  # only constants
_CLAIM_QUEUED = _CLAIM.format(
    chosen=f"""
    WITH ranked AS ({_RANKED}),
    small AS ({_LANE.format(beside="<=", most="%(most)s")}),
    large AS ({_LANE.format(beside=">", most="%(most_large)s")})
    SELECT id FROM small UNION ALL SELECT id FROM large LIMIT %(most)s
"""  # noqa: S608  # only constants
)


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """A delivery that this process works on, as it was when it was claimed. `account` is None
    where nobody knows the user."""

    id: UUID
    attempts: int
    stalls: int
    waiting_since: datetime | None
    is_alone: bool
    received_at: datetime
    is_large: bool
    body: Mapping[str, Any]
    account: AccountRef | None
    start: Start | None = None  # where its provider says that the item is new


class Finished(NamedTuple):
    """How a delivery ends, why, and whether that is stored already, with its turn."""

    state: Delivery.State
    reason: str
    is_stored: bool = False


def claim(delivery_id: UUID, *, held: bool = False) -> Claimed | None:
    """Take this delivery, if it is free; `held`: also where it waits behind others."""
    now = clock.now()
    given = {"id": delivery_id, "now": now, "until": _lease_end(now), "held": held}
    return next(iter(_take(_CLAIM_FREE, given)), None)


def claim_queued(most: int, *, large: bool) -> list[Claimed]:
    """Take deliveries that wait (`Deliveries.waiting`), fairly, at most so many, and one `large`
    among them at most, if there may be any. One that was postponed is none of them: it is queued
    again when its wait is over."""
    if most < 1:
        return []
    given: dict[str, Any] = {
        "most": most,
        "most_large": int(large),
        "large": LARGE,
        "until": _lease_end(clock.now()),
    }
    return _take(_CLAIM_QUEUED, given)


def _take(statement: str, given: Mapping[str, Any]) -> list[Claimed]:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(statement, given)
            claimed = [_claimed(*row) for row in cursor.fetchall()]
        reads: list[Read[Any]] = [read for one in claimed if one.start for read in one.start]
        if reads:
            run_together(*reads)
    return claimed


def _claimed(
    id: UUID,
    attempts: int,
    stalls: int,
    waiting_since: datetime | None,
    is_alone: bool,
    received_at: datetime,
    size: int,
    body: str,
    is_known: bool,
    *account: Any,
) -> Claimed:
    event, owner = json.loads(body), account_of(account) if is_known else None
    is_new = owner is not None and event["kind"] == "created"
    return Claimed(
        id=id,
        attempts=attempts,
        stalls=stalls,
        waiting_since=waiting_since,
        is_alone=is_alone,
        received_at=received_at,
        is_large=size > LARGE,
        body=event,
        account=owner,
        start=prepare_start(owner, event["source_id"]) if owner and is_new else None,
    )


def _lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.TURN_LEASE_SECONDS)


def _renew(claims: Collection[tuple[UUID, int]]) -> None:
    mine = reduce(or_, (Q(id=id, attempts=attempts) for id, attempts in claims), Q(pk=None))
    rows = Delivery.objects.filter(mine, state=Delivery.State.RUNNING)
    rows.update(lease_expires_at=_lease_end(clock.now()))


HEARTBEAT = Heartbeat(_renew)


def finish(delivery: Claimed, finished: Finished) -> None:
    """It has ended, and so has what else waits for its item's turn, or is free. One statement."""
    given: dict[str, Any] = {
        "id": delivery.id,
        "attempts": delivery.attempts,
        "state": finished.state,
        "reason": finished.reason,
        "now": clock.now(),
    }
    with connection.cursor() as cursor:
        cursor.execute(_FINISH, given)


def release(
    delivery: Claimed, reason: str, wait: timedelta, *, since: datetime | None = None
) -> None:
    """Give it back to the queue, to be taken up when the wait is over."""
    Delivery.objects.filter(id=delivery.id, attempts=delivery.attempts).update(
        state=Delivery.State.QUEUED,
        reason=reason,
        lease_expires_at=clock.now() + wait,
        waiting_since=since,
        stalls=0,
    )
    log.warning("delivery.postponed", extra={"delivery": str(delivery.id), "reason": reason})
