"""What follows a person's yes: it is executed once, here or in a process that may, and its result
is kept."""

import time
from dataclasses import replace
from uuid import UUID

from django.utils import timezone
from django_q.tasks import async_task

from guardrails.approve.approval_rows import State, record, with_account
from guardrails.approve.cards import handled, zone_of
from guardrails.contracts import ActionResult
from guardrails.execute.executor import Confirmation, execute, one_at_a_time
from guardrails.execute.held_sends import request_of
from guardrails.execute.switches import UNDER_WAY
from guardrails.facts.reasons import sentence
from guardrails.models import Approval, HeldSend
from integrations.accounts import reads

ELSEWHERE_SECONDS, LOOK_SECONDS = 15.0, 0.1
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
    if row.state == State.APPROVED and not (claimed or is_held(row) or _is_left_behind(row)):
        return replace(_under_way(row), handled=handled(row, zone=zone_of(row)))
    if row.state == State.APPROVED:
        record(row)
        if not (is_held(row) or reads.can_be_asked_here(row.account.ref())):
            return _finish_elsewhere(row)
    result = execute(
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


def _finish_elsewhere(row: Approval) -> ActionResult:
    """The cluster carries it out, because it may open the account's secret and this process may
    not; its result is waited for a while. Should its task be lost, the sweep finds the row."""
    async_task(finish_by_id, str(row.id))
    until = time.monotonic() + ELSEWHERE_SECONDS
    while time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
        row.refresh_from_db(fields=["state"])
        if row.state != State.APPROVED or is_held(row):
            return finish(row)
    return replace(_under_way(row), handled=handled(row, zone=zone_of(row)))


def finish_by_id(approval_id: str) -> None:
    """The task of the cluster: executes a confirmed approval that nobody has executed yet."""
    row = with_account().get(id=UUID(approval_id))
    if row.state == State.APPROVED:
        with one_at_a_time(row.action_id):
            finish(row, claimed=True)


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
