"""What the users of an organisation are called, for pages: their ids are a frontend's."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import QuerySet

from integrations.models import Account


def find_names(
    organisation_id: UUID, user_ids: Iterable[str], *, and_first: int = 0
) -> dict[str, str]:
    """The name of each of these users by id, and of the organisation's first so many users: the id
    itself of who has none. One query."""
    wanted = set(user_ids)
    rows = Account.objects.filter(organisation_id=organisation_id)
    found = _names(rows.filter(external_user_id__in=wanted))
    if and_first:
        found = found.union(_names(rows)[:and_first])
    return {user_id: user_id for user_id in wanted} | _by_id(found)


def list_names(organisation_id: UUID, *, most: int) -> dict[str, str]:
    """The same of the organisation's first users, in the order of their ids. One query."""
    return _by_id(_names(Account.objects.filter(organisation_id=organisation_id))[:most])


def label(user_id: str, name: str) -> str:
    """How somebody is offered in a list: two may have one name."""
    return f"{name} ({user_id})" if name != user_id else user_id


def _names(rows: "QuerySet[Account]") -> "QuerySet[Account, tuple[str, str]]":
    each = rows.order_by("external_user_id", "-display_name").distinct("external_user_id")
    return each.values_list("external_user_id", "display_name")


def _by_id(found: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {user_id: name or user_id for user_id, name in found}
