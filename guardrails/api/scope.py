"""For whom a caller may ask. Another user's id is as unknown as none."""

from rest_framework import exceptions
from rest_framework.request import Request

from integrations.contracts import AccountRef
from integrations.models import Account
from integrations.web.authentication import Caller, caller_of


def caller_for(request: Request, external_user_id: str) -> Caller:
    """The caller, when it may act for this user. Another user's id is as unknown as none."""
    auth = caller_of(request)
    if not external_user_id:
        raise exceptions.ValidationError({"user_id": ["Say for which user."]})
    if not auth.allows_user(external_user_id):
        raise exceptions.NotFound("There is no such user.", code="unknown_user")
    return auth


def accounts_of(request: Request, user_id: str) -> list[AccountRef]:
    """The user's accounts, when the caller may act for this user."""
    auth = caller_for(request, user_id)
    rows = Account.objects.select_related("organisation").filter(
        organisation_id=auth.organisation_id, external_user_id=user_id
    )
    accounts = [row.ref() for row in rows.order_by("created_at", "id")]
    if not accounts:
        raise exceptions.NotFound("There is no such user.", code="unknown_user")
    return accounts
