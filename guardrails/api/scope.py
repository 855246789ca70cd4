"""For whom a caller may ask. Another user's id is as unknown as none."""

from contextlib import AbstractContextManager

from rest_framework import exceptions
from rest_framework.request import Request

from integrations.contracts import AccountRef
from integrations.models import Account
from integrations.models.preferences import load_preferences
from integrations.web import authentication, languages
from integrations.web.authentication import Caller


def caller_for(request: Request, external_user_id: str) -> Caller:
    """The caller, when it names a user that it may act for."""
    if not external_user_id:
        raise exceptions.ValidationError({"user_id": ["Say for which user."]})
    return authentication.caller_for(request, external_user_id)


def speaking_to(request: Request, user_id: str) -> AbstractContextManager[None]:
    """Inside, what Remit says is in the language that the request asks for, else in the one that
    the user prefers. One query at most."""
    wanted = languages.asked_for(request)
    organisation_id = caller_for(request, user_id).organisation_id
    return languages.speaking(wanted or load_preferences(organisation_id, user_id).language)


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
