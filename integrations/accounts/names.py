"""What the users of an organisation are called, for pages: their ids are a frontend's. And the
tokens and members of staff that act for them."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import CharField, F, QuerySet, UUIDField, Value
from django.db.models.functions import Cast, Concat, Trim

from integrations.contracts.field_types import uuid_or_none
from integrations.models import Account, ServiceToken


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


def find_principals(
    wanted: Collection[tuple[UUID | None, str]],
    *,
    first_of: UUID | None = None,
    and_first: int = 0,
) -> dict[tuple[UUID | None, str], str]:
    """The names of these users (`user:…`), tokens (`token:…`) and members of staff (`operator:…`),
    each in its organisation (members of staff also in none), and of one organisation's first so
    many users: the id itself of a user who has none. Who is gone is not among them. One query."""
    of = {"organisation_id__in": {organisation_id for organisation_id, _ in wanted}}
    users = Account.objects.filter(**of, external_user_id__in=_ids("user", wanted))
    first = Account.objects.filter(organisation_id__in=[first_of] if first_of else [])
    first = first.order_by("external_user_id", "-display_name").distinct("external_user_id")
    tokens = ServiceToken.objects.filter(**of, id__in=filter(uuid_or_none, _ids("token", wanted)))
    staff = User.objects.filter(username__in=_ids("operator", wanted))
    here, nowhere = F("organisation_id"), Value(None, output_field=UUIDField())
    account = here, F("external_user_id"), F("display_name")
    full_name = Trim(Concat("first_name", Value(" "), "last_name"))
    rows = _called("user", users, *account).union(
        _called("user", first, *account)[:and_first],
        _called("token", tokens.order_by(), here, Cast("id", CharField()), F("name")),
        _called("operator", staff, nowhere, F("username"), full_name),
    )
    # Of several names of one user the last counts, as in `_names`.
    each = sorted(rows, key=lambda row: row[-1])
    found = {(of, f"{kind}:{id}"): name or id for kind, of, id, name in each}
    members = {(of, who): found[None, who] for of, who in wanted if (None, who) in found}
    return {one: name for one, name in found.items() if one[0]} | members


def _ids(kind: str, wanted: Iterable[tuple[UUID | None, str]]) -> set[str]:
    return {id for _, one in wanted for name, _, id in [one.partition(":")] if name == kind}


def _called(kind: str, rows: "QuerySet[Any]", organisation: Any, id: Any, name: Any) -> Any:
    named = rows.annotate(principal=Value(kind), of=organisation, key=id, called=name)
    return named.values_list("principal", "of", "key", "called")


def _names(rows: "QuerySet[Account]") -> "QuerySet[Account, tuple[str, str]]":
    each = rows.order_by("external_user_id", "-display_name").distinct("external_user_id")
    return each.values_list("external_user_id", "display_name")


def _by_id(found: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {user_id: name or user_id for user_id, name in found}
