"""What the executor would answer, for a run over past mail that only tries.

Nothing is done and nobody is asked. What decides is the executor's own; what a trial would have
asked and used up is kept, so that its later mails are decided with it as they would be in a run for
real.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.utils import timezone

from guardrails.contracts import ActionRequest, ActionResult, Decision, ResultStatus
from guardrails.decide import steps
from guardrails.decide.policy_file import PolicyFile
from guardrails.decide.steps import Step
from guardrails.execute.approval_requests import why_nobody_is_asked
from guardrails.facts.counts import Use
from guardrails.gather import usage, wanted
from guardrails.gather.judgement import Judgement, canonical, judge, judge_under
from guardrails.models import TrialAsk, TrialUsage

KEPT_FOR = timedelta(days=7)  # longer than one runs
BECOMES: Mapping[Step, ResultStatus] = {
    "ask": "pending",
    "close": "noop",
    "hold": "held",
    "perform": "succeeded",
}


def pretend(
    request: ActionRequest, *, trial: UUID, draft: PolicyFile | None = None
) -> ActionResult:
    """What the executor would answer if all went well at the provider, under the present policy or
    a draft, and if what this `trial` would have asked and done before were asked and done. Never
    acts; neither the ledger nor real rates hear of it."""
    request = canonical(request)
    count = partial(_count, request, trial)
    judgement = (
        judge_under(draft, request, claim=count, trial=trial)
        if draft
        else judge(request, claim=count, trial=trial)
    )
    now = timezone.now()
    step, decision = _next_step(judgement, now)
    if step == "ask" and (
        full := why_nobody_is_asked(request, judgement=judgement, trial=trial, now=now)
    ):
        step, decision = "refuse", steps.refused(decision, full)
    return ActionResult(
        status=BECOMES.get(step, "refused"),
        action_id=request.action_id,
        action_type=request.action_type,
        description=judgement.description or wanted.describe(request, judgement),
        arguments=request.arguments,
        reason=decision.reason,
        sentence=decision.sentence,
    )


def forget_old(*, now: datetime) -> int:
    """Forget what trials that have long ended would have asked and used up; how many rows."""
    asked = TrialAsk.objects.filter(created_at__lte=now - KEPT_FOR).delete()[0]
    return asked + TrialUsage.objects.filter(updated_at__lte=now - KEPT_FOR).delete()[0]


def _next_step(judgement: Judgement, now: datetime) -> tuple[Step, Decision]:
    return steps.next_step(
        judgement.decision,
        already_so=judgement.nothing_to_do,
        digest=judgement.digest,
        confirmed=None,
        held_until=None,
        now=now,
    )


def _count(
    request: ActionRequest, trial: UUID, judgement: Judgement, use: Use, now: datetime
) -> None:
    """What the account's rates would count of this, by the same step as the executor's."""
    step, _ = _next_step(judgement, now)
    if step == "ask":
        usage.note_ask(use, request=request, now=now, trial=trial)
    elif step in ("hold", "perform"):
        usage.note(use, request=request, now=now, trial=trial)
