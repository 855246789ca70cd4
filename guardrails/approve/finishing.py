"""What follows a person's yes: it is executed once, and its result is kept."""

from dataclasses import replace

from django.utils import timezone

from guardrails.approve.approval_rows import State, record
from guardrails.approve.cards import handled, zone_of
from guardrails.contracts import ActionResult
from guardrails.execute.errands import carry_out, has_result
from guardrails.execute.executor import Confirmation
from guardrails.execute.held_sends import request_of
from guardrails.execute.switches import UNDER_WAY
from guardrails.facts.reasons import sentence
from guardrails.models import Approval, HeldSend

FINAL_STATE = {
    "succeeded": State.EXECUTED,
    "noop": State.EXECUTED,
    "failed": State.FAILED,
    "refused": State.REFUSED,
    "unknown": State.FAILED,
}


def finish(row: Approval, *, claimed: bool = False) -> ActionResult:
    """Executes a confirmed approval, or gives the result it had. Only who claimed it, or who
    finds it left behind, executes it: an attempt that another process has under way is not
    to be taken for an interrupted one."""
    if row.state == State.APPROVED and not (
        claimed
        or is_held(row)
        or _is_left_behind(row)
        or has_result(request_of(row), confirmed=True)
    ):
        return replace(_under_way(row), handled=handled(row, zone=zone_of(row)))
    if row.state == State.APPROVED:
        record(row)
    result = carry_out(
        request_of(row),
        Confirmation(approval_id=row.id, decided_by=row.decided_by, digest=row.digest)
        if row.state == State.APPROVED
        else None,
    )
    if row.state == State.APPROVED and has_ended(result):
        Approval.objects.filter(id=row.id, state=State.APPROVED).update(
            state=FINAL_STATE[result.status],
            executed={
                "status": result.status,
                "reason": result.reason,
                "sentence": result.sentence,
                "result": dict(result.result),
            },
        )
    return replace(result, handled=handled(row, zone=zone_of(row)))


def has_ended(result: ActionResult) -> bool:
    """Whether the result will not change: an open attempt may still turn out either way, and
    what is held can be recalled."""
    return result.status != "held" and result.reason != "outcome_unknown"


def is_held(row: Approval) -> bool:
    """Whether what was confirmed waits for its release: nothing is under way then."""
    return HeldSend.objects.filter(action_id=row.action_id, state=HeldSend.State.HELD).exists()


def _is_left_behind(row: Approval) -> bool:
    return row.decided_at is not None and timezone.now() - row.decided_at >= UNDER_WAY


def _under_way(row: Approval) -> ActionResult:
    return ActionResult(
        status="unknown",
        action_id=row.action_id,
        action_type=row.action_type,
        description=row.description,
        arguments=row.arguments,
        reason="outcome_unknown",
        sentence=sentence("outcome_unknown"),
        approval_id=row.id,
    )
