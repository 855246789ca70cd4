"""The organisation's own directory of people: whose accounts are connected here. Only operators
connect accounts, so nobody else can put an address into it."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models.functions import Lower

from guardrails.facts import targets
from integrations.models import Account


def colleagues(organisation_id: UUID, addresses: Iterable[str]) -> tuple[str, ...]:
    """Those of the plain addresses that belong to an account of this organisation, in order.
    They must be the very same, but for the case of the domain. Pausing an account takes its
    address out. One query; none without addresses."""
    asked = sorted(set(addresses))
    if not asked:
        return ()
    rows = Account.objects.filter(organisation_id=organisation_id, paused=False)
    near = rows.annotate(folded=Lower("address")).filter(folded__in=[one.lower() for one in asked])
    known = targets.plain_addresses(near.values_list("address", flat=True))
    return tuple(one for one in asked if one in known)
