"""A person takes up what an agent suggested, or dismisses it.

What is taken up goes through the executor and the ledger as an action of that person's. It is held
to the item as it was looked at, and done once, however often it is taken up.
"""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from agents.journal import suggestions
from agents.journal.suggestions import OF_INVITATIONS, State
from agents.models import Suggestion
from audit.ledger.ids import uuid7
from guardrails.approve import approvals
from guardrails.contracts import ActionRequest, ActionResult, Origin
from guardrails.execute.errands import carry_out
from knowledge.search import names

CAME_TO_NOTHING = ("refused", "failed")
MOST_LISTED = 200
OVER = {
    State.DISMISSED: gettext_noop("It was dismissed."),
    State.OUT_OF_DATE: gettext_noop("It is out of date: what it is about has changed since."),
}

TAKEN_UP = gettext_noop("It was taken up.")


class SuggestionNotFound(Exception):
    """There is no such suggestion for this organisation and user."""


class SuggestionOver(Exception):
    """It was decided otherwise, or is out of date. The message is for people."""


@dataclass(frozen=True, kw_only=True)
class Decider:
    """A person: how the ledger names them, whose suggestions they may decide (empty: everybody's of
    the organisation), and whether their word counts where a person must confirm."""

    organisation_id: UUID
    by: str
    external_user_id: str | None = None
    may_confirm: bool = True


def list_suggestions(
    *, organisation_id: UUID, external_user_id: str, state: str = State.OPEN
) -> list[Suggestion]:
    """Of one user, the newest first."""
    rows = Suggestion.objects.filter(
        account__organisation_id=organisation_id,
        account__external_user_id=external_user_id,
        state=state,
    )
    return list(rows.order_by("-turn_id", "position")[:MOST_LISTED])


def take_up(suggestion_id: UUID, decider: Decider) -> tuple[Suggestion, ActionResult]:
    """Do it, and say what became of it. Again gives the same result; where it came to nothing it is
    tried anew. Raises SuggestionNotFound, SuggestionOver, audit.contracts.LedgerError."""
    row = _find(suggestion_id, decider)
    if row.state in (State.DISMISSED, State.OUT_OF_DATE):
        raise SuggestionOver(gettext(OVER[State(row.state)]))
    if row.is_only_said:
        raise SuggestionOver(gettext(suggestions.ONLY_SAID))
    # Of many who take it up at once, one names the action, and all carry out that one.
    _rows(row).filter(action_id=None, state=State.OPEN).update(
        action_id=uuid7(), decided_by=decider.by, decided_at=timezone.now()
    )
    row.refresh_from_db()
    if row.action_id is None:
        raise SuggestionOver(gettext(OVER.get(State(row.state), OVER[State.OUT_OF_DATE])))
    result = carry_out(_request(row, row.action_id))
    if result.status == "pending" and result.approval_id and decider.may_confirm:
        result = _confirm(result, result.approval_id, decider)
    _note(row, result)
    row.refresh_from_db()
    return row, result


def dismiss(suggestion_id: UUID, decider: Decider) -> Suggestion:
    """Put it away. Again changes nothing. Raises SuggestionNotFound, SuggestionOver."""
    row = _find(suggestion_id, decider)
    _rows(row).filter(state=State.OPEN, action_id=None).update(
        state=State.DISMISSED, decided_by=decider.by, decided_at=timezone.now()
    )
    row.refresh_from_db()
    if row.state != State.DISMISSED:
        raise SuggestionOver(gettext(OVER.get(State(row.state), TAKEN_UP)))
    return row


def _find(suggestion_id: UUID, decider: Decider) -> Suggestion:
    whose = Q(account__organisation_id=decider.organisation_id)
    if decider.external_user_id is not None:
        whose &= Q(account__external_user_id=decider.external_user_id)
    rows = Suggestion.objects.select_related("account__organisation").filter(whose)
    row = rows.filter(id=suggestion_id).first()
    if row is None:
        raise SuggestionNotFound("There is no such suggestion.")
    return row


def _rows(row: Suggestion) -> "QuerySet[Suggestion]":
    return Suggestion.objects.filter(pk=row.pk)


def _request(row: Suggestion, action_id: UUID) -> ActionRequest:
    action_type, field = (
        ("answer_invitation", "event_id")
        if row.kind in OF_INVITATIONS
        else ("sort_issue", "issue_key")
    )
    return ActionRequest(
        action_id=action_id,
        account=row.account.ref(),
        action_type=action_type,
        arguments={field: row.object_id, **row.value},
        origin=Origin(
            trigger="operator",
            actor=row.decided_by,
            item_source_id=row.item_source_id,
            expects_revision=row.revision or None,
        ),
        called=names.find_title(row.account_id, row.item_source_id),
    )


def _confirm(asked: ActionResult, approval_id: UUID, decider: Decider) -> ActionResult:
    """Who took it up saw exactly this, and says yes to it where their yes counts."""
    try:
        return approvals.confirm(
            organisation_id=decider.organisation_id,
            approval_id=approval_id,
            decided_by=decider.by,
            external_user_id=decider.external_user_id,
        )
    except (approvals.ApprovalNotFound, approvals.ApprovalConflict):
        return asked


def _note(row: Suggestion, result: ActionResult) -> None:
    mine = _rows(row).filter(action_id=row.action_id)
    if result.status not in CAME_TO_NOTHING:
        mine.update(state=State.TAKEN_UP, outcome=result.sentence)
        _note_others(row, str(result.left.get("revision") or ""))
        return
    # The next try is another action.
    is_stale = result.reason == "changed_meanwhile"
    state = State.OUT_OF_DATE if is_stale else State.OPEN
    mine.update(state=state, outcome=result.sentence, action_id=None)


def _note_others(row: Suggestion, revision: str) -> None:
    """One answer is given to an invitation; an issue is another version by what was set."""
    others = Suggestion.objects.filter(
        account_id=row.account_id, item_source_id=row.item_source_id, state=State.OPEN
    )
    if row.kind in OF_INVITATIONS:
        suggestions.retire(others)
    elif revision:
        others.filter(revision=row.revision, action_id=None).update(revision=revision)
