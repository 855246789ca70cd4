"""Ask a provider to call Remit when something changes at an account."""

from typing import Any

from guardrails.actions.base import Arguments, Call
from guardrails.actions.upkeep.subscriptions import SubscriptionAction
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from integrations.ports.pushes import PushWriter


class NoArguments(Arguments):
    pass


class OpenSubscription(SubscriptionAction[NoArguments]):
    name = "open_subscription"
    operation = "open_subscription"
    title = "Ask to be called"
    description = "Ask the provider to call Remit when something changes."
    arguments = NoArguments

    def describe(self, arguments: NoArguments, facts: Facts) -> str:
        return phrase("Ask the provider to call Remit when something changes")

    def perform(self, writer: PushWriter, arguments: NoArguments, call: Call) -> dict[str, Any]:
        return writer.open_subscription(key=call.key)
