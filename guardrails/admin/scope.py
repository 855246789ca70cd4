"""Which organisation and account a page is about."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest

from integrations.models import Account, Organisation

ACCOUNTS_SHOWN = 200


def choose_account(request: HttpRequest) -> dict[str, Any]:
    """The account that the address names, and those that could be chosen instead."""
    organisations, organisation = choose_organisation(request)
    rows = Account.objects.select_related("organisation")
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


def choose_organisation(
    request: HttpRequest,
) -> tuple[list[Organisation], Organisation | None]:
    """All organisations, and the one that the address names, else the first."""
    organisations = list(Organisation.objects.order_by("slug"))
    wanted = request.GET.get("organisation", "default")
    chosen = next((row for row in organisations if row.slug == wanted), None)
    return organisations, chosen or next(iter(organisations), None)


def uuid_or_none(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
