"""Whom a user knows by their own word: by their address books, or by name in their preferences. It
answers one question, who is no stranger, and permits nothing: such an address is listed nowhere and
counts as neither typed nor named."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from integrations.models import Account, UserPreferences

# For a statement that looks further, too.
KNOWN = """
SELECT one FROM integrations_contactcard c
    JOIN integrations_account a ON a.id = c.account_id
    JOIN integrations_credential k ON k.account_id = a.id,
    unnest(c.addresses) one
WHERE a.organisation_id = %(organisation)s AND a.external_user_id = %(user)s AND NOT a.paused
    AND c.addresses && %(addresses)s::varchar[] AND one = ANY (%(addresses)s::varchar[])
UNION ALL
SELECT one FROM integrations_userpreferences p, unnest(p.known_senders) one
WHERE p.organisation_id = %(organisation)s AND p.external_user_id = %(user)s
    AND one = ANY (%(addresses)s::varchar[])
"""


def known(organisation_id: UUID, user_id: str, addresses: Iterable[str]) -> frozenset[str]:
    """Those of the addresses that stand in a book of this user's own, or that they named. Books
    that were disconnected or paused say nothing. One query."""
    wanted = sorted(set(addresses))
    if not wanted:
        return frozenset()
    given: dict[str, Any] = {
        "organisation": organisation_id,
        "user": user_id,
        "addresses": wanted,
    }
    with connection.cursor() as cursor:
        cursor.execute(KNOWN, given)
        return frozenset(one for (one,) in cursor.fetchall())


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
