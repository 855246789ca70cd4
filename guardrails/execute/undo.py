"""Taking an action back at a person's command, from what the ledger kept about it.

The undoing action goes through the executor and the ledger like every other, as an action of
its own whose parent is the one it takes back. The model has no way here.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from audit.contracts import Filters, Recorded
from audit.ledger.ids import uuid7
from audit.ledger.selectors import recorded, recorded_of_tenant
from guardrails.contracts import ActionRequest, ActionResult, Origin
from guardrails.decide import steps
from guardrails.execute import outcomes
from guardrails.execute.errands import carry_out
from guardrails.facts.reasons import sentence
from guardrails.models import Undo
from integrations.contracts import AccountRef
from integrations.models import Account

CAME_TO_NOTHING = ("refused", "failed")


class ActionNotFound(Exception):
    """There is no such action for this organisation and user."""


def undo(
    *, organisation_id: UUID, action_id: UUID, by: str, external_user_id: str | None = None
) -> ActionResult:
    """Take an action back, and say what became of that. `by` is the person: “operator:olga”
    or a caller's principal. With `external_user_id` only that user's actions are found.

    However often it is commanded, it acts once: when it was undone already it is refused with
    `already_undone`, when it came to nothing it is tried anew. What was not done, or cannot be
    undone, is refused without a row. Raises ActionNotFound, audit.contracts.LedgerError.
    """
    phases, account = _find(organisation_id, action_id, external_user_id)
    done = steps.last_word(phases)
    refusal = steps.why_not_undoable(done)
    if done is None or refusal:
        return _refused(phases[-1], refusal)
    row, _ = Undo.objects.get_or_create(
        undone_action_id=action_id,
        defaults={
            "action_id": uuid7(),
            "organisation_id": organisation_id,
            "account_id": account.id,
            "description": str(done.payload.get("description", "")),
            "commanded_by": by,
        },
    )
    last = steps.last_word(recorded(row.action_id))
    if last is not None and steps.is_final(last):
        became = outcomes.result(last)
        if became.status not in CAME_TO_NOTHING:
            return _refused(phases[-1], "already_undone")
        # The next try is another action. Of many that try at once, one names it.
        Undo.objects.filter(pk=row.pk, action_id=row.action_id).update(
            action_id=uuid7(), commanded_by=by
        )
        row.refresh_from_db()
    result = carry_out(_request(done, row, account))
    Undo.objects.filter(pk=row.pk, action_id=row.action_id).update(
        state=result.status, outcome=result.sentence
    )
    return result


def can_be_undone(phases: Sequence[Recorded]) -> bool:
    """Whether the ledger keeps how this action is taken back."""
    return not steps.why_not_undoable(steps.last_word(phases))


def _find(
    organisation_id: UUID, action_id: UUID, external_user_id: str | None
) -> tuple[tuple[Recorded, ...], AccountRef]:
    users = frozenset({external_user_id}) if external_user_id is not None else frozenset()
    filters = Filters(tenant_id=organisation_id, on_behalf_of=users)
    phases = recorded_of_tenant(action_id, filters=filters)
    keys = {phase.account_id for phase in phases if phase.account_id}
    account = (
        Account.objects.select_related("organisation")
        .filter(id__in=keys, organisation_id=organisation_id)
        .first()
    )
    if account is None:
        raise ActionNotFound("There is no such action.")
    return phases, account.ref()


def _request(done: Recorded, row: Undo, account: AccountRef) -> ActionRequest:
    inverse: dict[str, Any] = done.payload["inverse"]
    result = done.payload.get("result", {})
    values = {name: result.get(key) for name, key in inverse["from_result"].items()}
    # Rows from before revisions were text have a version.
    version = done.payload.get("version", inverse.get("version"))
    return ActionRequest(
        action_id=row.action_id,
        account=account,
        action_type=inverse["action_type"],
        arguments={**inverse["arguments"], **values},
        origin=Origin(
            trigger="operator",
            actor=row.commanded_by,
            undoes=str(row.undone_action_id),
            expects_revision=done.payload.get("revision", version and str(version)),
        ),
    )


def _refused(phase: Recorded, reason: str) -> ActionResult:
    return ActionResult(
        status="refused",
        action_id=phase.action_id,
        action_type=phase.action_type,
        description=str(phase.payload.get("description", "")),
        reason=reason,
        sentence=sentence(reason),
    )
