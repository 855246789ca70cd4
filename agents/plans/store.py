"""Plans as rows: one a conversation, changed under the lease of the turn that changes it."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from agents.journal import journal
from agents.journal.leases import Lease
from agents.journal.statements import to_storable
from agents.models import Conversation, Plan
from agents.plans import plans, rendering
from agents.plans.plans import Refused

LISTED = 5

Change = Callable[[plans.Plan | None], plans.Plan | Refused | None]


def load_plan(conversation_id: UUID | None) -> plans.Plan | None:
    """The plan of a conversation, finished or not. One query."""
    if conversation_id is None:
        return None
    row = Plan.objects.filter(conversation_id=conversation_id).only("content").first()
    return plans.Plan.model_validate(row.content) if row else None


def change_plan(lease: Lease, act: Change) -> plans.Plan | Refused | None:
    """Put what `act` makes of the turn's plan in its place; None takes the plan away. Changes
    of one turn happen one after another. Raises LeaseLost."""
    with lease.held():
        conversation = _conversation(lease)
        changed = act(load_plan(conversation.id))
        if isinstance(changed, Refused):
            return changed
        if changed is None:
            Plan.objects.filter(conversation=conversation).delete()
        else:
            Plan.objects.update_or_create(
                conversation=conversation,
                defaults={
                    "content": to_storable(changed.model_dump(mode="json")),
                    "finished": changed.finished,
                },
            )
        journal.emit(lease, "plan", {"plan": rendering.describe_plan(changed) if changed else None})
    return changed


def list_unfinished(lease: Lease) -> Sequence[dict[str, Any]]:
    """The newest plans that the same user left unfinished in other conversations."""
    conversation = _conversation(lease)
    rows = _unfinished_of(conversation).exclude(conversation=conversation)[:LISTED]
    found = [(row.id, plans.Plan.model_validate(row.content)) for row in rows]
    return [
        {"id": id, "request": plan.request, "progress": rendering.render_progress(plan)}
        for id, plan in found
    ]


def take_over_plan(lease: Lease, plan_id: int) -> plans.Plan | Refused:
    """Go on here with a plan of the same user from another conversation. Refused where this
    conversation has an unfinished one. Raises LeaseLost."""
    with lease.held():
        conversation = _conversation(lease)
        row = _unfinished_of(conversation).select_for_update(of=("self",)).filter(id=plan_id)
        found = row.first()
        if found is None:
            return Refused(message="There is no such unfinished plan.")
        if found.conversation_id != conversation.id:
            own = load_plan(conversation.id)
            if own and not own.finished:
                return Refused(message="This conversation has an unfinished plan of its own.")
            Plan.objects.filter(conversation=conversation).delete()
            found.conversation = conversation
            found.save(update_fields=["conversation", "updated_at"])
        plan = plans.Plan.model_validate(found.content)
        journal.emit(lease, "plan", {"plan": rendering.describe_plan(plan)})
    return plan


def _unfinished_of(conversation: Conversation) -> QuerySet[Plan]:
    """The unfinished plans of the conversation's user, the newest first."""
    return Plan.objects.filter(
        finished=False,
        conversation__organisation_id=conversation.organisation_id,
        conversation__external_user_id=conversation.external_user_id,
    )


def _conversation(lease: Lease) -> Conversation:
    return Conversation.objects.get(turns=lease.turn_id)
