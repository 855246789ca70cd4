"""Ask a provider to call Remit when something changes at an account. For Remit itself alone: no
agent can propose them, and no operator permits them. They change no item and reach nobody else, so
they are no matter of the account's allowed actions; switches, pauses and the ceiling hold."""

from collections.abc import Mapping
from typing import Any

from guardrails.actions.base import A, Action, Arguments, Outcome
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.text import ObjectId
from integrations.ports.pushes import PushWriter
from integrations.ports.registry import BY_SOURCE


class SubscriptionAction(Action[A, PushWriter]):
    """On accounts of any kind whose connector says that Remit subscribes there."""

    kind = "any"
    resource_type = "subscription"
    needs = frozenset()
    is_upkeep = True

    def works_on(self, source: str) -> bool:
        return source in BY_SOURCE and BY_SOURCE[source].subscribes

    def effects(self, arguments: A, facts: Facts) -> tuple[Effect, ...]:
        return ()

    def outcome(self, arguments: A, answer: Mapping[str, Any]) -> Outcome:
        return {name: answer[name] for name in ("id", "expires_at") if name in answer}, ()


class SubscriptionArguments(Arguments):
    subscription_id: ObjectId
