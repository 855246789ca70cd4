"""Working through the mails of a run, oldest first, side by side.

Each mail has a turn of its own, as if it had just arrived; a trial's turn decides and does nothing.
A mail that was worked through before, in whatever way it came, is left out of what is not a trial.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Literal
from uuid import UUID, uuid5

from django.conf import settings
from django.db import close_old_connections, transaction
from django.db.models import F
from django.utils import timezone

from agents.contracts import Past
from agents.inbound import inbound, intake, stopping, thread_status
from agents.inbound.endings import End
from agents.inbound.thread_turns import ThreadTurn
from agents.journal import leases
from agents.journal.leases import Lease
from agents.models import PastMail, PastRun, Turn
from agents.past import runs
from agents.past.runs import Claim
from guardrails.decide.policy_file import PolicyFile, with_file
from guardrails.gather.policy_rows import policy_snapshot
from integrations.accounts.reads import mail_reader
from integrations.contracts import AccountRef, Email
from integrations.database import clock
from integrations.exceptions import NotFound, ProviderError
from integrations.llm.completions import ModelError
from integrations.llm.deadline import Deadline
from integrations.network.retries import FIRST_PAUSE

log = logging.getLogger(__name__)
MOST_ATTEMPTS = 5
BEGUN_WITHIN = 5  # so that what starts ends in the time of the task
Advanced = Literal["finished", "more", "waiting", "not_mine"]
State = PastMail.State


class _Away(Exception):
    """Something that may come back did not answer: which, and the seconds it asked for."""

    def __init__(self, code: str, asked: float | None = None) -> None:
        super().__init__(code)
        self.code, self.asked = code, asked


def advance(run_id: UUID) -> Advanced:
    """Claim a run and work through its mails for a share of a task's time.

    finished: none is left. more: call again. waiting: something is away; a sweep takes it up.
    not_mine: it is over or paused, or another worker has it. Running it twice changes nothing.
    """
    claimed = runs.claim(run_id, now=clock.now())
    if claimed is None:
        return "not_mine"
    run = PastRun.objects.select_related("account__organisation").get(id=run_id)
    until = time.monotonic() + settings.TASK_TIMEOUT_SECONDS / BEGUN_WITHIN
    deadline = Deadline.after(settings.TASK_TIMEOUT_SECONDS * (1 - 2 / BEGUN_WITHIN))
    with runs.HEARTBEAT.keep(claimed), ThreadPoolExecutor(settings.DELIVERY_THREADS) as pool:
        while time.monotonic() < until and not stopping.is_stopping():
            if not runs.is_held(claimed):
                return "not_mine"
            batch = list_next(run_id)
            if not batch:
                runs.finish(claimed, now=timezone.now())
                return "finished"
            one = partial(_in_thread, partial(_work, run, run.account.ref(), deadline=deadline))
            away = [found for found in pool.map(one, batch) if found is not None]
            if away:
                return _postpone(claimed, away[0])
    return "more" if runs.release(claimed) else "not_mine"


def _postpone(claimed: Claim, away: _Away) -> Advanced:
    pause = max(FIRST_PAUSE, timedelta(seconds=away.asked or 0))
    runs.postpone(claimed, away.code, until=clock.now() + pause)
    return "waiting"


def list_next(run_id: UUID) -> list[PastMail]:
    """The oldest that are to come, as many as there are threads; of a mail thread one at a time,
    so that its status follows the order of its mails."""
    rows = PastMail.objects.filter(run_id=run_id, state=State.QUEUED).order_by("position")
    chosen: dict[str, PastMail] = {}
    for row in rows[: settings.DELIVERY_THREADS * 2]:
        chosen.setdefault(row.thread_id or row.source_id, row)
    return list(chosen.values())[: settings.DELIVERY_THREADS]


def _in_thread(work: Callable[[PastMail], None], mail: PastMail) -> _Away | None:
    close_old_connections()
    try:
        work(mail)
    except _Away as away:
        return away
    finally:
        close_old_connections()
    return None


def _work(run: PastRun, account: AccountRef, mail: PastMail, *, deadline: Deadline) -> None:
    """Work through one mail and note what became of it. Raises _Away."""
    PastMail.objects.filter(id=mail.id).update(attempts=F("attempts") + 1)
    try:
        state, reason = _worked(run, account, mail, deadline)
    except (ModelError, ProviderError) as error:
        if inbound.may_pass(error) and mail.attempts + 1 < MOST_ATTEMPTS:
            asked = error.retry_after if isinstance(error, ProviderError) else None
            raise _Away(error.code, asked) from error
        state, reason = State.FAILED, error.code
    except _Away:
        raise
    except Exception:
        # One mail that breaks something does not keep the others from their work.
        log.exception("past.mail_failed", extra={"run": str(run.id), "mail": mail.id})
        state, reason = State.FAILED, "broke"
    PastMail.objects.filter(id=mail.id, state=State.QUEUED).update(
        state=state, reason=reason[:64], finished_at=timezone.now()
    )


def _worked(
    run: PastRun, account: AccountRef, mail: PastMail, deadline: Deadline
) -> tuple[PastMail.State, str]:
    try:
        email = mail_reader(account).email(mail.source_id)
    except NotFound:
        return State.SKIPPED, "deleted"
    if inbound.is_own(account, email):
        return State.SKIPPED, "own_mail"
    if inbound.is_from_remit(email):
        return State.SKIPPED, "from_remit"
    policy = policy_snapshot(account)
    if policy.stops_all(account.source):
        raise _Away("stopped")  # the run waits until somebody lifts the switch
    opened = _turn_of(run, account, mail)
    if opened is None:
        return State.SKIPPED, "duplicate_item"
    turn_id, lease = opened
    draft = PolicyFile.model_validate(run.policy) if run.policy is not None else None
    if draft:
        policy = with_file(policy, draft, account.source)
    trial = run.id if run.is_trial else None
    past = Past(trial=trial, writes=run.writes_drafts, draft=draft)
    code = lease and inbound.run(
        End(lease=lease, account=account), email=email, policy=policy, deadline=deadline, past=past
    )
    if code is None:
        turn = Turn.objects.only("state", "error_code").get(id=turn_id)
        if turn.state not in (Turn.State.FINISHED, Turn.State.FAILED):
            raise _Away("in_work")
        code = turn.error_code
    intake.let_go(account.id, email.id)
    if not code and not run.is_trial:
        _keep_status(run, account, email, turn_id)
    return (State.FAILED, code) if code else (State.DONE, "")


def _keep_status(run: PastRun, account: AccountRef, email: Email, turn_id: UUID) -> None:
    turn = ThreadTurn(account=account, item_id=email.id, turn_id=turn_id)
    cause = thread_status.Cause(uuid5(run.id, email.id), run.created_at, turn.use, turn.left)
    policy = policy_snapshot(account)  # not the draft that a run may be tried with
    try:
        thread_status.keep(cause, account, email, policy=policy)
    finally:
        if turn.is_used:
            turn.store()


def _turn_of(run: PastRun, account: AccountRef, mail: PastMail) -> tuple[UUID, Lease | None] | None:
    """The mail's turn in this run, with the lease where nobody else has it. None where the mail
    was worked through before, or is by somebody else now."""
    if mail.turn_id is not None:
        return mail.turn_id, leases.claim(mail.turn_id)
    with transaction.atomic():
        lease = leases.open_claimed(
            account_id=account.id,
            item_source_id=mail.source_id,
            organisation_id=account.organisation_id,
            external_user_id=account.external_user_id,
            kind=Turn.Kind.TRIAL if run.is_trial else Turn.Kind.INBOUND,
            principal=run.started_by[:200],
        )
        if lease is None:
            return None
        PastMail.objects.filter(id=mail.id).update(turn_id=lease.turn_id)
    return lease.turn_id, lease
