"""What a person wants done, carried out in whichever process may: here, or by the cluster where
this process cannot open the account's secret. Confirmations, edits and undo all come through here.

Its result is waited for a while. It is read from the ledger, so nobody hands it back.
"""

import time
from dataclasses import asdict
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django_q.tasks import async_task

from audit.ledger.selectors import recorded
from guardrails.contracts import ActionRequest, ActionResult
from guardrails.decide import steps
from guardrails.execute import entries, held_sends
from guardrails.execute.executor import Confirmation, execute
from guardrails.facts.reasons import sentence
from guardrails.gather.judgement import canonical
from guardrails.models import Errand
from integrations.accounts import reads

WAIT_SECONDS, LOOK_SECONDS = 15.0, 0.1
# Who asked has long been answered by then, and may have asked for something else.
TOO_OLD = timedelta(minutes=10)


def carry_out(request: ActionRequest, confirmation: Confirmation | None = None) -> ActionResult:
    """As `execute`. Where the cluster does not get to it in time the result is unknown; what was
    confirmed is done later all the same."""
    if reads.can_be_asked_here(request.account) or has_result(
        request, confirmed=confirmation is not None
    ):
        return execute(request, confirmation)
    _leave(request, confirmation)
    until = time.monotonic() + WAIT_SECONDS
    while Errand.objects.filter(action_id=request.action_id).exists():
        if time.monotonic() >= until:
            return _under_way(request)
        time.sleep(LOOK_SECONDS)
    if has_result(request, confirmed=confirmation is not None):
        return execute(request, confirmation)
    return _under_way(request)


def run(errand_id: str) -> None:
    """The task of the cluster. It is idempotent, as `execute` is."""
    row = Errand.objects.select_related("account__organisation").filter(id=UUID(errand_id)).first()
    if row is None:
        return
    word = row.confirmation
    execute(held_sends.request_of(row), Confirmation.of_word(word) if word else None)
    row.delete()


def forget_old(*, now: datetime) -> None:
    """Nothing is carried out that nobody waits for any more. What was confirmed is gone on with by
    its approval."""
    Errand.objects.filter(asked_at__lt=now - TOO_OLD).delete()


def _leave(request: ActionRequest, confirmation: Confirmation | None) -> None:
    with transaction.atomic():
        row, new = Errand.objects.get_or_create(
            action_id=request.action_id,
            defaults={
                "account_id": request.account.id,
                "action_type": request.action_type,
                "arguments": dict(request.arguments),
                "origin": asdict(request.origin),
                "confirmation": confirmation.as_word() if confirmation else {},
            },
        )
        if new:
            async_task(run, str(row.id))


def has_result(request: ActionRequest, *, confirmed: bool) -> bool:
    """Whether the ledger or a held send tells what became of it, so that no provider is asked."""
    request = canonical(request)
    rows = recorded(request.action_id)
    held = held_sends.find(request.action_id) if steps.was_held(rows) else None
    if held is not None and held_sends.result(held) is not None:
        return True
    progress = steps.how_far(
        rows,
        account_id=request.account.id,
        action_type=request.action_type,
        fingerprint=entries.fingerprint(request),
        confirmed=confirmed,
    )
    return progress in ("reused", "asked") or isinstance(progress, steps.Ended)


def _under_way(request: ActionRequest) -> ActionResult:
    return ActionResult(
        status="unknown",
        action_id=request.action_id,
        action_type=request.action_type,
        arguments=request.arguments,
        reason="outcome_unknown",
        sentence=sentence("outcome_unknown"),
    )
