"""Webhooks waiting to be sent. A webhook is recorded in the transaction of its change, so
none is lost when the process ends, and is sent until the receiver has taken it."""

import json
import random
import time
from collections.abc import Collection
from dataclasses import dataclass
from uuid import uuid4

from sandbox.data_service.store import JsonObject, Store

LONGEST_PAUSE = 15.0
TRIES_WHEN_REFUSED = 5
QUIET_SECONDS = 0.3
LONGEST_GATHERING = 2.0


@dataclass(frozen=True, kw_only=True)
class Pending:
    """One webhook to send. `id` stays the same on every try."""

    number: int
    id: str
    event: str
    body: str
    attempts: int


def record(
    store: Store,
    *,
    event: str,
    user_id: str,
    source: str,
    source_id: str,
    timestamp: str,
    details: JsonObject,
) -> None:
    """Keeps one webhook to be sent, when this sandbox sends any. `event` is item-created,
    item-updated or item-deleted."""
    if not store.records_webhooks:
        return
    body = {"user_id": user_id, "source": source, "source_id": source_id, **details}
    moment = time.time()
    store.execute(
        "INSERT INTO webhooks"
        " (id, event, user_id, source, source_id, body, state, attempts, created, due)"
        " VALUES (?, ?, ?, ?, ?, ?, 'pending', 0, ?, ?)",
        (
            f"whk_{uuid4().hex}",
            event,
            user_id,
            source,
            source_id,
            json.dumps({**body, "timestamp": timestamp}),
            moment,
            moment,
        ),
    )


def next_due(store: Store, *, besides: Collection[int], newest_first: bool) -> Pending | None:
    """The webhook to send now, leaving out those under way.

    In order, and an item's later webhook waits for its earlier one. With `newest_first` the
    opposite: once nothing new has come for a moment, the last is sent first, one at a time.
    """
    moment = time.time()
    if newest_first:
        if besides or not _gathered(store, moment):
            return None
        order, waits = "DESC", ""
    else:
        order = "ASC"
        waits = (
            " AND NOT EXISTS (SELECT 1 FROM webhooks AS earlier WHERE earlier.state = 'pending'"
            " AND earlier.user_id = webhooks.user_id AND earlier.source = webhooks.source"
            " AND earlier.source_id = webhooks.source_id AND earlier.number < webhooks.number)"
        )
    marks = ", ".join("?" for _ in besides)
    row = store.row(
        "SELECT number, id, event, body, attempts FROM webhooks WHERE state = 'pending'"  # noqa: S608
        f" AND due <= ? AND number NOT IN ({marks}){waits} ORDER BY number {order} LIMIT 1",
        (moment, *besides),
    )
    return None if row is None else Pending(**dict(row))


def seconds_until_due(store: Store) -> float | None:
    """How long until a waiting webhook is to be tried; None when none waits."""
    row = store.row("SELECT min(due) AS due FROM webhooks WHERE state = 'pending'")
    return None if row is None or row["due"] is None else max(0.0, row["due"] - time.time())


def mark_delivered(store: Store, *, number: int) -> None:
    store.execute(
        "UPDATE webhooks SET state = 'delivered', attempts = attempts + 1 WHERE number = ?",
        (number,),
    )


def mark_failed(store: Store, *, webhook: Pending, refused: bool, first_pause: float) -> None:
    """Plans the next try; a webhook that is `refused` five times is kept as dead."""
    attempts = webhook.attempts + 1
    state = "dead" if refused and attempts >= TRIES_WHEN_REFUSED else "pending"
    pause = min(LONGEST_PAUSE, first_pause * 2 ** min(webhook.attempts, 10))
    store.execute(
        "UPDATE webhooks SET state = ?, attempts = ?, due = ? WHERE number = ?",
        (state, attempts, time.time() + pause * random.uniform(0.8, 1.2), webhook.number),  # noqa: S311
    )


def counts(store: Store) -> dict[str, int]:
    """How many webhooks are in each state."""
    found = {"pending": 0, "delivered": 0, "dead": 0}
    for row in store.rows("SELECT state, count(*) AS number FROM webhooks GROUP BY state"):
        found[row["state"]] = row["number"]
    return found


def _gathered(store: Store, moment: float) -> bool:
    row = store.row(
        "SELECT min(created) AS first, max(created) AS last FROM webhooks WHERE state = 'pending'"
    )
    if row is None or row["first"] is None:
        return False
    since_first, since_last = moment - float(row["first"]), moment - float(row["last"])
    return since_last >= QUIET_SECONDS or since_first >= LONGEST_GATHERING
