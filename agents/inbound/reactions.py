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
from django.db import IntegrityError, InterfaceError, OperationalError, close_old_connections
from django.utils import timezone
from pydantic import ValidationError

from agents.inbound import (
    claims,
    documents,
    drafts,
    inbound,
    intake,
    outages,
    stopping,
    thread_status,
)
from agents.inbound.claims import Claimed
from agents.journal import leases
from agents.journal.leases import Lease
from agents.models import Turn
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.learn import precision
from integrations.accounts.reads import mail_reader, reader
from integrations.child import Ended, Unreadable
from integrations.contracts import AccountRef, AnyItem, Document, Email
from integrations.contracts.events import ItemEvent
from integrations.exceptions import NotFound, ProviderError
from integrations.llm import telemetry
from integrations.llm.completions import ModelError
from integrations.llm.deadline import Deadline
from integrations.models import Delivery
from integrations.network.retries import is_given_up, pause
from integrations.ports.registry import BY_SOURCE
from knowledge.contracts import IngestOutcome
from knowledge.ingest import ingest

log = logging.getLogger(__name__)
MAX_STALLS = 5
BEGUN_WITHIN = 5  # so that what starts ends in the time of the task
LOOK_SECONDS = 0.5  # for what came meanwhile
IN_WORK_WAIT = timedelta(seconds=5)


class _InWork(Exception):
    """The delivery's turn is being worked on by another process: look again later."""


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
    probe = outages.find_probe(delivery_id, now=timezone.now())
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


def react_side_by_side(delivery_id: UUID) -> None:
    """Work through one delivery and, because a delivery mostly waits for its model, through others
    of the queue beside it, up to DELIVERY_THREADS at once. None starts after the first fifth of
    a task's time, or once the cluster is to stop.

    Large ones have a lane of their own: one at a time, and the first is taken for one. So the other
    threads are for what is small, however many large ones wait before it.

    Raises what broke first, when all of them have ended.
    """
    work = _claim(delivery_id)
    if work is None:
        return  # what else is queued has tasks of its own
    until = time.monotonic() + settings.TASK_TIMEOUT_SECONDS / BEGUN_WITHIN
    pool = _pool(settings.DELIVERY_THREADS)
    ended: set[Future[object]] = set()
    lane: Future[object] = pool.submit(_in_thread, work)
    at_work = {lane}
    try:
        while True:
            if time.monotonic() < until and not stopping.is_stopping():
                free = settings.DELIVERY_THREADS - len(at_work)
                for claimed in claims.claim_queued(free, large=lane.done()):
                    taken: Future[object] = pool.submit(_in_thread, partial(_react, claimed))
                    at_work.add(taken)
                    lane = taken if claimed.is_large else lane
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
        _finish(delivery, Delivery.State.DEAD, "too_many_attempts", probe=probe)
        return True
    try:
        with claims.HEARTBEAT.keep((delivery.id, delivery.attempts)):
            state, reason = _work(delivery)
    except _InWork:
        claims.release(delivery, "in_work", IN_WORK_WAIT, since=delivery.waiting_since)
        return False
    except Unreadable as error:
        state, reason = Delivery.State.DEAD, error.reason
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
                now = timezone.now()
                outages.begin(delivery.account.id, error.code, asked=asked, now=now)
            return False
        state, reason = Delivery.State.DEAD, error.code
    _finish(delivery, state, reason, probe=probe)
    return True


def _postpone(delivery: Claimed, code: str, *, asked: float | None = None) -> None:
    telemetry.note(error=code)
    now = timezone.now()
    since = delivery.waiting_since or now
    if is_given_up(now - since, code):
        _finish(delivery, Delivery.State.DEAD, code)
    else:
        claims.release(delivery, code, pause(now - since, asked=asked), since=since)


def _finish(delivery: Claimed, state: Delivery.State, reason: str, *, probe: bool = False) -> None:
    telemetry.note(ending=str(state), reason=reason)
    # The attempt number is the fence: a slower process that lost its lease changes nothing.
    Delivery.objects.filter(
        id=delivery.id, attempts=delivery.attempts, state=Delivery.State.RUNNING
    ).update(state=state, reason=reason, lease_expires_at=None, finished_at=timezone.now())
    if state == Delivery.State.DEAD:
        inbound.give_up([delivery.id], reason)
    if probe and delivery.account:
        outages.end(delivery.account.id, now=timezone.now())
    log.info(
        "delivery.finished",
        extra={"delivery": str(delivery.id), "state": str(state), "reason": reason},
    )


def _work(delivery: Claimed) -> tuple[Delivery.State, str]:
    event = ItemEvent.model_validate(delivery.body)
    # All of it ends in the time of the task, in which it began a little late.
    deadline = Deadline.after(settings.TASK_TIMEOUT_SECONDS * (1 - 2 / BEGUN_WITHIN))
    account = delivery.account
    if account is None:
        return Delivery.State.SKIPPED, "unknown_account"
    if event.kind == "deleted":
        outcome = ingest.forget(account=account, source_id=event.source_id, at=event.timestamp)
        return _accounted(outcome)
    try:
        item = parse_item(event)
    except ValidationError as error:
        fields = sorted({str(problem["loc"][0]) for problem in error.errors() if problem["loc"]})
        log.info("delivery.malformed", extra={"delivery": str(delivery.id), "fields": fields})
        return Delivery.State.DEAD, "malformed_item"
    if item.id != event.source_id:
        return Delivery.State.DEAD, "source_id_mismatch"
    starts_turns = BY_SOURCE[event.source].starts_turns
    mail = item if isinstance(item, Email) and starts_turns else None
    if mail and event.kind == "updated":
        # What was stored before tells what is new, so this comes first.
        thread_status.follow(_cause(delivery), account, mail)
    outcome = ingest.ingest(
        account=account,
        source_id=event.source_id,
        item=item,
        now=timezone.now(),
        deadline=deadline,
    )
    if event.kind == "created" and mail:
        return _react_to_mail(delivery, account, mail, outcome, deadline)
    if event.kind == "created" and isinstance(item, Document) and starts_turns:
        return _react_to_document(delivery, account, item, outcome, deadline)
    if mail:
        precision.look(account, item.id, now=timezone.now())
    return _accounted(outcome)


def _react_to_mail(
    delivery: Claimed,
    account: AccountRef,
    email: Email,
    outcome: IngestOutcome,
    deadline: Deadline,
) -> tuple[Delivery.State, str]:
    """Every mail is reacted to once, by its first delivery, whatever was stored before: a
    crash, the first sync or an update that came earlier may have stored it already."""
    if inbound.is_own(account, email):
        thread_status.keep(_cause(delivery), account, email)
        drafts.tidy(delivery, account, email)
        state, known = _accounted(outcome)
        return state, known or "own_mail"
    if inbound.is_from_remit(email):
        return Delivery.State.SKIPPED, "from_remit"
    policy = policy_snapshot(account)
    if policy.stops_all(account.source):
        return Delivery.State.SKIPPED, Delivery.STOPPED
    if outcome.state == "stale":
        try:
            email = mail_reader(account).email(email.id)
        except NotFound:
            return Delivery.State.SKIPPED, "deleted"
    turn_id, lease = _turn_of(delivery, account, email.id)
    if turn_id is None:
        return Delivery.State.SKIPPED, "duplicate_item"
    work = partial(inbound.run, account=account, email=email, policy=policy, deadline=deadline)
    state, why = _run_turn(turn_id, lease, work)
    intake.let_go(account.id, email.id)
    if state == Delivery.State.PROCESSED:
        thread_status.keep(_cause(delivery), account, email, turn_id=str(turn_id))
        drafts.tidy(delivery, account, email)
    return state, why


def _react_to_document(
    delivery: Claimed,
    account: AccountRef,
    document: Document,
    outcome: IngestOutcome,
    deadline: Deadline,
) -> tuple[Delivery.State, str]:
    """As with a mail, where the policy lets anything be done about it; else it was only read."""
    policy = policy_snapshot(account)
    if outcome.state == "stale":
        try:
            item = reader(account).item(document.id)
        except NotFound:
            return Delivery.State.SKIPPED, "deleted"
        document = item if isinstance(item, Document) else document
    if outcome.state in ("left_out", "absent") or not documents.list_permitted(
        account, document, policy
    ):
        return _accounted(outcome)
    if policy.stops_all(account.source):
        return Delivery.State.SKIPPED, Delivery.STOPPED
    turn_id, lease = _turn_of(delivery, account, document.id)
    if turn_id is None:
        return Delivery.State.SKIPPED, "duplicate_item"
    work = partial(
        documents.run, account=account, document=document, policy=policy, deadline=deadline
    )
    result = _run_turn(turn_id, lease, work)
    intake.let_go(account.id, document.id)
    return result


def _cause(delivery: Claimed) -> thread_status.Cause:
    return thread_status.Cause(delivery.id, delivery.received_at)


def _accounted(outcome: IngestOutcome) -> tuple[Delivery.State, str]:
    if outcome.state in ("unchanged", "stale", "absent", "left_out"):
        return Delivery.State.SKIPPED, outcome.state
    return Delivery.State.PROCESSED, ""


def parse_item(event: ItemEvent) -> AnyItem:
    """The provider object in an event. Raises pydantic's ValidationError."""
    return BY_SOURCE[event.source].item_type.model_validate(event.data)


def _turn_of(
    delivery: Claimed, account: AccountRef, item_id: str
) -> tuple[UUID | None, Lease | None]:
    """The item's turn, with the lease where it was made just now. None where another delivery of
    the same item has it."""
    try:
        lease = leases.open_claimed(
            account_id=account.id,
            item_source_id=item_id,
            delivery_id=delivery.id,
            organisation_id=account.organisation_id,
            external_user_id=account.external_user_id,
            kind=Turn.Kind.INBOUND,
            principal="webhook",
        )
    except IntegrityError:
        turn = Turn.objects.get(
            account_id=account.id, item_source_id=item_id, kind=Turn.Kind.INBOUND
        )
        return (turn.id if turn.delivery_id == delivery.id else None), None
    return lease.turn_id, lease


def _run_turn(
    turn_id: UUID, lease: Lease | None, work: Callable[[Lease], str | None]
) -> tuple[Delivery.State, str]:
    lease = lease or leases.claim(turn_id)
    code = lease and work(lease)
    if code is None:
        turn = Turn.objects.only("state", "error_code").get(id=turn_id)
        if turn.state not in (Turn.State.FINISHED, Turn.State.FAILED):
            raise _InWork
        code = turn.error_code
    return (Delivery.State.DEAD, code) if code else (Delivery.State.PROCESSED, "")
