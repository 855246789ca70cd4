"""How an attempt ends: by the provider's answer, or by asking the provider what it did.

Nothing is performed here. Every end is a row in the ledger.
"""

from typing import Any

from django.utils import timezone

from audit.contracts import Entry, Recorded
from audit.ledger import ledger
from guardrails.contracts import ActionResult
from guardrails.decide.steps import INTERRUPTED
from guardrails.execute import outcomes
from guardrails.gather import own_mail
from integrations import reads
from integrations.contracts import AccountRef, Operation
from integrations.database.pools import release_connections
from integrations.exceptions import ProviderError

MAX_ATTEMPTS = 3


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
    return outcomes.result(entry)


def succeeded(attempt: Entry, answer: Any, *, latency_ms: int | None = None) -> ActionResult:
    """The provider did it: this is its answer, or its record of the operation."""
    result, artifacts = outcomes.outcome(attempt, answer)
    return close(
        attempt,
        status="succeeded",
        reason="performed",
        payload={"result": result, **outcomes.version_of(answer)},
        artifacts=artifacts,
        latency_ms=latency_ms,
    )


def recover(attempt: Recorded, account: AccountRef | None, *, give_up: bool) -> ActionResult | None:
    """Close an open attempt as the provider says it went; never performs anything. With
    `give_up` an attempt the provider knows nothing of is closed as unknown; without, it is
    left to the caller's retry and the answer is None. Raises ProviderError."""
    operation = _operation(account, attempt.idempotency_key) if account else None
    entry = outcomes.reopened(attempt, actor_type="recovery")
    if operation is not None:
        return succeeded(entry, operation.response)
    return close(entry, status="unknown", reason="unresolved") if give_up else None


def settle(
    attempt: Entry, account: AccountRef, error: ProviderError | None = None
) -> ActionResult | None:
    """What became of an attempt whose call failed (`error`) or whose process died. Whatever
    the error says, the provider is asked. None: nothing happened, the next attempt may begin."""
    uncertain = error is None or error.outcome_unknown
    try:
        operation = _operation(account, attempt.idempotency_key)
    except ProviderError:
        if uncertain:
            return outcomes.result(attempt)  # stays open; recovery asks again
        operation = None
    if operation is not None:
        return succeeded(attempt, operation.response)
    code = error.code if error else INTERRUPTED
    if uncertain and attempt.attempt_no < MAX_ATTEMPTS:
        close(attempt, status="failed", reason=INTERRUPTED, error_code=code)
        return None
    return close(
        attempt,
        status="failed",
        reason=outcomes.failure(error),
        error_code=code,
        payload=outcomes.explained(error),
    )


def _operation(account: AccountRef, key: str) -> Operation | None:
    """What the provider did under this key, or None."""
    release_connections()
    operation = reads.reader(account).operation(key)
    return operation if operation and operation.status < 300 else None
