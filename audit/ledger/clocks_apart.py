"""Rows whose worker's clock and the database's were more than CLOCKS_APART from each other: nobody
can tell which of the two was right."""

from django.db.models import Exists, F, OuterRef, Q

from audit.contracts import CLOCKS_APART
from audit.models import ExecutedAgentAction


def in_action() -> Exists:
    """Whether any row of an action is such a row."""
    late, early = F("recorded_at") - CLOCKS_APART, F("recorded_at") + CLOCKS_APART
    rows = ExecutedAgentAction.objects.filter(action_id=OuterRef("action_id"))
    return Exists(rows.filter(Q(occurred_at__lt=late) | Q(occurred_at__gt=early)))
