"""What could stop an action that was permitted when it was decided, as it is now."""

from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, Q, Subquery

from guardrails.decide.checks.stopping import Stops
from guardrails.models import AllowedAction, CeilingLimit, KillSwitch
from integrations.models import Account


def read_stops(*, account_id: UUID, action_type: str, allowed_action_id: str) -> Stops:
    """Switches, pauses, the ceiling and the allowed action (`rule_id`; empty: none is needed).
    One query, asked between the committed attempt and the provider write. An account that is
    gone is paused."""
    thrown = KillSwitch.objects.filter(
        Q(organisation=None) | Q(organisation=OuterRef("organisation")),
        Q(account=None) | Q(account=OuterRef("id")),
        Q(source="") | Q(source=OuterRef("source")),
        action_type__in=("", action_type),
        lifted_at=None,
    )
    limits = CeilingLimit.objects.filter(
        organisation=OuterRef("organisation"), action_type__in=("", action_type)
    )
    allowed = AllowedAction.objects.filter(
        id__in=[allowed_action_id] if allowed_action_id else [],
        account=OuterRef("id"),
        action_type=action_type,
        enabled=True,
    )
    found = (
        Account.objects.filter(id=account_id)
        .values_list(
            Exists(thrown),
            "paused",
            "organisation__paused",
            ArraySubquery(limits.values("at_most")),
            Subquery(allowed.values("approval_mode")),
        )
        .first()
    )
    if found is None:
        return Stops(switched_off=False, paused=True)
    switched_off, paused, all_paused, modes, mode = found
    return Stops(switched_off, paused or all_paused, frozenset(modes), mode)
