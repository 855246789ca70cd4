"""A person's word on an action that waits: claimed once, decided again, then executed.

States change by conditional updates alone, so that of many answers one wins. Confirming an
approval again finishes what a crash interrupted and gives the same result.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from audit.ledger.ids import uuid7
from guardrails.actions.base import InvalidArguments
from guardrails.approve import second_yes
from guardrails.approve.approval_rows import (
    CLAIMED,
    ApprovalConflict,
    ApprovalNotFound,
    State,
    check,
    claim,
    expire,
    find,
    no_longer_waiting,
    record,
    with_account,
)
from guardrails.approve.edits import change_arguments
from guardrails.approve.finishing import finish
from guardrails.contracts import ActionResult
from guardrails.contracts.cards import ApprovalCard
from guardrails.execute.errands import carry_out
from guardrails.execute.executor import one_at_a_time
from guardrails.execute.held_sends import request_of
from guardrails.models import Approval
from integrations.accounts import reads

__all__ = ["ApprovalConflict", "ApprovalNotFound", "confirm", "decide", "edit", "reject"]

log = logging.getLogger(__name__)
Word = Literal["confirm", "reject", "edit"]


def confirm(
    *,
    organisation_id: UUID,
    approval_id: UUID,
    decided_by: str,
    external_user_id: str | None = None,
    digest: str | None = None,
) -> ActionResult:
    """A person says yes: decide again under the present policy, execute, give the result. Where two
    people have to say yes, the first one's is kept and the result is `pending`.

    With `external_user_id` only approvals in that user's hands are found; with `digest` the
    word counts only for exactly what was shown. The same answer again gives the same result;
    while another process is at work on it, that is `outcome_unknown`.
    Raises ApprovalNotFound, ApprovalConflict, audit.contracts.LedgerError.
    """
    row = find(organisation_id, approval_id, external_user_id)
    check(row, digest=digest, external_user_id=external_user_id)
    return _accept(row, decided_by, external_user_id)


def reject(
    *,
    organisation_id: UUID,
    approval_id: UUID,
    decided_by: str,
    external_user_id: str | None = None,
    digest: str | None = None,
    reason: str = "",
) -> ActionResult:
    """A person says no, for good. Raises ApprovalNotFound, ApprovalConflict."""
    row = find(organisation_id, approval_id, external_user_id)
    check(row, digest=digest, external_user_id=external_user_id)
    _decline(row, decided_by, external_user_id, reason)
    return finish(row)


def edit(
    *,
    organisation_id: UUID,
    approval_id: UUID,
    decided_by: str,
    changes: Mapping[str, Any],
    external_user_id: str | None = None,
    digest: str | None = None,
) -> ActionResult:
    """A person changes arguments (`changes`; what it does not name stays, null takes away).

    That makes another action, decided under the present policy. If it may be asked about, it
    waits with a digest of its own and the old one stops waiting. If the policy refuses it, the
    old one stays as it is. The same edit again gives the same result. Raises ApprovalNotFound,
    ApprovalConflict, guardrails.actions.base.InvalidArguments.
    """
    row = find(organisation_id, approval_id, external_user_id)
    check(row, digest=digest, external_user_id=external_user_id)
    return _revise(row, decided_by, external_user_id, changes)


def decide(
    *,
    organisation_id: UUID,
    approval_id: UUID,
    decided_by: str,
    word: Word,
    external_user_id: str | None = None,
    digest: str | None = None,
    reason: str = "",
    changes: Mapping[str, Any] | None = None,
    resumed: bool = False,
    said_in: str = "",
) -> ActionResult:
    """A person's word as one value: as `confirm`, `reject` or `edit`, and what became of the
    action. Where the word came too late or was about something else, the result is that of
    the decision that counts, and says so (`late`). `resumed`: the process that took this word
    before is dead. `said_in` is the chat message of a confirmation in words.
    Raises ApprovalNotFound, audit.contracts.LedgerError."""
    row = find(organisation_id, approval_id, external_user_id)
    late = row.state != State.PENDING and not (resumed and row.decided_by == decided_by)
    try:
        check(row, digest=digest, external_user_id=external_user_id)
        if word == "confirm":
            done = _accept(row, decided_by, external_user_id, resumed=resumed, said_in=said_in)
            return replace(done, late=late or row.state == State.EXPIRED)
        if word == "edit":
            return replace(_revise(row, decided_by, external_user_id, changes or {}), late=late)
        _decline(row, decided_by, external_user_id, reason)
    except second_yes.NotTheSecond as error:
        return replace(second_yes.waiting(row), sentence=str(error))
    except ApprovalConflict:
        log.info("guardrails.approval_conflict approval=%s", approval_id)
        row.refresh_from_db(fields=CLAIMED)
        late = True
    except InvalidArguments as error:
        return replace(finish(row), reason="invalid_arguments", sentence=f"{error}.")
    return replace(finish(row), late=late)


def note_shown(cards: Iterable[ApprovalCard]) -> None:
    """These waiting cards are before the person who decides. The first time counts."""
    new = [card.id for card in cards if card.state == "pending" and card.shown_at is None]
    if new:
        rows = Approval.objects.filter(id__in=new, state=State.PENDING, shown_at=None)
        rows.update(shown_at=timezone.now())


def _accept(
    row: Approval,
    by: str,
    external_user_id: str | None,
    *,
    resumed: bool = False,
    said_in: str = "",
) -> ActionResult:
    # Threads of this process wait for the one that executes, and give its result.
    with one_at_a_time(row.action_id):
        now = timezone.now()
        in_time = Q(expires_at=None) | Q(expires_at__gt=now)
        condition = in_time
        if row.people_needed > 1 and row.state == State.PENDING:
            given: dict[str, Any] = {"condition": in_time, "now": now, "said_in": said_in}
            if second_yes.is_missing(row, by, external_user_id, **given):
                return second_yes.waiting(row)
            condition &= Q(first_yes_at__isnull=False)
        claimed = claim(
            row,
            condition,
            state=State.APPROVED,
            by=by,
            now=now,
            external_user_id=external_user_id,
            said_in=said_in,
        )
        if row.state == State.PENDING:  # not claimed, and nobody decided: overdue or delegated
            expire(row.id)
            row.refresh_from_db(fields=CLAIMED)
        if row.state in (State.PENDING, State.REJECTED, State.SUPERSEDED):
            raise no_longer_waiting(row)
        mine = claimed or (resumed and row.decided_by == by)
        if reads.can_be_asked_here(row.account.ref()):
            return finish(row, claimed=mine)
    return finish(row, claimed=mine)  # another process executes: nobody waits for that here


def _decline(row: Approval, by: str, external_user_id: str | None, reason: str) -> None:
    claim(
        row,
        Q(),
        state=State.REJECTED,
        by=by,
        now=timezone.now(),
        external_user_id=external_user_id,
        reason=reason,
    )
    if row.state != State.REJECTED:
        raise no_longer_waiting(row)
    record(row)


def _revise(
    row: Approval, by: str, external_user_id: str | None, changes: Mapping[str, Any]
) -> ActionResult:
    proposal = request_of(row)
    arguments = change_arguments(proposal, changes)
    earlier = with_account().filter(revises=row).first()
    if earlier is not None and earlier.arguments == arguments:
        return carry_out(request_of(earlier))
    if row.state != State.PENDING:
        raise no_longer_waiting(row)
    origin = proposal.origin
    result = carry_out(
        replace(
            proposal,
            action_id=uuid7(),
            arguments=arguments,
            origin=replace(
                origin,
                revises=str(row.action_id),
                edited_by=by,
                edited_as=external_user_id or "",
                proposed=origin.proposed or proposal.arguments,
            ),
        )
    )
    if result.reason == "no_longer_waiting":
        expire(row.id)
        row.refresh_from_db(fields=CLAIMED)
        raise no_longer_waiting(row)
    if result.status != "pending":
        return result  # refused, or there is nothing to do: what was proposed still waits
    row.refresh_from_db(fields=CLAIMED)
    record(row)
    return result
