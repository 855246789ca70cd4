"""Which organisations somebody of the staff meets in the admin. What belongs to another one is
answered as what there is not."""

from typing import Any, TypeVar
from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model, QuerySet

from integrations.models import Membership, Organisation

M = TypeVar("M", bound=Model)
Person = User | AnonymousUser


def is_bound(user: Any) -> bool:
    """Whether they meet the organisations that they are members of alone. Superusers meet all."""
    return not (user.is_active and user.is_superuser)


def bind(rows: "QuerySet[M]", user: Any, path: str | None) -> "QuerySet[M]":
    """Those of the rows that somebody may meet. `path` leads from a row to its organisation as in
    a filter; None: the rows belong to the whole installation, so superusers alone meet them."""
    if not is_bound(user):
        return rows
    if path is None or not user.is_authenticated:
        return rows.none()
    return rows.filter(**{f"{path}__in": organisation_ids(user)})


def may_meet(user: Any, organisation_id: UUID | None) -> bool:
    return not is_bound(user) or organisation_id in organisation_ids(user)


def organisation_ids(user: Any) -> tuple[UUID, ...]:
    """Of somebody who is bound: asked for once a request."""
    known: tuple[UUID, ...] | None = getattr(user, "_organisation_ids", None)
    if known is None:
        rows = Organisation.objects.filter(memberships__user_id=user.pk)
        known = user._organisation_ids = tuple(rows.values_list("id", flat=True))
    return known


def own_user_id(user: Any, organisation_id: UUID) -> str:
    """Which user of the agent somebody is themself in this organisation. Empty: none; they work for
    all of its users. One query."""
    if not is_bound(user):
        return ""
    rows = Membership.objects.filter(user_id=user.pk, organisation_id=organisation_id)
    return rows.values_list("external_user_id", flat=True).first() or ""


def list_organisations(user: Any) -> "QuerySet[Organisation]":
    return bind(Organisation.objects.order_by("slug"), user, "id")


def find_organisation(user: Any, slug: str) -> Organisation | None:
    """The one that somebody names; where they name none the one named “default”, else their first.
    None where they meet no such one, or none at all."""
    rows = list_organisations(user)
    named = rows.filter(slug=slug or "default").first()
    return named if slug else named or rows.first()
