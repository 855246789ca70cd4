"""The only door to provider writes.

`execute` decides, commits the attempt to the ledger, calls the provider under an idempotency
key, and commits the outcome. Neither a transaction nor a pooled database connection is held
while the provider is asked.
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

from audit.contracts import Entry
from audit.ledger import ledger
from audit.ledger.provider_side import digest
from audit.ledger.selectors import recorded
from guardrails.actions.base import Call
from guardrails.contracts import ActionRequest, ActionResult, Decision
from guardrails.execute import (
    ask as asks,
    entries,
    held_sends,
    policy_versions,
    results,
    settling,
)
from guardrails.facts.counts import Use
from guardrails.gather import own_mail, stops, usage
from guardrails.gather.judgement import Judgement, canonical, judge, refused
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.policies import shadow
from integrations import writes
from integrations.database.pools import release_connections
from integrations.exceptions import ProviderError

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
        """As a hold keeps it."""
        return {
            "approval_id": str(self.approval_id),
            "decided_by": self.decided_by,
            "digest": self.digest,
        }

    @classmethod
    def of_word(cls, word: Mapping[str, str]) -> Self:
        """What a hold kept."""
        return cls(
            approval_id=UUID(word["approval_id"]),
            decided_by=word["decided_by"],
            digest=word["digest"],
        )


def execute(request: ActionRequest, confirmation: Confirmation | None = None) -> ActionResult:
    """Do what is asked if the policy permits it, and say what became of it.

    Idempotent by `request.action_id`: a request that ran gives its result again, one that
    was interrupted is settled with the provider first, and the provider acts at most once.
    `confirmation` comes from `guardrails.approve.approvals` alone.

    Expected outcomes are values. Raises audit.contracts.LedgerError when the ledger cannot be
    written: then nothing was done, or an open attempt says that it may have been. Raises
    RuntimeError inside a transaction.
    """
    if any(connection.in_atomic_block for connection in connections.all(initialized_only=True)):
        raise RuntimeError("Call execute() outside of transactions: it calls a provider.")
    with one_at_a_time(request.action_id):
        return _run(canonical(request), confirmation)


@contextmanager
def one_at_a_time(action_id: UUID) -> Iterator[None]:
    """Threads of one process take turns on one action; the second finds the first's outcome.
    Between processes the ledger's unique attempts and the idempotency key decide."""
    with _registering:
        lock = _running.setdefault(action_id, threading.RLock())
    with lock:
        yield


def _run(request: ActionRequest, confirmation: Confirmation | None) -> ActionResult:
    phases = recorded(request.action_id)
    if not results.same_request(request, phases):
        return _reused(request)
    last = results.last_word(phases)
    if last is not None and results.is_final(last):
        return results.result(last)
    if last is not None and last.phase == "attempt":
        settled = settling.settle(entries.reopened(last), request.account, phases=phases)
        if settled is not None:
            return settled
    held = any(phase.decision_reason == "held" for phase in phases)
    hold = held_sends.of(request.action_id) if held else None
    told = held_sends.result(hold) if hold else None
    if told is not None:
        return told
    asked = any(phase.status == "waiting" and phase.decision_reason != "held" for phase in phases)
    if confirmation is None and asked:
        return asks.waiting_result(request)
    attempt_no = last.attempt_no + 1 if last else 1
    judgement = judge(request, claim=partial(_count, request, confirmation))
    postponed = held_sends.postponed(hold, judgement) if hold else None
    if postponed is not None:
        return postponed
    judgement = shadow.beside(request, judgement)
    if judgement.policy is not None:
        policy_versions.keep(judgement.policy, tenant_id=request.account.organisation_id)
    if hold is None and _is_to_hold(judgement, confirmation):
        word = confirmation.as_word() if confirmation else {}
        return held_sends.begin(request, judgement, word=word, is_recorded=held)
    return _carry_out(request, judgement, confirmation, attempt_no)


def _count(
    request: ActionRequest,
    confirmation: Confirmation | None,
    judgement: Judgement,
    use: Use,
    now: datetime,
) -> None:
    """What the account's rates count of this: actions that go on to the provider, and
    questions to a person."""
    if judgement.nothing_to_do:
        return
    if confirmation is None and judgement.decision.verdict == "ask":
        usage.note_ask(use, request=request, now=now)
    elif confirmation is None or confirmation.digest == judgement.digest:
        usage.note(use, request=request, now=now)


def _carry_out(
    request: ActionRequest,
    judgement: Judgement,
    confirmation: Confirmation | None,
    attempt_no: int,
) -> ActionResult:
    if judgement.decision.verdict == "refuse":
        return _refuse(request, judgement, attempt_no)
    if judgement.nothing_to_do:
        attempt = _begin(request, judgement, confirmation, attempt_no)
        return settling.close(attempt, status="noop", reason="already_so")
    if confirmation is None and judgement.decision.verdict == "ask":
        return _ask(request, judgement, attempt_no)
    if confirmation is not None and confirmation.digest != judgement.digest:
        return _refuse(request, refused(judgement, "changed_since_asked"), attempt_no)
    return _perform(request, judgement, confirmation, attempt_no)


def _is_to_hold(judgement: Judgement, confirmation: Confirmation | None) -> bool:
    """Whether it would be done now, but for the time it is to be held."""
    if not judgement.decision.hold_seconds or judgement.nothing_to_do:
        return False
    if confirmation is None:
        return judgement.decision.verdict == "allow"
    return confirmation.digest == judgement.digest


def _refuse(request: ActionRequest, judgement: Judgement, attempt_no: int) -> ActionResult:
    entry = entries.blocked(request, judgement, attempt_no=attempt_no, now=timezone.now())
    ledger.append(entry)
    return results.result(entry)


def _reused(request: ActionRequest) -> ActionResult:
    """Another request has this id. Its rows stay as they are; this one leaves a remark."""
    entry = entries.reused(request, now=timezone.now())
    ledger.append(entry)
    return results.result(entry)


def _ask(request: ActionRequest, judgement: Judgement, attempt_no: int) -> ActionResult:
    now = timezone.now()
    try:
        approval_id = asks.open_approval(request, judgement=judgement, now=now)
    except asks.TooManyAsks:
        return _refuse(request, refused(judgement, "too_many_asks"), attempt_no)
    except asks.NoLongerWaiting:
        return _refuse(request, refused(judgement, "no_longer_waiting"), attempt_no)
    ledger.append(entries.waiting(request, judgement, approval_id=approval_id, now=now))
    return asks.waiting_result(request)


def _begin(
    request: ActionRequest,
    judgement: Judgement,
    confirmation: Confirmation | None,
    attempt_no: int,
    credential: str = "",
) -> Entry:
    """Commits the attempt; `credential` is a fingerprint of what it is carried out with, and is
    kept under the organisation's key. Raises AlreadyRecorded when another process has begun it.
    """
    entry = entries.attempt(
        request,
        judgement,
        attempt_no=attempt_no,
        approval_id=str(confirmation.approval_id) if confirmation else "",
        approved_by=confirmation.decided_by if confirmation else "",
        credential_ref=digest(request.account.organisation_id, credential) if credential else "",
        proof=results.proof(request.account, judgement),
        now=timezone.now(),
    )
    ledger.append(entry)
    return entry


def _perform(
    request: ActionRequest,
    judgement: Judgement,
    confirmation: Confirmation | None,
    attempt_no: int,
) -> ActionResult:
    """The provider call, between its two ledger rows."""
    decision, action = judgement.decision, judgement.action
    if confirmation is None and action is not None and judgement.arguments is not None:
        own_mail.note(request, action, judgement.arguments, decision)
    writer = writes.writer(request.account)
    try:
        attempt = _begin(request, judgement, confirmation, attempt_no, writer.credential)
    except ledger.AlreadyRecorded:
        return results.result(recorded(request.action_id)[-1])
    if action is None or not _is_still_permitted(request, decision):
        return settling.close(attempt, status="failed", reason=_why_not(request), stopped=True)
    release_connections()
    started = time.monotonic()
    try:
        answer = action.perform(
            writer,
            judgement.arguments,
            Call(
                key=attempt.idempotency_key,
                removals=decision.removals,
                revision=judgement.facts.revision if judgement.facts else None,
            ),
        )
    except ProviderError as error:
        log.warning("guardrails.call_failed action=%s code=%s", request.action_id, error.code)
        attempt = replace(attempt, provider_request_id=writer.request_id)
        settled = settling.settle(attempt, request.account, error)
        return settled or _perform(request, judgement, confirmation, attempt_no + 1)
    latency_ms = round((time.monotonic() - started) * 1000)
    attempt = replace(attempt, provider_request_id=writer.request_id)
    return settling.succeeded(attempt, answer, latency_ms=latency_ms)


def _is_still_permitted(request: ActionRequest, decision: Decision) -> bool:
    """Asked again after the attempt was committed. What a person takes back needs no
    permission of the agent, but no switch may be thrown by now."""
    if request.origin.undoes:
        return not stops.is_stopped(account_id=request.account.id, action_type=request.action_type)
    return stops.still_permitted(account_id=request.account.id, rule_id=decision.rule_id)


def _why_not(request: ActionRequest) -> str:
    """The reason of a refusal that came between the decision and the call."""
    switch = policy_snapshot(request.account).switch(request.action_type, request.account.source)
    return "switched_off" if switch else "paused"
