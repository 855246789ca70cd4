"""Ask a provider to go on calling Remit."""

from typing import Any

from guardrails.actions.base import Call
from guardrails.actions.upkeep.subscriptions import SubscriptionAction, SubscriptionArguments
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from integrations.ports.pushes import PushWriter


class RenewSubscription(SubscriptionAction[SubscriptionArguments]):
    name = "renew_subscription"
    operation = "renew_subscription"
    title = "Ask to be called for longer"
    description = "Ask the provider to go on calling Remit when something changes."
    object_field = "subscription_id"
    arguments = SubscriptionArguments

    def describe(self, arguments: SubscriptionArguments, facts: Facts) -> str:
        return phrase("Ask the provider to go on calling Remit when something changes")

    def perform(
        self, writer: PushWriter, arguments: SubscriptionArguments, call: Call
    ) -> dict[str, Any]:
        return writer.renew_subscription(arguments.subscription_id, key=call.key)
