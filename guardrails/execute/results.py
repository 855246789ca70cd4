"""What the ledger tells the executor: how far an action got, and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from audit.contracts import Entry, Recorded, Status
from guardrails.actions import registry
from guardrails.actions.base import Outcome
from guardrails.contracts import ActionRequest, ActionResult, ResultStatus
from guardrails.execute.entries import INTERRUPTED, fingerprint
from guardrails.facts.reasons import sentence
from guardrails.gather.judgement import Judgement
from integrations.contracts import AccountRef
from integrations.exceptions import Changed, ProviderError
from integrations.registry import BY_SOURCE

RESULT_OF: Mapping[Status, ResultStatus] = {
    "succeeded": "succeeded",
    "noop": "noop",
    "failed": "failed",
    "denied": "refused",
}


def same_request(request: ActionRequest, phases: Sequence[Recorded]) -> bool:
    """Whether the ledger knows this action id for this very request. Remarks of requests
    that were turned away for their id don't count."""
    expected = fingerprint(request)
    return all(
        phase.account_id == request.account.id
        and phase.action_type == request.action_type
        and phase.payload.get("request", expected) == expected
        for phase in phases
        if phase.decision_reason != "action_id_reused"
    )


def last_word(phases: Sequence[Recorded]) -> Recorded | None:
    """The phase that says how far the action got; None when nothing was tried yet."""
    return next(
        (
            phase
            for phase in reversed(phases)
            if phase.phase in ("attempt", "outcome", "blocked") or phase.status == "denied"
        ),
        None,
    )


def is_final(phase: Recorded) -> bool:
    return phase.phase != "attempt" and phase.decision_reason != INTERRUPTED


def result(phase: Entry | Recorded) -> ActionResult:
    """What became of an action, by its last phase. An attempt without an outcome is unknown."""
    status = "refused" if phase.decision == "blocked" else RESULT_OF.get(phase.status, "unknown")
    is_open = phase.phase == "attempt"
    reason = "outcome_unknown" if is_open else phase.decision_reason
    return ActionResult(
        status=status,
        action_id=phase.action_id,
        action_type=phase.action_type,
        description=str(phase.payload.get("description", "")),
        arguments=phase.payload.get("arguments", {}),
        reason=reason,
        sentence=sentence(reason) if is_open else str(phase.payload.get("sentence", "")),
        approval_id=_approval(phase.approval_id),
        result=phase.payload.get("result", {}),
        artifacts=phase.artifacts,
        proposed=phase.payload.get("proposed_by_agent", {}),
    )


def outcome(attempt: Entry, answer: object) -> Outcome:
    """Result and artifacts from the provider's answer, or from its record of the operation."""
    action = registry.BY_NAME.get(attempt.action_type)
    answer = {} if answer is None else answer  # what was deleted leaves nothing to tell
    if action is None or not isinstance(answer, Mapping):
        return {}, ()
    try:
        arguments = registry.parse(action, attempt.payload.get("arguments", {}))
    except registry.InvalidArguments:
        return {}, ()  # the payload was erased
    result, artifacts = action.outcome(arguments, answer)
    return result, tuple(replace(one, provider=attempt.provider) for one in artifacts)


def failure(error: ProviderError | None) -> str:
    """The reason of a call that came to nothing."""
    if error is None or error.retryable:
        return "provider_unavailable"
    return "changed_meanwhile" if isinstance(error, Changed) else "provider_refused"


def explained(error: ProviderError | None) -> dict[str, Any]:
    """What the provider itself says about a call that came to nothing, as its result."""
    return {"result": {"said": error.said}} if error and error.said else {}


def proof(account: AccountRef, judgement: Judgement) -> dict[str, str]:
    """What the provider will be able to prove about an attempt: its grade (A to D), what makes a
    second call harmless, and who sees to it that the object is the one that was decided on. A
    read before a write is no precondition."""
    capabilities, action = BY_SOURCE[account.source].capabilities, judgement.action
    decided_on = judgement.facts.revision if judgement.facts else None
    found = "by_provider" if capabilities.conditional_write else "read_before"
    return {
        "grade": capabilities.grade,
        "repeat": capabilities.repeat_of(action.operation) if action else "never",
        "precondition": found if decided_on else "none",
    }


def revision_of(answer: Any) -> dict[str, str]:
    """The revision the object has now, where the provider says so."""
    revision = answer.get("revision") if isinstance(answer, Mapping) else None
    return {"revision": revision} if isinstance(revision, str) else {}


def _approval(text: str) -> UUID | None:
    """None for what is no id: one odd row must not keep recovery from all others."""
    try:
        return UUID(text)
    except ValueError:
        return None
