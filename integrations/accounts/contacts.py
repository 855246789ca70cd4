"""Whom a user knows by their own address books. It answers one question, who is no stranger, and
permits nothing: an address in a book is listed nowhere and counts as neither typed nor named."""

from collections.abc import Iterable
from uuid import UUID

from integrations.models import ContactCard


def known(organisation_id: UUID, user_id: str, addresses: Iterable[str]) -> frozenset[str]:
    """Those of the addresses that stand in a book of this user's own. Books that were disconnected
    or paused say nothing. One query."""
    wanted = set(addresses)
    if not wanted:
        return frozenset()
    found = ContactCard.objects.filter(
        account__organisation_id=organisation_id,
        account__external_user_id=user_id,
        account__paused=False,
        account__credential__isnull=False,
        addresses__overlap=sorted(wanted),
    ).values_list("addresses", flat=True)
    return frozenset(one for row in found for one in row) & wanted
