"""Whom a user knows by their own word: by their address books, or by name in their preferences. It
answers one question, who is no stranger, and permits nothing: such an address is listed nowhere and
counts as neither typed nor named."""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction

from integrations.models import Account, ContactCard, UserPreferences


def known(organisation_id: UUID, user_id: str, addresses: Iterable[str]) -> frozenset[str]:
    """Those of the addresses that stand in a book of this user's own, or that they named. Books
    that were disconnected or paused say nothing. One query."""
    wanted = set(addresses)
    if not wanted:
        return frozenset()
    named = UserPreferences.objects.filter(
        organisation_id=organisation_id,
        external_user_id=user_id,
        known_senders__overlap=sorted(wanted),
    ).values_list("known_senders")
    found = ContactCard.objects.filter(
        account__organisation_id=organisation_id,
        account__external_user_id=user_id,
        account__paused=False,
        account__credential__isnull=False,
        addresses__overlap=sorted(wanted),
    ).values_list("addresses")
    return frozenset(one for (row,) in found.union(named) for one in row) & wanted


def has_named(organisation_id: UUID, user_id: str, address: str) -> bool:
    """Whether the user said themself that this is no stranger. One query."""
    return UserPreferences.objects.filter(
        organisation_id=organisation_id,
        external_user_id=user_id,
        known_senders__contains=[address.lower()],
    ).exists()


def name_known(organisation_id: UUID, user_id: str, address: str, *, known: bool) -> None:
    """The user's word that this is no stranger, or that it is one again. Twice changes nothing.
    Raises ValidationError where it is no address, or where they named too many."""
    of = {"organisation_id": organisation_id, "external_user_id": user_id}
    with transaction.atomic():
        # As a change over the API does: two at once are one after the other.
        Account.objects.select_for_update().filter(**of).order_by("created_at", "id").first()
        row = UserPreferences.objects.filter(**of).first() or UserPreferences(**of)
        others = set(row.known_senders) - {address.lower()}
        row.known_senders = [*others, *([address.lower()] if known else ())]
        row.full_clean()
        row.save()
