"""The only door to provider writes.

`execute` decides, commits the attempt to the ledger, calls the provider under an idempotency
key, and commits the outcome. Neither a transaction nor a pooled database connection is held
while the provider is asked. What is decided is decided in `guardrails.decide`; this module
reads from top to bottom as a request goes through it.
"""

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Self
from uuid import UUID
from weakref import WeakValueDictionary

from django.db import connections
from django.utils import timezone

from audit.contracts import Entry, Recorded
from audit.ledger import ledger, policies
from audit.ledger.provider_side import digest
from audit.ledger.selectors import recorded
from guardrails.actions.base import Call
from guardrails.contracts import ActionRequest, ActionResult
from guardrails.decide import steps
from guardrails.decide.checks.case import FROM_CONTENT
from guardrails.decide.checks.stopping import why_stopped
from guardrails.decide.snapshot import PolicySnapshot
from guardrails.decide.steps import Ended, Open, Step
from guardrails.execute import (
    approval_requests,
    draft_rows,
    entries,
    held_sends,
    outcomes,
    settling,
)
from guardrails.facts.counts import Use
from guardrails.gather import own_mail, shadow, stops, usage, wanted
from guardrails.gather.judgement import Judgement, canonical, judge
from guardrails.models import HeldSend
from integrations.accounts import writes
from integrations.database.pools import release_connections
from integrations.exceptions import ProviderError
from integrations.llm import telemetry

log = logging.getLogger(__name__)

_registering = threading.Lock()
_running: WeakValueDictionary[UUID, Any] = WeakValueDictionary()


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """A person's word, already claimed: for which approval, bound to which digest."""

    approval_id: UUID
    decided_by: str
    digest: str

    def as_word(self) -> dict[str, str]:
        """As a held send keeps it."""
        return {
            "approval_id": str(self.approval_id),
            "decided_by": self.decided_by,
            "digest": self.digest,
        }

    @classmethod
    def of_word(cls, word: Mapping[str, str]) -> Self:
        """What a held send kept."""
        return cls(
            approval_id=UUID(word["approval_id"]),
            decided_by=word["decided_by"],
            digest=word["digest"],
        )


@dataclass(frozen=True, kw_only=True)
class Try:
    """One try of an action: the rows that earlier tries left, the held send whose time has come,
    if it is one, and the policy, where it was read for this try already."""

    request: ActionRequest
    confirmation: Confirmation | None
    rows: tuple[Recorded, ...]
    held: HeldSend | None
    policy: PolicySnapshot | None = None

    @property
    def attempt_no(self) -> int:
        last = steps.last_word(self.rows)
        return last.attempt_no + 1 if last else 1

    def next_step(self, judgement: Judgement, *, now: datetime) -> tuple[Step, Judgement]:
        """What is to be done, and the judgement that it rests on: where the object was changed
        while the action was held, with what was changed."""
        changes = held_sends.changes(self.held, judgement.facts)
        word = self.confirmation
        lacks = (
            word is not None
            and judgement.people_needed > 1
            and not approval_requests.was_said_by_two(word.approval_id, digest=word.digest)
        )
        step, decision = steps.next_step(
            judgement.decision,
            already_so=judgement.nothing_to_do,
            digest=judgement.digest,
            confirmed=self.confirmation.digest if self.confirmation else None,
            held_until=self.held.until if self.held else None,
            now=now,
            changed=bool(changes),
            may_ask=self.request.origin.trigger not in FROM_CONTENT,
            lacks_people=lacks,
        )
        differences = (*changes, *judgement.differences)
        return step, replace(judgement, decision=decision, differences=differences)


def execute(
    request: ActionRequest,
    confirmation: Confirmation | None = None,
    *,
    policy: PolicySnapshot | None = None,
) -> ActionResult:
    """Do what is asked if the policy permits it, and say what became of it.

    Idempotent by `request.action_id`: a request that ran gives its result again, one that
    was interrupted is settled with the provider first, and the provider acts at most once.
    `confirmation` comes from `guardrails.approve.approvals` alone. `policy` is the account's, where
    it was read just now (`judgement.FRESH_SECONDS`): it counts for the first try alone.

    Expected outcomes are values. Raises audit.contracts.LedgerError when the ledger cannot be
    written: then nothing was done, or an open attempt says that it may have been. Raises
    RuntimeError inside a transaction.
    """
    if any(connection.in_atomic_block for connection in connections.all(initialized_only=True)):
        raise RuntimeError("Call execute() outside of transactions: it calls a provider.")
    with (
        telemetry.span(
            *("execute_action", "of a turn" if request.origin.turn_id else "by itself"),
            of=request.origin.turn_id or request.action_id,
            action_id=str(request.action_id),
            turn_id=request.origin.turn_id,
        ) as note,
        one_at_a_time(request.action_id),
    ):
        result = _go_on(canonical(request), confirmation, policy)
        note(ending=result.status, reason=result.reason)
        return result


@contextmanager
def one_at_a_time(action_id: UUID) -> Iterator[None]:
    """Threads of one process wait for each other over one action; the second finds the first's
    outcome. Between processes the ledger's unique attempts and the idempotency key decide."""
    with _registering:
        lock = _running.setdefault(action_id, threading.RLock())
    with lock:
        yield


def _go_on(
    request: ActionRequest,
    confirmation: Confirmation | None,
    policy: PolicySnapshot | None = None,
) -> ActionResult:
    """From what the ledger says of this action already."""
    rows = () if request.is_first else recorded(request.action_id)
    held = held_sends.find(request.action_id) if steps.was_held(rows) else None
    # None when it was released: then the rows tell.
    held_result = held_sends.result(held) if held else None
    progress = steps.how_far(
        rows,
        account_id=request.account.id,
        action_type=request.action_type,
        fingerprint=entries.fingerprint(request),
        confirmed=confirmation is not None,
    )
    match progress:
        case "reused":
            # The rows under this id stay as they are; this request leaves a remark.
            result = _append(entries.reused(request, now=timezone.now()))
        case Ended(last):
            result = outcomes.result(last)
        case Open(attempt):
            settled = settling.settle(outcomes.reopened(attempt), request.account, phases=rows)
            # Nothing happened at the provider, and the attempt is closed: look again.
            result = settled or _go_on(request, confirmation)
        case "asked" | "new" if held_result:
            result = held_result
        case "asked":
            result = approval_requests.result(request)
        case "new":
            just_now = policy if request.is_first else None
            this = Try(
                request=request, confirmation=confirmation, rows=rows, held=held, policy=just_now
            )
            result = _try_new(this)
    return result


def _try_new(this: Try) -> ActionResult:
    try:
        return _try(this)
    except ledger.AlreadyRecorded:
        if not this.request.is_first:
            raise
    return _go_on(replace(this.request, is_first=False), this.confirmation)  # it was not


def _try(this: Try) -> ActionResult:
    """Facts, decision, and the step that follows from it."""
    request = this.request
    with telemetry.span("decide", "action") as note:
        judgement = judge(request, claim=partial(_count, this), snapshot=this.policy)
        step, judgement = this.next_step(judgement, now=timezone.now())
        note(ending=step, reason=judgement.decision.reason)
    if step != "wait":
        judgement = shadow.beside(request, judgement)
        _keep_policy(judgement, tenant_id=request.account.organisation_id)
    match step:
        case "wait":
            result = held_sends.postponed(request, judgement.decision)
        case "refuse":
            result = _refuse(this, judgement)
        case "close":
            result = settling.close(_begin(this, judgement), status="noop", reason="already_so")
        case "ask":
            result = _ask(this, judgement)
        case "hold":
            word = this.confirmation.as_word() if this.confirmation else {}
            is_recorded = steps.was_held(this.rows)
            result = held_sends.create(request, judgement, word=word, is_recorded=is_recorded)
        case "perform":
            result = _perform(this, judgement, this.attempt_no)
    return result


def _count(this: Try, judgement: Judgement, use: Use, now: datetime) -> None:
    """What the account's rates count of this: actions that go on to the provider, and
    questions to a person."""
    step, _ = this.next_step(judgement, now=now)
    if step == "ask":
        usage.note_ask(use, request=this.request, now=now)
    elif step in ("hold", "perform"):
        usage.note(use, request=this.request, now=now)


def _keep_policy(judgement: Judgement, *, tenant_id: UUID) -> None:
    """Under its digest, if it is not there, so that the decision can be made again."""
    if judgement.policy is not None:
        policies.store(
            tenant_id=tenant_id, digest=judgement.policy.digest, body=judgement.policy.canonical
        )


def _append(entry: Entry) -> ActionResult:
    ledger.append(entry)
    return outcomes.result(entry)


def _refuse(this: Try, judgement: Judgement) -> ActionResult:
    request, now = this.request, timezone.now()
    if not judgement.description:
        judgement = replace(judgement, description=wanted.describe(request, judgement))
    return _append(entries.blocked(request, judgement, attempt_no=this.attempt_no, now=now))


def _ask(this: Try, judgement: Judgement) -> ActionResult:
    request, now = this.request, timezone.now()
    approval = approval_requests.open_approval(request, judgement=judgement, now=now)
    if isinstance(approval, str):
        decision = steps.refused(judgement.decision, approval)
        return _refuse(this, replace(judgement, decision=decision))
    if other := approval_requests.waiting_as(approval, request):
        return other
    ledger.append(entries.waiting(request, judgement, approval_id=approval, now=now))
    return approval_requests.result(request)


def _begin(
    this: Try, judgement: Judgement, *, attempt_no: int | None = None, credential: str = ""
) -> Entry:
    """Commits the attempt; `credential` is a fingerprint of what it is carried out with, and is
    kept under the organisation's key. Raises AlreadyRecorded when another process has begun it.
    """
    request, word = this.request, this.confirmation
    entry = entries.attempt(
        request,
        judgement,
        attempt_no=attempt_no or this.attempt_no,
        approval_id=str(word.approval_id) if word else "",
        approved_by=word.decided_by if word else "",
        proof=outcomes.proof(request.account, judgement),
        credential_ref=digest(request.account.organisation_id, credential) if credential else "",
        now=timezone.now(),
    )
    ledger.append(entry)
    return entry


def _perform(this: Try, judgement: Judgement, attempt_no: int) -> ActionResult:
    """The provider call, between its two ledger rows."""
    request, decision, action = this.request, judgement.decision, judgement.action
    if action is None:
        raise ValueError("a refusal performs nothing")
    filed: tuple[str, ...] = ()
    if this.confirmation is None and judgement.arguments is not None:
        own_mail.note(request, action, judgement.arguments, decision)
        filed = own_mail.list_filed(action, judgement.arguments, decision, judgement.facts)
    unasked = None if this.confirmation else decision.unasked
    draft_rows.note(request, action, judgement.arguments, judgement.facts, unasked=unasked)
    writer = writes.writer(request.account)
    try:
        attempt = _begin(this, judgement, attempt_no=attempt_no, credential=writer.credential)
    except ledger.AlreadyRecorded:
        return outcomes.result(recorded(request.action_id)[-1])
    # Asked again now that the attempt is committed: whatever stops it after this sees it.
    present = stops.read_stops(
        account_id=request.account.id,
        action_id=request.action_id,
        action_type=request.action_type,
        allowed_action_id=decision.rule_id,
        effects=decision.effects,
        filed=filed,
    )
    needs_none = bool(request.origin.undoes) or action.is_upkeep
    if stopped := why_stopped(present, undoes=needs_none, while_paused=action.ends_upkeep):
        return settling.close(attempt, status="failed", reason=stopped, stopped=True)
    release_connections()
    started = time.monotonic()
    call = Call(
        key=attempt.idempotency_key,
        removals=decision.removals,
        revision=judgement.facts.revision if judgement.facts else None,
        unasked=unasked,
    )
    name, source = request.account.provider, request.account.source
    try:
        with telemetry.span("call_provider", name, action=action.name, source=source):
            answer = action.perform(writer, judgement.arguments, call)
    except ProviderError as error:
        log.warning("guardrails.call_failed action=%s code=%s", request.action_id, error.code)
        attempt = replace(attempt, provider_request_id=writer.request_id)
        settled = settling.settle(attempt, request.account, error)
        return settled or _perform(this, judgement, attempt_no + 1)
    latency_ms = round((time.monotonic() - started) * 1000)
    attempt = replace(attempt, provider_request_id=writer.request_id)
    return settling.succeeded(attempt, answer, latency_ms=latency_ms)
