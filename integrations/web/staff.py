"""Which organisations somebody of the staff meets in the admin. What belongs to another one is
answered as what there is not."""

from typing import Any, TypeVar, cast
from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model, QuerySet

from integrations.models import Membership, Organisation, PersonalSettings

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


def met(user: Any) -> tuple[UUID, ...] | None:
    """The organisations that somebody meets; None: all."""
    return organisation_ids(user) if is_bound(user) else None


def organisation_ids(user: Any) -> tuple[UUID, ...]:
    """Of somebody who is bound."""
    return tuple(one.organisation_id for one in _memberships(user))


def own_user_id(user: Any, organisation_id: UUID) -> str:
    """Which user of the agent somebody is themself in this organisation. Empty: none; they work for
    all of its users."""
    if not is_bound(user):
        return ""
    rows = (one for one in _memberships(user) if one.organisation_id == organisation_id)
    return next((one.external_user_id for one in rows), "")


def list_organisations(user: Any, most: int) -> list[Organisation]:
    """The first so many that somebody meets, by slug."""
    if is_bound(user):
        return [one.organisation for one in _memberships(user)[:most]]
    return list(Organisation.objects.order_by("slug")[:most])


def settings_of(user: Any) -> PersonalSettings:
    """What somebody says of themself; an unsaved row where they have said nothing, or nobody is
    logged in. Of somebody who is bound it comes with their memberships."""
    if not getattr(user, "is_authenticated", False) or user.pk is None:
        return PersonalSettings()
    known = getattr(user, "_known_settings", None)
    if known is None:
        for one in _memberships(user) if is_bound(user) else ():
            known = getattr(one.user, "personal_settings", PersonalSettings(user_id=user.pk))
        rows = PersonalSettings.objects.filter(user_id=user.pk)
        known = user._known_settings = known or rows.first() or PersonalSettings(user_id=user.pk)
    return cast("PersonalSettings", known)


def _memberships(user: Any) -> tuple[Membership, ...]:
    """Of somebody who is bound, with their organisations, by slug: asked for once a request."""
    known: tuple[Membership, ...] | None = getattr(user, "_known_memberships", None)
    if known is None:
        rows = Membership.objects.filter(user_id=user.pk).select_related(
            "organisation", "user__personal_settings"
        )
        known = user._known_memberships = tuple(rows.order_by("organisation__slug"))
    return known


def find_organisation(user: Any, slug: str) -> Organisation | None:
    """The one that somebody names; where they name none the one named “default”, else their first.
    None where they meet no such one, or none at all."""
    rows = bind(Organisation.objects.order_by("slug"), user, "id")
    named = rows.filter(slug=slug or "default").first()
    return named if slug else named or rows.first()
