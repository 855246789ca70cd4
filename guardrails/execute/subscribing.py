"""Keeping up that providers call Remit when something changes at an account. What is asked of them
goes through the executor, so the ledger has it."""

from datetime import datetime
from uuid import UUID

from audit.ledger.ids import uuid7
from guardrails.contracts import ActionRequest, Origin
from guardrails.execute.executor import execute
from integrations.accounts import subscriptions
from integrations.accounts.subscriptions import Wish

AGENT = "subscriptions"


def look_after(account_id: UUID, *, now: datetime) -> None:
    """Does what is due for one account, if anything is. Running it twice does it once."""
    wish = subscriptions.begin(account_id, action_id=uuid7(), now=now)
    if wish is None:
        return
    result = execute(_request(wish))
    subscriptions.note(
        wish, status=result.status, reason=result.reason, result=result.result, now=now
    )


def _request(wish: Wish) -> ActionRequest:
    """The same however often it is tried."""
    return ActionRequest(
        action_id=wish.action_id,
        account=wish.account,
        action_type=f"{wish.step}_subscription",
        arguments={} if wish.step == "open" else {"subscription_id": wish.external_id},
        origin=Origin(trigger="schedule", agent=AGENT, actor="schedule"),
    )
