"""What the task cluster runs. Tasks carry ids, and running one twice changes nothing."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django_q.tasks import async_task

from agents.activity import digest_mail
from agents.answer import escalations
from agents.inbound import follow_ups, label_changes, missed, outages, reactions, stopping
from agents.learn import habits
from agents.past import runs as past_runs, work as past_work
from guardrails.approve import change_request_news, deadlines
from guardrails.approve.news import news
from guardrails.comply.reconciliation import run as reconciliation
from guardrails.comply.tasks import queue_checkpoints, queue_time_stamps
from guardrails.execute import (
    errands,
    held_sends,
    recovery,
    releases,
    subscribing,
    switches,
    tidying,
    trials,
)
from guardrails.gather import usage
from guardrails.learn import corrections, patterns
from guardrails.policies import directory_sync
from integrations.accounts import arrivals, catalogue, subscriptions
from integrations.contracts import AccountRef
from integrations.database import clock, notices
from integrations.exceptions import ProviderError
from integrations.llm import metering, telemetry
from integrations.models import Account, Organisation
from integrations.ports.registry import writable
from integrations.web import idempotency
from knowledge import tasks as knowledge_tasks

log = logging.getLogger(__name__)
ACCOUNTS_AT_ONCE = 10  # whose patterns are tried in one sweep


def react(delivery_id: str = "") -> None:
    """Work through the deliveries that wait, with this one first where one is named: it tries
    whether what its account waits for is back. The broker gives this task out while some wait."""
    if not stopping.is_stopping():
        reactions.react_side_by_side(UUID(delivery_id) if delivery_id else None)


def look_at_account(account_id: str) -> None:
    """Store what is new at the account and queue its work; read in one that was never read. What
    cannot be asked now is asked at the next look."""
    try:
        arrivals.look(UUID(account_id), enqueue=_queue_found)
        knowledge_tasks.start_first_sync(UUID(account_id))
    except ProviderError as error:
        log.warning("account.not_looked_at", extra={"account": account_id, "code": error.code})


def _queue_found(delivery_id: UUID) -> None:
    """As a webhook would have brought it."""
    id = str(delivery_id)
    with telemetry.span("accept", "delivery", of=id, begins=True, delivery_id=id):
        notices.notify(notices.TASKS)


def queue_look(account_id: UUID) -> None:
    """Queue one account, where something has changed."""
    async_task(look_at_account, str(account_id))


def queue_looks(*, now: datetime) -> int:
    """Queue the accounts that are due; how many."""
    with transaction.atomic():
        due = arrivals.claim_due(now=now)
        for account_id in due:
            async_task(look_at_account, str(account_id))
    return len(due)


def take_up_missed(account_id: str, source_ids: list[str]) -> None:
    """Work through mail that only a sync read in."""
    row = Account.objects.select_related("organisation").filter(id=UUID(account_id)).first()
    if row is None:
        return
    try:
        missed.take_up(row.ref(), source_ids, now=timezone.now(), enqueue=_queue_found)
    except ProviderError as error:
        log.warning("missed.not_taken_up", extra={"account": account_id, "code": error.code})


def queue_missed(*, now: datetime) -> int:
    """Queue the mail that only a sync read in; of how many accounts."""
    found = missed.find(now=now)
    with transaction.atomic():
        for account_id, source_ids in found.items():
            async_task(take_up_missed, str(account_id), source_ids)
    return len(found)


def look_at_labels(account_id: str) -> None:
    """Learn from changes of labels that no webhook brought."""
    row = Account.objects.select_related("organisation").filter(id=UUID(account_id)).first()
    if row is None:
        return
    try:
        label_changes.take_up(row.ref(), now=timezone.now())
    except ProviderError as error:
        log.warning("labels.not_looked_at", extra={"account": account_id, "code": error.code})


def queue_label_changes() -> int:
    """Queue the accounts where labels changed and nobody has looked yet; how many."""
    found = label_changes.list_accounts()
    with transaction.atomic():
        for account_id in found:
            async_task(look_at_labels, str(account_id))
    return len(found)


def look_after_subscription(account_id: str) -> None:
    """Keep it up that the account's provider calls Remit, or end that."""
    subscribing.look_after(UUID(account_id), now=timezone.now())


def queue_subscriptions(*, now: datetime) -> int:
    """Queue the accounts whose subscription is due; how many."""
    with transaction.atomic():
        due = subscriptions.claim_due(now=now)
        for account_id in due:
            async_task(look_after_subscription, str(account_id))
    return len(due)


def read_lists(account_id: str) -> None:
    """Read what people pick targets from. What cannot be asked now is asked at the next time."""
    row = Account.objects.select_related("organisation").filter(id=UUID(account_id)).first()
    if row is None:
        return
    try:
        catalogue.read(row.ref(), now=timezone.now())
    except ProviderError as error:
        log.warning("account.not_listed", extra={"account": account_id, "code": error.code})


def queue_lists(*, now: datetime) -> int:
    """Queue the accounts whose lists are due; how many."""
    with transaction.atomic():
        due = catalogue.claim_due(now=now)
        for account_id in due:
            async_task(read_lists, str(account_id))
    return len(due)


def start_past_run(account: AccountRef, wanted: past_runs.Wanted, *, by: str) -> UUID:
    """Start a run over past mail and queue its work. Raises past_runs.AlreadyOpen."""
    with transaction.atomic():
        run = past_runs.start(account, wanted, by=by)
        async_task(work_past_run, str(run.id))
    return run.id


def resume_past_run(run_id: UUID, *, by: str) -> bool:
    """Go on with a run that was paused. False where it is not."""
    with transaction.atomic():
        is_resumed = past_runs.resume(run_id, by=by)
        if is_resumed:
            async_task(work_past_run, str(run_id))
    return is_resumed


def work_past_run(run_id: str) -> None:
    """Work through a run for a share of a task's time; queued again while there is more."""
    if past_work.advance(UUID(run_id)) == "more":
        async_task(work_past_run, run_id)


def _take_back_past_runs(now: datetime) -> None:
    with transaction.atomic():
        for run_id in past_runs.take_back(now=now):
            async_task(work_past_run, str(run_id))


def learn() -> None:
    """Queue the day's learning and reminders of each mailbox. Runs once a day."""
    rows = Account.objects.filter(
        source__in=writable("mail"), paused=False, organisation__paused=False
    )
    with transaction.atomic():
        for account_id in rows.values_list("id", flat=True):
            async_task(learn_account, str(account_id))
            async_task(follow_up_account, str(account_id))


def learn_account(account_id: str) -> None:
    row = Account.objects.select_related("organisation").filter(id=UUID(account_id)).first()
    if row is not None:
        now = timezone.now()
        habits.propose_repeated(row.ref(), now=now)
        habits.try_again(row.ref(), now=now)
        habits.look_again(row.ref(), now=now)
        corrections.forget_old(row.ref(), now=now)


def _try_patterns(now: datetime) -> None:
    """What was made or changed by hand, tried on past mail; more in the next minute."""
    ids = patterns.list_untried_accounts(limit=ACCOUNTS_AT_ONCE)
    for row in Account.objects.select_related("organisation").filter(id__in=ids):
        habits.try_untried(row.ref(), now=now)


def follow_up_account(account_id: str) -> None:
    row = Account.objects.select_related("organisation").filter(id=UUID(account_id)).first()
    if row is not None:
        follow_ups.remind(row.ref(), now=timezone.now())


def tell_days() -> None:
    """Queue the mails about the day before that are due. Runs every hour."""
    with transaction.atomic():
        for digest_id in digest_mail.claim_due(now=timezone.now()):
            async_task(tell_day, digest_id)


def tell_day(digest_id: int) -> None:
    digest_mail.send(digest_id)


def sync_directories() -> None:
    """Queue the reading of each directory that an operator wants read. Runs once a day."""
    with transaction.atomic():
        for sync_id in directory_sync.due():
            async_task(sync_directory, str(sync_id))


def sync_directory(sync_id: str) -> None:
    directory_sync.run(UUID(sync_id), now=timezone.now())


def reconcile() -> None:
    """Queue the comparison of providers and ledger where it is due. Looks every day."""
    now = timezone.now()
    due = [row for row in Organisation.objects.all() if reconciliation.is_due(row.id, now=now)]
    with transaction.atomic():
        for organisation in due:
            async_task(reconcile_organisation, str(organisation.id))


def reconcile_organisation(organisation_id: str) -> None:
    """The next accounts of the organisation; a task of their own goes on with those behind them,
    so that no organisation is too large for the time that a task has."""
    row, now = Organisation.objects.filter(id=UUID(organisation_id)).first(), timezone.now()
    if row is None or not reconciliation.is_due(row.id, now=now):
        return
    found = reconciliation.step(row, reconciliation.start(row.id, now=now), now=now)
    if found.after:
        async_task(reconcile_organisation, organisation_id)


def sweep() -> None:
    """Go on with what a dead process left. Runs every minute; one part that breaks does not
    keep the others from their work."""
    now, patience = clock.now(), settings.TURN_LEASE_SECONDS
    parts: tuple[Callable[[], object], ...] = (
        lambda: _queue_again(now),
        lambda: queue_looks(now=now),
        lambda: queue_lists(now=now),
        lambda: queue_subscriptions(now=now),
        lambda: queue_missed(now=now),
        queue_label_changes,
        lambda: _take_back_past_runs(now),
        lambda: _try_patterns(now),
        lambda: deadlines.expire_overdue(now=now),
        lambda: deadlines.escalate_overdue(now=now),
        lambda: deadlines.finish_confirmed(older_than_seconds=patience, now=now),
        lambda: recovery.recover_open_attempts(older_than_seconds=patience, now=now),
        lambda: knowledge_tasks.sweep(now=now),
        switches.recall_stopped,
        lambda: held_sends.finish_recalled(older_than=now - timedelta(seconds=patience)),
        lambda: releases.finish_released(older_than=now - timedelta(seconds=patience)),
        lambda: releases.release_due(now=now),
        lambda: errands.forget_old(now=now),
        lambda: trials.forget_old(now=now),
        tidying.tidy_superseded,
        lambda: usage.sweep(now=now),
        lambda: metering.prune(now=now),
        lambda: idempotency.prune(now=now),
        lambda: escalations.notify_again(now=now),
        lambda: change_request_news.notify_again(now=now),
        lambda: news.announce(now=now),
        lambda: queue_checkpoints(now=now),
        lambda: queue_time_stamps(now=now),
    )
    for part in parts:
        try:
            part()
        except Exception:
            log.exception("sweep.part_failed")


def _queue_again(now: datetime) -> None:
    if deliveries := outages.take_back(now=now):
        log.warning("sweep.queued", extra={"deliveries": deliveries})
    with transaction.atomic():
        for delivery_id in outages.list_probes(now=now):
            async_task(react, str(delivery_id))
