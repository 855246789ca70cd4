"""How an attempt ended: the row that says so, and the result that is read from it."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from audit.contracts import ActorType, Artifact, Entry, Recorded, Status
from guardrails.actions import registry
from guardrails.actions.base import InvalidArguments, Outcome
from guardrails.contracts import ActionResult, Ambiguity, ResultStatus
from guardrails.facts.reasons import can_be_asked_for, sentence
from guardrails.gather.judgement import Judgement
from integrations.contracts import AccountRef
from integrations.contracts.field_types import Instant
from integrations.exceptions import Changed, Full, ProviderError, TooLate
from integrations.ports.registry import BY_SOURCE

# What an outcome repeats of its attempt.
COPIED = ("request", "arguments", "description", "inverse", "proposed_by_agent")
INSTANT: TypeAdapter[Instant] = TypeAdapter(Instant)
RESULT_OF: Mapping[Status, ResultStatus] = {
    "succeeded": "succeeded",
    "noop": "noop",
    "failed": "failed",
    "denied": "refused",
}


def closed(
    attempt: Entry,
    *,
    status: Status,
    reason: str,
    now: datetime,
    payload: Mapping[str, Any] | None = None,
    artifacts: tuple[Artifact, ...] = (),
    error_code: str = "",
    latency_ms: int | None = None,
    stopped: bool = False,
) -> Entry:
    """The outcome of this attempt. `stopped` says that our own switch ended it."""
    copied = {name: attempt.payload[name] for name in COPIED if name in attempt.payload}
    return replace(
        attempt,
        phase="outcome",
        status=status,
        decision="blocked" if stopped else attempt.decision,
        decision_reason=reason,
        occurred_at=now,
        error_code=error_code,
        latency_ms=latency_ms,
        artifacts=artifacts,
        payload={**copied, "sentence": sentence(reason), **(payload or {})},
    )


def late(outcome: Entry) -> Entry:
    """A remark: this outcome was found when the attempt had been closed already."""
    payload = {**outcome.payload, "late_outcome": outcome.status}
    return replace(outcome, phase="control", status="recorded", payload=payload)


def reopened(recorded: Recorded, *, actor_type: ActorType | None = None) -> Entry:
    """The entry of a recorded attempt, to be closed."""
    names = Entry.__dataclass_fields__.keys() & Recorded.__dataclass_fields__.keys()
    entry = Entry(**{name: getattr(recorded, name) for name in names})
    return replace(entry, actor_type=actor_type) if actor_type else entry


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
        can_be_asked_for=status == "refused"
        and can_be_asked_for(trigger=phase.trigger, reason=reason),
        ambiguity=_ambiguity(phase.payload.get("decision")),
    )


def _ambiguity(decision: object) -> Ambiguity | None:
    said = decision.get("ambiguity") if isinstance(decision, Mapping) else None
    return Ambiguity(name=said["name"], people=tuple(said["people"])) if said else None


def outcome(attempt: Entry, answer: object) -> Outcome:
    """Result and artifacts from the provider's answer, or from its record of the operation."""
    action = registry.BY_NAME.get(attempt.action_type)
    answer = {} if answer is None else answer  # what was deleted leaves nothing to tell
    if action is None or not isinstance(answer, Mapping):
        return {}, ()
    try:
        arguments = action.parse(attempt.payload.get("arguments", {}))
    except InvalidArguments:
        return {}, ()  # the payload was erased
    result, artifacts = action.outcome(arguments, answer)
    unasked = None if attempt.approval_id else attempt.payload.get("decision", {}).get("unasked")
    result |= {name: list(found) for name, found in (unasked or {}).items() if found}
    return result, tuple(replace(one, provider=attempt.provider) for one in artifacts)


def taking_back(attempt: Entry, answer: object) -> dict[str, Any]:
    """How it is taken back, where only the provider's answer tells."""
    action = registry.BY_NAME.get(attempt.action_type)
    found = action.inverse_of(answer) if action and isinstance(answer, Mapping) else None
    return {"undo": found[0], "inverse": asdict(found[1])} if found else {}


def failure(error: ProviderError | None) -> str:
    """The reason of a call that came to nothing."""
    if error is None or error.retryable:
        return "provider_unavailable"
    if isinstance(error, Full):
        return "no_room"
    if isinstance(error, TooLate):
        return "too_late"
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


def state_of(answer: Any) -> dict[str, str]:
    """The revision the object has now and when its text was changed last, where the provider
    says so."""
    if not isinstance(answer, Mapping):
        return {}
    found = {}
    if isinstance(revision := answer.get("revision"), str):
        found["revision"] = revision
    with suppress(ValidationError):
        found["modified_at"] = INSTANT.validate_python(answer.get("modified_at")).isoformat()
    return found


def _approval(text: str) -> UUID | None:
    """None for what is no id: one odd row must not keep recovery from all others."""
    try:
        return UUID(text)
    except ValueError:
        return None
