"""What the executor tells the ledger of a request: decided, attempted, refused, waiting.

Names, addresses, texts and provider ids go into the payload, which can be erased one day;
the rest of an entry is codes and ids.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from audit.contracts import ActorType, Entry, Status
from guardrails.actions import registry
from guardrails.actions.base import InvalidArguments
from guardrails.contracts import ActionRequest, Decision, Origin
from guardrails.facts.reasons import sentence
from guardrails.gather.judgement import Judgement
from integrations.llm import telemetry

PROPOSED_SHOWN = 4000


def fingerprint(request: ActionRequest) -> str:
    """Equal for equal requests: whose, what, and the arguments."""
    parts = f"{request.account.id} {request.action_type} {as_text(request.arguments)}"
    return hashlib.sha256(parts.encode()).hexdigest()


def as_text(arguments: Mapping[str, Any]) -> str:
    """Any arguments as ASCII text, however broken they are."""
    try:
        return json.dumps(dict(arguments), sort_keys=True, default=str)
    except (TypeError, ValueError, RecursionError):
        return "(arguments that cannot be written down)"


def attempt(
    request: ActionRequest,
    judgement: Judgement,
    *,
    attempt_no: int,
    approval_id: str,
    approved_by: str,
    credential_ref: str,
    proof: Mapping[str, str],
    now: datetime,
) -> Entry:
    """The row that is committed before the provider is called. Every attempt of an action
    has the same idempotency key, so that the provider acts once. `proof` says what the provider
    will be able to prove about it."""
    return _entry(
        request,
        now=now,
        phase="attempt",
        status="pending",
        attempt_no=attempt_no,
        decision="approved" if approval_id else "allowed",
        approval_id=approval_id,
        approved_by=approved_by,
        idempotency_key=f"remit-{request.action_id}",
        credential_ref=credential_ref,
        payload=_evidence(judgement) | {"proof": dict(proof)},
        **_grounds(judgement.decision),
    )


def blocked(
    request: ActionRequest, judgement: Judgement, *, attempt_no: int, now: datetime
) -> Entry:
    return _entry(
        request,
        now=now,
        phase="blocked",
        status="blocked",
        attempt_no=attempt_no,
        decision="blocked",
        payload=_evidence(judgement),
        **_grounds(judgement.decision),
    )


def waiting(
    request: ActionRequest, judgement: Judgement, *, approval_id: UUID, now: datetime
) -> Entry:
    return _entry(
        request,
        now=now,
        phase="control",
        status="waiting",
        approval_id=str(approval_id),
        payload=_evidence(judgement) | {"digest": judgement.digest},
        **_grounds(judgement.decision),
    )


def held(
    request: ActionRequest,
    judgement: Judgement,
    *,
    until: datetime,
    notice: str,
    approval_id: str,
    approved_by: str,
    now: datetime,
) -> Entry:
    """A remark that a permitted action waits, and until when it can be recalled."""
    return _entry(
        request,
        now=now,
        phase="control",
        status="waiting",
        decision="approved" if approval_id else "allowed",
        approval_id=approval_id,
        approved_by=approved_by,
        payload=_evidence(judgement) | {"sentence": notice, "held_until": until.isoformat()},
        **(_grounds(judgement.decision) | {"decision_reason": "held"}),
    )


def reused(request: ActionRequest, *, now: datetime) -> Entry:
    """A remark that this action id was used for another request."""
    return _entry(
        request,
        now=now,
        phase="control",
        status="recorded",
        decision="blocked",
        decision_reason="action_id_reused",
        payload={"sentence": sentence("action_id_reused")},
    )


def decided(
    request: ActionRequest,
    *,
    status: Status,
    reason: str,
    approval_id: UUID | str,
    decided_by: str,
    actor_type: ActorType,
    payload: Mapping[str, Any],
    now: datetime,
) -> Entry:
    """What a person, or the clock, made of an approval. Handing it on decides nothing."""
    approved = reason == "approved"
    return _entry(
        request,
        now=now,
        phase="control",
        status=status,
        decision="approved" if approved else "blocked" if status == "denied" else "none",
        decision_reason=reason,
        approval_id=str(approval_id),
        approved_by=decided_by if approved else "",
        actor_type=actor_type,
        actor_id=decided_by,
        payload={"sentence": sentence(reason), **payload},
    )


def _actor_type(request: ActionRequest) -> ActorType:
    action, origin = registry.BY_NAME.get(request.action_type), request.origin
    if action is not None and action.is_upkeep:
        return "system"
    if origin.trigger != "operator":
        return "agent"
    return "admin" if origin.actor.startswith("operator:") else "user"


def _entry(request: ActionRequest, *, payload: Mapping[str, Any], **fields: Any) -> Entry:
    account, origin = request.account, request.origin
    action = registry.BY_NAME.get(request.action_type)
    subjects, arguments = _what(request)
    parent = origin.revises or origin.undoes
    defaults = {
        "tenant_id": account.organisation_id,
        "account_id": account.id,
        "action_id": request.action_id,
        "action_type": request.action_type,
        "occurred_at": fields.pop("now"),
        "actor_type": _actor_type(request),
        "actor_id": origin.actor,
        "on_behalf_of": account.external_user_id,
        "agent_id": origin.agent,
        "agent_version": origin.agent_version,
        "model_id": origin.model,
        "skill_ref": origin.skill,
        "pattern_id": origin.pattern_id,
        "trigger": origin.trigger,
        "run_id": origin.turn_id,
        "trace_id": telemetry.trace_id(),
        "parent_action_id": UUID(parent) if parent else None,
        "provider": account.source,
        "resource_type": action.resource_type if action else "",
        **subjects,
    }
    content = {
        "request": fingerprint(request),
        **arguments,
        **({"agent_said": origin.reason} if origin.reason else {}),
        **_revision(origin),
        **payload,
    }
    return Entry(**{**defaults, **fields, "payload": content})


def _revision(origin: Origin) -> dict[str, Any]:
    """What ran is recorded with what was proposed beside it."""
    if not origin.revises:
        return {}
    found: dict[str, Any] = {
        "proposed_by_agent": dict(origin.proposed),
        "edited_by": origin.edited_by,
    }
    return found | ({"edited_as": origin.edited_as} if origin.edited_as else {})


def _what(request: ActionRequest) -> tuple[dict[str, str], dict[str, Any]]:
    """The object and first target, and the arguments for the payload. Arguments that break
    the schema are kept as text, cut: they could be anything."""
    action = registry.BY_NAME.get(request.action_type)
    try:
        arguments = action.parse(request.arguments) if action else None
    except InvalidArguments:
        arguments = None
    if action is None or arguments is None:
        return {}, {"arguments": {}, "proposed": as_text(request.arguments)[:PROPOSED_SHOWN]}
    targets = action.targets(arguments)
    subjects = {
        "resource_id": action.object_id(arguments) or "",
        "target_id": targets[0].value if targets else "",
    }
    return subjects, {"arguments": arguments.canonical()}


def _grounds(decision: Decision) -> dict[str, str]:
    return {
        "decision_reason": decision.reason,
        "policy_digest": decision.policy_digest,
        "target_group_id": decision.target_group_id,
    }


def _evidence(judgement: Judgement) -> dict[str, Any]:
    """The decision with every check, and what it was decided on."""
    found: dict[str, Any] = {
        "decision": judgement.decision.plain(),
        "sentence": judgement.decision.sentence,
    }
    if judgement.grounds:
        found["decided_on"] = dict(judgement.grounds)
    if judgement.shadow:
        found["shadow"] = dict(judgement.shadow)
    if judgement.description:
        found["description"] = judgement.description
    if judgement.undo:
        found["undo"] = judgement.undo
    if judgement.inverse:
        found["inverse"] = asdict(judgement.inverse)
    return found
