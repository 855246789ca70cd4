"""Which account a page is about."""

from typing import Any

from django.http import HttpRequest

from integrations.contracts.field_types import uuid_or_none
from integrations.models import Account
from integrations.web import staff
from integrations.web.admin_pages import choose_organisation

ACCOUNTS_SHOWN = 200


def choose_account(request: HttpRequest) -> dict[str, Any]:
    """The account that the address names, and those that could be chosen instead."""
    organisations, organisation = choose_organisation(request)
    rows = staff.bind(Account.objects.select_related("organisation"), request.user, "organisation")
    key = uuid_or_none(request.GET.get("account", ""))
    account = rows.filter(pk=key).first() if key else None
    if account:
        organisation = account.organisation
    listed = rows.filter(organisation=organisation).order_by("external_user_id", "source")
    return {
        "organisations": organisations,
        "organisation": organisation,
        "account": account,
        "accounts": listed[:ACCOUNTS_SHOWN],
    }
