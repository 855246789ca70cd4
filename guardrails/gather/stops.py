"""Whether something stops an action that was permitted when it was decided: switches, pauses,
the ceiling. Asked again right before the provider is called."""

from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from guardrails.models import AllowedAction, CeilingRule, KillSwitch
from integrations.models import Account


def is_stopped(*, account_id: UUID, action_type: str) -> bool:
    """Whether a switch, a pause or the ceiling stops this action for whoever commands it. One
    query; an account that is gone is stopped."""
    thrown = KillSwitch.objects.filter(
        Q(organisation=None) | Q(organisation=OuterRef("organisation")),
        Q(account=None) | Q(account=OuterRef("id")),
        Q(source="") | Q(source=OuterRef("source")),
        action_type__in=("", action_type),
        lifted_at=None,
    )
    forbidding = CeilingRule.objects.filter(
        organisation=OuterRef("organisation"),
        action_type__in=("", action_type),
        at_most=CeilingRule.AtMost.NEVER,
    )
    return not Account.objects.filter(
        ~Exists(thrown),
        ~Exists(forbidding),
        id=account_id,
        paused=False,
        organisation__paused=False,
    ).exists()


def still_permitted(*, account_id: UUID, rule_id: str) -> bool:
    """Whether no switch stops the action, nobody has paused the account or its organisation,
    and neither the permission nor the ceiling forbids it by now. One query, asked again
    between the committed attempt and the provider write."""
    thrown = KillSwitch.objects.filter(
        Q(organisation=None) | Q(organisation=OuterRef("account__organisation")),
        Q(account=None) | Q(account=OuterRef("account")),
        Q(action_type="") | Q(action_type=OuterRef("action_type")),
        Q(source="") | Q(source=OuterRef("account__source")),
        lifted_at=None,
    )
    forbidding = CeilingRule.objects.filter(
        Q(action_type="") | Q(action_type=OuterRef("action_type")),
        organisation=OuterRef("account__organisation"),
        at_most__in=(CeilingRule.AtMost.NEVER, CeilingRule.AtMost.DRAFT_ONLY),
    )
    return (
        AllowedAction.objects.filter(
            ~Exists(thrown),
            ~Exists(forbidding),
            id=rule_id,
            account_id=account_id,
            enabled=True,
            account__paused=False,
            account__organisation__paused=False,
        )
        .filter(approval_mode__in=(AllowedAction.ApprovalMode.AUTO, AllowedAction.ApprovalMode.ASK))
        .exists()
    )
