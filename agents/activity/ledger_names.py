"""What pages call those whom rows name by id."""

from collections.abc import Collection
from uuid import UUID

from agents.context.custom_agents import PREFIX, name_of
from agents.models import CustomAgent
from audit.ledger.people import Principal
from integrations.accounts.names import find_principals

MANY = 200  # people of an organisation to choose from


def find(wanted: Collection[Principal], first_of: UUID | None) -> dict[Principal, str]:
    """Of users, tokens, staff and an organisation's own agents, and of the first users of an
    organisation. Two queries at most."""
    custom = [one for one in wanted if one[1].startswith(PREFIX)]
    found = find_principals(wanted, first_of=first_of, and_first=MANY)
    return found | (_find_agents(custom) if custom else {})


def _find_agents(wanted: Collection[Principal]) -> dict[Principal, str]:
    rows = CustomAgent.objects.filter(organisation_id__in={of for of, _ in wanted})
    names = rows.values_list("organisation_id", "id", "name")
    return {(one, name_of(id)): name for one, id, name in names}
