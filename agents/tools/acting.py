"""From a model's wish to the guardrails: the only way any tool reaches an action."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.conf import settings

from agents.context import facts, people, results
from agents.contracts import SUGGESTIONS, ErrorCode, ToolResult, failure
from agents.tools.base import ToolContext
from guardrails.actions.registry import BY_NAME
from guardrails.contracts import ActionRequest, ActionResult, Origin
from guardrails.decide.snapshot import PolicySnapshot
from guardrails.execute import executor, trials
from guardrails.execute.approval_requests import WAITS_ALREADY
from guardrails.facts.reasons import NO_ROOM
from guardrails.facts.text import visible
from guardrails.policies.why import REMEDIES
from integrations.contracts import AccountRef
from knowledge.search import names

REPORTED = ("type", "description", "params", "proposed", "status", "result", "sentence")
# Refusals that another call may mend, or a later one; all others are final.
CODES: Mapping[str, ErrorCode] = {
    "invalid_arguments": "INVALID_INPUT",
    "object_unknown": "NOT_FOUND",
    "facts_unavailable": "NETWORK_ERROR",
    "counts_unavailable": "NETWORK_ERROR",
    "rate_exceeded": "RATE_LIMIT",
}
ASKING = (
    "The button “Ask for this” beside the refusal asks an operator to permit it. Only the user can "
    "press it."
)
DRAFT_INSTEAD = (
    "Write it with draft instead, where that is permitted, and say that it waits in the drafts and "
    "was not sent. Files do not go along."
)
WAITS = "Not done. It waits for the user's button."
MARKED = "Its subject says that nobody was asked about %s."
LEFT_OUT = "Its first line says that %s was left out of the receivers, because nobody was asked."
STATUS_WORDS = {
    "pending": "pending_confirmation",
    "held": "held",
    "succeeded": "executed",
    "noop": "already_so",
}


def act(
    context: ToolContext,
    *,
    action_type: str,
    params: Mapping[str, Any],
    number: int = 0,
    tighten: bool = False,
    reason: str = "",
    account_id: UUID | None = None,
    policy: PolicySnapshot | None = None,
) -> ActionResult:
    """Hand one action request to the guardrails. What came of it is kept with the call's result.
    `policy`: as `executor.execute`."""
    request = _request(
        context,
        action_type,
        params,
        action_id=context.action_id(number),
        tighten=tighten,
        reason=reason,
        account_id=account_id,
    )
    with context.acting:
        if context.trial:
            result = trials.pretend(request, trial=context.trial, draft=context.draft)
        else:
            result = executor.execute(request, policy=policy)
    context.acted.append(describe_result(result))
    if result.left:
        context.left.append(result.left)
    return result


def record_refused(context: ToolContext) -> None:
    """Have the guardrails refuse, and so record, a call that no tool took: of a name that nobody
    knows, or of an acting tool that was not let run. What is only written wrongly was asked of
    nobody yet, and stands among the turn's calls alone.

    The row's action type says that it was a tool's name: no action has such a name, so whatever
    a model calls it, nothing is carried out.
    """
    name = visible(context.call.name, limit=50).replace("\n", " ")
    said = {"tool": context.call.name, "arguments": context.call.arguments}
    request = _request(context, f"tool:{name}", said, action_id=context.action_id(0))
    if context.trial is None:
        executor.execute(request)


def _request(
    context: ToolContext,
    action_type: str,
    params: Mapping[str, Any],
    *,
    action_id: UUID,
    tighten: bool = False,
    reason: str = "",
    account_id: UUID | None = None,
) -> ActionRequest:
    action = BY_NAME.get(action_type)
    # An action that nobody knows, or that this turn has no account for, is still refused and
    # recorded by the guardrails: under the user's first account.
    chosen = action and people.find_account(context.person, action, params, account_id=account_id)
    account = chosen or context.person.accounts[0]
    return ActionRequest(
        action_id=action_id,
        account=account,
        action_type=action_type,
        arguments=params,
        origin=Origin(
            trigger=context.trigger,  # type: ignore[arg-type]  # set by turns and reactions
            turn_id=str(context.lease.turn_id),
            call_id=str(context.call.id),
            agent=context.agent,
            agent_version=context.agent_version,
            model=context.model,
            skill=context.skill,
            pattern_id=context.pattern_id,
            actor=context.principal,
            user_words=context.user_words,
            said_at=context.said_at.isoformat() if context.said_at else "",
            time_zone=context.person.time_zone if context.said_at else "",
            item_source_id=context.mail.email_id if context.mail else context.item_id,
            thread_id=context.mail.thread_id if context.mail else "",
            tighten=tighten,
            reason=reason,
        ),
        called=_called(context, account, action.object_field, params) if action else "",
        is_first=context.call.is_new,
    )


def _called(
    context: ToolContext, account: AccountRef, field: str | None, params: Mapping[str, Any]
) -> str:
    """What the object is called in the index. One query, none for the mail at hand."""
    object_id = params.get(field) if field else None
    if not isinstance(object_id, str):
        return ""
    if context.mail and context.mail.email_id == object_id:
        return context.mail.subject
    return names.find_title(account.id, object_id)


def describe_result(result: ActionResult) -> dict[str, Any]:
    """An action as clients and models see it. A pending one is named by its approval."""
    return {
        "id": str(result.approval_id or result.action_id),
        "action_id": str(result.action_id),
        "type": result.action_type,
        "description": result.description or title_of(result.action_type),
        "params": dict(result.arguments),
        **({"proposed": dict(result.proposed)} if result.proposed else {}),
        **({"handled": result.handled} if result.handled else {}),
        "status": result.status,
        "reason": result.reason,
        "sentence": result.sentence,
        "can_be_asked_for": result.can_be_asked_for,
        "held_send_id": str(result.held_send_id or ""),
        "held_until": result.held_until.isoformat() if result.held_until else None,
        "result": dict(result.result),
        "artifacts": [
            {"kind": a.kind, "provider": a.provider, "id": a.external_id, "url": a.url}
            for a in result.artifacts
        ],
    }


def describe_action(action: Mapping[str, Any]) -> dict[str, Any]:
    """What the model is given of an action that a person has decided about: what ran, and what it
    had proposed instead. Marked where strangers wrote of it, and cut to size."""
    reported = {key: action[key] for key in REPORTED if key in action}
    result = results.bound_result(reported["result"], max_bytes=settings.RESULT_MAX_BYTES)
    mark = {"untrusted": True} if reports_outcome(action["type"]) and result else {}
    return {**mark, **reported, "result": result}


def _unasked(result: Mapping[str, Any]) -> str:
    """What was done to a draft because of receivers about whom nobody was asked."""
    said = [
        (MARKED, result.get("marked")),
        (LEFT_OUT, result.get("left_out")),
    ]
    return " ".join(words % ", ".join(people) for words, people in said if people)


def reports_outcome(action_type: str) -> bool:
    """Whether the result of such an action is text that strangers wrote."""
    action = BY_NAME.get(action_type)
    return action is not None and action.tells


def title_of(action_type: str) -> str:
    """What an action is called where nothing more is known of it."""
    action = BY_NAME.get(action_type)
    return action.title if action else f"Unknown action: {visible(action_type, limit=80)}"


def to_observation(result: ActionResult) -> ToolResult:
    """What the model is given of one action."""
    if result.reason in NO_ROOM:
        # About other things a person may still be asked.
        suspends = result.reason != "too_many_asks_about_it"
        return replace(failure("TOO_MANY_ASKS", result.sentence), suspends=suspends)
    if result.status == "refused":
        code = CODES.get(result.reason, "PERMISSION_DENIED")
        if result.action_type not in BY_NAME:
            code = "NOT_FOUND"
        remedy = REMEDIES.get(result.reason, "") if code == "PERMISSION_DENIED" else ""
        if result.reason == "draft_only":
            remedy = DRAFT_INSTEAD
        asking = ASKING if result.can_be_asked_for else ""
        refused = failure(
            code,
            result.sentence,
            recoverable=code != "PERMISSION_DENIED",
            suggested_action=" ".join(filter(None, (SUGGESTIONS[code], remedy, asking))),
        )
        unclear = result.ambiguity
        return replace(refused, ambiguity=unclear._asdict()) if unclear else refused
    if result.status in ("failed", "unknown"):
        failed = failure("EXECUTION_FAILED", result.sentence)
        return replace(failed, data=result.result, untrusted=True) if result.result else failed
    waits = result.status == "pending"
    said = result.sentence if result.status == "held" or result.sentence == WAITS_ALREADY else ""
    data = {
        "status": STATUS_WORDS[result.status],
        "id": str(result.approval_id) if waits else "",
        "description": result.description or title_of(result.action_type),
        "result": dict(result.result),
        "sentence": said or (WAITS if waits else "") or _unasked(result.result),
    }
    return ToolResult(
        success=True,
        data=facts.drop_empty(data),
        untrusted=reports_outcome(result.action_type),
    )
