"""Whether word of an item tells of an action of the assistant's own, by the ledger. A provider
sends it to everybody, often before it has answered the action itself."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

from audit.ledger import provider_side
from guardrails.actions.registry import BY_NAME
from integrations.contracts import AccountRef

# Word of a change that comes later tells of somebody else's.
RECENT = timedelta(minutes=10)
# For so long it may be an action whose answer nobody knows yet; then it is somebody else's.
OPEN = timedelta(minutes=1)
NOT_DONE = frozenset({"failed", "noop"})


def find_author(
    account: AccountRef, ids: Sequence[str], *, now: datetime
) -> Literal["own", "open", "other"]:
    """Whose the newest version of an item is that is known by these ids. “open”: an action is under
    way that may have made it. Two queries."""
    creators = provider_side.find_creators(tenant_id=account.organisation_id, external_ids=ids)
    done = provider_side.list_since(
        tenant_id=account.organisation_id, account_id=account.id, since=now - RECENT
    )
    keys = {provider_side.digest(account.organisation_id, one) for one in ids}
    touched = [one for one in done if one.resource_key in keys and one.status not in NOT_DONE]
    if creators or touched:
        return "own"
    makes = (
        one
        for one in done
        if one.status == "pending"
        and one.began_at > now - OPEN
        and (action := BY_NAME.get(one.action_type)) is not None
        and action.object_field is None
    )
    return "open" if any(makes) else "other"
