"""Inbound items: from an accepted delivery to what was done about it (MAIL-1).

Every delivery ends as processed, skipped with a reason, or a dead letter with a reason.
Running one twice changes nothing: the delivery is claimed, its turn is the same turn. What meets
an outage waits for a day, with all behind it (`agents.inbound.outages`).
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import timedelta
from functools import cache, partial
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections

from agents.inbound import (
    claims,
    inbound,
    items,
    outages,
    stopping,
)
from agents.inbound.claims import Claimed, Finished
from integrations.child import Ended, Unreadable
from integrations.database import clock
from integrations.exceptions import ProviderError
from integrations.llm import telemetry
from integrations.llm.completions import ModelError
from integrations.models import Delivery
from integrations.network.retries import is_given_up, pause

log = logging.getLogger(__name__)
MAX_STALLS = 5
LOOK_SECONDS = 0.5  # for what came meanwhile
IN_WORK_WAIT = timedelta(seconds=5)


def react(delivery_id: UUID) -> bool:
    """Work through one delivery, or through the first of those that it waits behind. False when it
    is finished, in work or waits on.

    What fails but may pass later goes back to the queue with a growing pause, and becomes a
    dead letter after a day.
    """
    work = _claim(delivery_id)
    return work is not None and work()


def _claim(delivery_id: UUID) -> Callable[[], bool] | None:
    """What is to be done now; None where the delivery is finished, in work or waits on."""
    if claimed := claims.claim(delivery_id):
        return partial(_react, claimed)
    probe = outages.find_probe(delivery_id, now=clock.now())
    return None if probe is None else partial(_probe, probe)


def _probe(delivery_id: UUID) -> bool:
    """Try whether what its account waits for is back."""
    claimed = claims.claim(delivery_id, held=True)
    if claimed is None:
        return False
    if _react(claimed, probe=True):
        return True
    other = outages.find_other(delivery_id)
    claimed = claims.claim(other, held=True) if other else None
    if claimed is None:
        return False
    outages.set_alone(delivery_id, True)
    ended = _react(claimed, probe=True)
    outages.set_alone(delivery_id, ended)
    return ended


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    # Its threads keep their connections: to make new ones costs more than most deliveries ask.
    return ThreadPoolExecutor(threads, thread_name_prefix="delivery")


def react_side_by_side(first: UUID | None = None) -> None:
    """Work through the deliveries that wait, with this one first if it is given, until none waits.
    As a delivery mostly waits for its model, up to DELIVERY_THREADS are at work at once. None
    starts after the first fifth of a task's time, or once the cluster is to stop.

    Large ones have a lane of their own: one at a time, and the first is taken for one. So the other
    threads are for what is small, however many large ones wait before it.

    Raises what broke first, when all of them have ended.
    """
    until = time.monotonic() + settings.TASK_TIMEOUT_SECONDS / items.BEGUN_WITHIN
    look_at = 0.0
    pool = _pool(settings.DELIVERY_THREADS)
    ended: set[Future[object]] = set()
    lane: Future[object] | None = None
    if first and (work := _claim(first)):
        lane = pool.submit(_in_thread, work)
    at_work = {lane} if lane else set()
    try:
        while True:
            now, free = time.monotonic(), settings.DELIVERY_THREADS - len(at_work)
            looks = not at_work or now >= look_at
            if looks and now < until and not stopping.is_stopping():
                found = claims.claim_queued(free, large=lane is None or lane.done())
                for claimed in found:
                    taken: Future[object] = pool.submit(_in_thread, partial(_react, claimed))
                    at_work.add(taken)
                    lane = taken if claimed.is_large else lane
                # Where fewer were found than there is room for, nobody else waits by now.
                look_at = now if len(found) == free else now + LOOK_SECONDS
            if not at_work:
                break
            done, at_work = wait(at_work, LOOK_SECONDS, return_when=FIRST_COMPLETED)
            ended |= done
    finally:
        wait(at_work)
    for future in ended:
        future.result()


def _in_thread(work: Callable[[], object]) -> None:
    close_old_connections()
    try:
        work()
    finally:
        close_old_connections()


def _react(delivery: Claimed, *, probe: bool = False) -> bool:
    with telemetry.span(
        *("work", "delivery"),
        of=delivery.id,
        delivery_id=str(delivery.id),
        attempts=delivery.attempts,
        source=delivery.account and delivery.account.source,
    ):
        return _try(delivery, probe=probe)


def _try(delivery: Claimed, *, probe: bool) -> bool:
    if delivery.stalls > MAX_STALLS:
        _finish(delivery, Finished(Delivery.State.DEAD, "too_many_attempts"), probe=probe)
        return True
    try:
        with claims.HEARTBEAT.keep((delivery.id, delivery.attempts)):
            finished = items.work(delivery)
    except items.InWork:
        claims.release(delivery, "in_work", IN_WORK_WAIT, since=delivery.waiting_since)
        return False
    except Unreadable as error:
        finished = Finished(Delivery.State.DEAD, error.reason)
    except Ended:
        _postpone(delivery, "reader_ended")
        return False
    except (OperationalError, InterfaceError):
        # The database is away, or was. If it still is, the lease runs out.
        log.exception("delivery.database_away", extra={"delivery": str(delivery.id)})
        close_old_connections()
        _postpone(delivery, "database")
        return False
    except (ModelError, ProviderError) as error:
        if inbound.may_pass(error):
            asked = error.retry_after if isinstance(error, ProviderError) else None
            _postpone(delivery, error.code, asked=asked)
            if delivery.account and (probe or not delivery.is_alone):
                now = clock.now()
                outages.begin(delivery.account.id, error.code, asked=asked, now=now)
            return False
        finished = Finished(Delivery.State.DEAD, error.code)
    _finish(delivery, finished, probe=probe)
    return True


def _postpone(delivery: Claimed, code: str, *, asked: float | None = None) -> None:
    telemetry.note(error=code)
    now = clock.now()
    since = delivery.waiting_since or now
    if is_given_up(now - since, code):
        _finish(delivery, Finished(Delivery.State.DEAD, code))
    else:
        claims.release(delivery, code, pause(now - since, asked=asked), since=since)


def _finish(delivery: Claimed, finished: Finished, *, probe: bool = False) -> None:
    state, reason, is_stored = finished
    telemetry.note(ending=str(state), reason=reason)
    if not is_stored:
        claims.finish(delivery, finished)
    if state == Delivery.State.DEAD:
        inbound.give_up([delivery.id], reason)
    if probe and delivery.account:
        outages.end(delivery.account.id, now=clock.now())
    log.info(
        "delivery.finished",
        extra={"delivery": str(delivery.id), "state": str(state), "reason": reason},
    )
