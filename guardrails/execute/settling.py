"""How an attempt ends: by the provider's answer, or by asking the provider what it did.

Nothing is performed here. Every end is a row in the ledger. Only a proof that nothing was done may
lead to another attempt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.utils import timezone

from audit.contracts import Entry, Recorded
from audit.ledger import ledger
from audit.ledger.ids import uuid7
from audit.ledger.selectors import about_ledger
from guardrails.actions import registry
from guardrails.contracts import ActionResult
from guardrails.decide.steps import INTERRUPTED
from guardrails.execute import draft_rows, outcomes
from guardrails.facts.reasons import sentence
from guardrails.gather import own_mail
from integrations.accounts import reads
from integrations.contracts import AccountRef
from integrations.database.pools import release_connections
from integrations.exceptions import ProviderError
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.ports.registry import BY_SOURCE

MAX_ATTEMPTS = 3
CANNOT_TELL, UNRESOLVED = "cannot_tell", "unresolved"
# A row that asks a person to find out what was done (guardrails.comply.incidents).
INCIDENT = "ledger.incident"


def close(attempt: Entry, *, reason: str, **fields: Any) -> ActionResult:
    """Commits the outcome. If somebody closed the attempt before, that outcome counts and
    this one is kept as a remark."""
    entry = outcomes.closed(attempt, reason=reason, now=timezone.now(), **fields)
    try:
        ledger.append(entry)
    except ledger.AlreadyRecorded:
        ledger.append(outcomes.late(entry))
    else:
        if entry.status == "failed":
            own_mail.take_back(entry.action_id)
            draft_rows.drop(attempt)
    return outcomes.result(entry)


def succeeded(
    attempt: Entry,
    answer: Any,
    *,
    latency_ms: int | None = None,
    performed_at: datetime | None = None,
) -> ActionResult:
    """The provider did it: this is its answer, or its record of the operation and of when."""
    at = {"performed_at": performed_at.isoformat()} if performed_at else {}
    draft_rows.name(attempt, answer)
    result, artifacts = outcomes.outcome(attempt, answer)
    done = close(
        attempt,
        status="succeeded",
        reason="performed",
        payload={
            "result": result,
            **outcomes.state_of(answer),
            **outcomes.taking_back(attempt, answer),
            **at,
        },
        artifacts=artifacts,
        latency_ms=latency_ms,
    )
    return replace(done, left=answer) if isinstance(answer, Mapping) else done


def recover(
    attempt: Recorded, account: AccountRef | None, *, is_left: bool, give_up: bool
) -> ActionResult | None:
    """Close an open attempt as the provider says it went; never performs anything. One that came to
    nothing is left open where a further attempt may follow, until it `is_left` by its caller: then
    it is closed as interrupted, behind which a further one may follow still. With `give_up` an
    attempt of which nobody can be asked is closed as unknown, and one of which the provider cannot
    tell becomes a question to a person; without, both are left open and the answer is None. Raises
    ProviderError."""
    found = _evidence(account, attempt.idempotency_key) if account else None
    entry = outcomes.reopened(attempt, actor_type="recovery")
    if isinstance(found, Performed):
        return succeeded(entry, found.response, performed_at=found.at)
    if account and isinstance(found, NotPerformed):
        is_repeatable = _is_repeatable(entry, account)
        if is_repeatable and not is_left:
            return None
        may_follow = is_repeatable and attempt.attempt_no < MAX_ATTEMPTS
        return close(
            entry,
            status="failed",
            reason=INTERRUPTED if may_follow else outcomes.failure(None),
            error_code=INTERRUPTED,
            payload={"proved_by": found.proof},
        )
    if give_up:
        if isinstance(found, CannotTell) and not _is_asked(attempt):
            ledger.append(_unresolved(entry, now=timezone.now()))
        return close(entry, status="unknown", reason=UNRESOLVED)
    if isinstance(found, CannotTell):
        _note(entry, found)
    return None


def settle(
    attempt: Entry,
    account: AccountRef,
    error: ProviderError | None = None,
    *,
    phases: Sequence[Recorded] = (),
) -> ActionResult | None:
    """What became of an attempt whose call failed (`error`) or whose process died. Whatever
    the error says, the provider is asked, but not before the time that it named in `phases`.
    None: nothing happened, the next attempt may begin."""
    uncertain = error is None or error.outcome_unknown
    named = asked_again_at(phases, attempt.attempt_no)
    if named is not None and timezone.now() < named:
        return outcomes.result(attempt)
    try:
        found = _evidence(account, attempt.idempotency_key)
    except ProviderError:
        found = CannotTell(ask_again_at=None)
    if isinstance(found, Performed):
        return succeeded(attempt, found.response, performed_at=found.at)
    if isinstance(found, CannotTell) and uncertain:
        _note(attempt, found)
        return outcomes.result(attempt)  # stays open; recovery asks again
    code = error.code if error else INTERRUPTED
    proof = {"proved_by": found.proof} if isinstance(found, NotPerformed) else {}
    if uncertain and attempt.attempt_no < MAX_ATTEMPTS and _is_repeatable(attempt, account):
        close(
            attempt,
            status="failed",
            reason=INTERRUPTED,
            error_code=code,
            payload=proof,
        )
        return None
    return close(
        attempt,
        status="failed",
        reason=outcomes.failure(error),
        error_code=code,
        payload=outcomes.explained(error) | proof,
    )


def asked_again_at(phases: Sequence[Recorded], attempt_no: int) -> datetime | None:
    """When the provider said that it may be asked again about this attempt. None: it did not."""
    named = (
        phase.payload.get("ask_again_at")
        for phase in reversed(phases)
        if phase.decision_reason == CANNOT_TELL and phase.attempt_no == attempt_no
    )
    found = next(named, None)
    return datetime.fromisoformat(found) if isinstance(found, str) else None


def _is_repeatable(attempt: Entry, account: AccountRef) -> bool:
    """Whether a second call would be harmless, should the proof be wrong after all."""
    action, connector = registry.BY_NAME.get(attempt.action_type), BY_SOURCE.get(account.source)
    if action is None or connector is None:
        return False
    return connector.capabilities.repeat_of(action.operation) != "never"


def _evidence(account: AccountRef, key: str) -> Evidence:
    release_connections()
    return reads.reader(account).evidence(key)


def _note(attempt: Entry, found: CannotTell) -> None:
    """Keeps when the provider may be asked again, where it named a time."""
    if found.ask_again_at is not None:
        now = timezone.now()
        ledger.append(_asked(attempt, ask_again_at=found.ask_again_at, now=now))


def _asked(attempt: Entry, *, ask_again_at: datetime, now: datetime) -> Entry:
    """A remark: the provider could not tell yet, and when it is asked again."""
    return replace(
        attempt,
        phase="control",
        status="recorded",
        decision_reason=CANNOT_TELL,
        occurred_at=now,
        payload={"sentence": sentence(CANNOT_TELL), "ask_again_at": ask_again_at.isoformat()},
    )


def _is_asked(attempt: Recorded) -> bool:
    """Whether a person is asked already: a crash may have come before the outcome."""
    asked = about_ledger(attempt.tenant_id, INCIDENT, since=attempt.recorded_at, limit=1000)
    return any(row.parent_action_id == attempt.action_id for row in asked)


def _unresolved(attempt: Entry, *, now: datetime) -> Entry:
    """A question to a person: what became of this attempt, which nobody could tell."""
    return Entry(
        tenant_id=attempt.tenant_id,
        action_id=uuid7(),
        phase="control",
        status="failed",
        action_type=INCIDENT,
        occurred_at=now,
        account_id=attempt.account_id,
        actor_type="system",
        on_behalf_of=attempt.on_behalf_of,
        trigger="system",
        provider=attempt.provider,
        decision_reason=UNRESOLVED,
        error_code=UNRESOLVED,
        parent_action_id=attempt.action_id,
        payload={
            "sentence": sentence(UNRESOLVED),
            "mark": f"{attempt.account_id} {UNRESOLVED} {attempt.action_id}",
            "account": attempt.on_behalf_of,
            "change": None,
            "action_type": attempt.action_type,
        },
    )
