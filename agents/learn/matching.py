"""Does a learned pattern fit a mail? Pure; a pattern is only ever a proposal of actions,
which pass through the same guardrails as everything else."""

import json
from collections.abc import Sequence
from typing import Protocol

from agents.contracts import InboundMail
from guardrails.actions import registry
from guardrails.contracts.learning import Pattern, PatternMatch
from guardrails.facts.subjects import generalised
from integrations.llm.completions import Completion, RequestedCall

ACTION_TYPES = frozenset(name for name, _ in registry.pattern_action_choices())


class MailHead(Protocol):
    """What of a mail a pattern looks at."""

    @property
    def sender(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def list_id(self) -> str: ...
    @property
    def authenticated(self) -> bool: ...


def match(patterns: Sequence[Pattern], mail: InboundMail) -> PatternMatch | None:
    """The one pattern that fits; the most specific wins, then the lower id. Whole values are
    compared, an empty value never matches, and a mail whose sender is not proved (DMARC)
    fits no pattern that names a sender."""
    fitting = [pattern for pattern in patterns if fits(pattern, mail)]
    if not fitting:
        return None
    best = min(fitting, key=lambda pattern: (-_specificity(pattern), pattern.id))
    return PatternMatch(
        pattern_id=best.id,
        name=best.name,
        actions=tuple(
            (
                action_type,
                registry.pattern_arguments(action_type, arguments, item_id=mail.email_id),
            )
            for action_type, arguments in best.actions
        ),
    )


def fits(pattern: Pattern, mail: MailHead) -> bool:
    sender = mail.sender.casefold()
    _, at, domain = sender.rpartition("@")
    wanted = [
        (pattern.sender_address.casefold(), sender if at and mail.authenticated else ""),
        (pattern.sender_domain.casefold(), domain if at and mail.authenticated else ""),
        (pattern.list_id, mail.list_id),
        (pattern.subject, generalised(mail.subject)),
    ]
    named = [(expected, actual) for expected, actual in wanted if expected]
    anchored = pattern.sender_address or pattern.sender_domain or pattern.list_id
    return bool(
        anchored
        and pattern.content_type == "email"
        and all(action_type in ACTION_TYPES for action_type, _ in pattern.actions)
        and all(actual and expected == actual for expected, actual in named)
    )


def _specificity(pattern: Pattern) -> int:
    return sum(
        weight
        for value, weight in (
            (pattern.sender_address, 8),
            (pattern.list_id, 4),
            (pattern.sender_domain, 2),
            (pattern.subject, 1),
        )
        if value
    )


def to_completion(found: PatternMatch) -> Completion:
    """What a pattern does, in the form of a model's answer."""
    return Completion(
        text="",
        calls=tuple(
            RequestedCall(
                id=str(index),
                name="execute_action",
                arguments=json.dumps({"action_type": action_type, "params": dict(arguments)}),
            )
            for index, (action_type, arguments) in enumerate(found.actions)
        ),
        model=f"pattern:{found.name}",
        finish_reason="pattern",
    )
