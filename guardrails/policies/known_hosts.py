"""Which hosts an operator has named for a user's accounts."""

from uuid import UUID

from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.conditions.content.links import Links
from guardrails.facts.targets import address_or_none, domain_of
from guardrails.models import AllowedAction, AllowedActionOption
from integrations.models import Account


def list_known_hosts(*, organisation_id: UUID, external_user_id: str) -> frozenset[str]:
    """The domains that are listed as receivers or permitted for links, and the accounts' own.
    Three queries."""
    accounts = Account.objects.filter(
        organisation_id=organisation_id, external_user_id=external_user_id
    )
    known = {
        domain_of(plain)
        for address in accounts.values_list("address", flat=True)
        if (plain := address_or_none(address)) is not None
    }
    listed = AllowedActionOption.objects.filter(account__in=accounts, kind="recipient_domain")
    known |= set(listed.values_list("external_id", flat=True))
    for found in AllowedAction.objects.filter(account__in=accounts).values_list(
        "conditions", flat=True
    ):
        known |= {
            host
            for one in conditions.read_all(found)
            if isinstance(one, Links)
            for host in one.domains
        }
    return frozenset(known)
