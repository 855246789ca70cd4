"""Ask a provider to call Remit no more."""

from typing import Any

from guardrails.actions.base import Call
from guardrails.actions.upkeep.subscriptions import SubscriptionAction, SubscriptionArguments
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from integrations.ports.pushes import PushWriter


class CloseSubscription(SubscriptionAction[SubscriptionArguments]):
    name = "close_subscription"
    operation = "close_subscription"
    title = "Ask to be called no more"
    description = "Ask the provider to call Remit no more."
    object_field = "subscription_id"
    arguments = SubscriptionArguments
    ends_upkeep = True

    def describe(self, arguments: SubscriptionArguments, facts: Facts) -> str:
        return phrase("Ask the provider to call Remit no more")

    def perform(
        self, writer: PushWriter, arguments: SubscriptionArguments, call: Call
    ) -> dict[str, Any]:
        return writer.close_subscription(arguments.subscription_id, key=call.key)
