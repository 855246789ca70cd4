"""One account's policy as a value, and its digest. Pure."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal
from uuid import UUID

from audit.chain import canonical_bytes
from guardrails.conditions import Condition, Unreadable
from guardrails.targets import Target, domain_of

Mode = Literal["auto", "ask", "never"]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One permission. An empty `resource_type` means every type."""

    id: str
    action_type: str
    resource_type: str
    enabled: bool
    mode: Mode
    conditions: tuple[Condition | Unreadable, ...]


@dataclass(frozen=True, kw_only=True)
class Option:
    """One listed target. An empty `resource_type` means every type; `group_id` is empty
    without a group, and `single` says that the group holds one of its labels at a time."""

    id: str
    action_type: str
    resource_type: str
    source: str
    kind: str
    external_id: str
    name: str
    group_id: str = ""
    single: bool = False


@dataclass(frozen=True, kw_only=True)
class PolicySnapshot:
    """What operators permit for one account at one moment. The order of rows means nothing."""

    account_id: UUID
    paused: bool
    rules: tuple[Rule, ...]
    options: tuple[Option, ...]

    def rule(self, action_type: str, resource_type: str) -> Rule | None:
        """The permission that counts: one for this resource type beats a general one."""
        for wanted in (resource_type, ""):
            for rule in self.rules:
                if rule.action_type == action_type and rule.resource_type == wanted:
                    return rule
        return None

    def options_for(self, action_type: str, resource_type: str, source: str) -> tuple[Option, ...]:
        """What may be targeted, options for this resource type first."""
        found = (
            option
            for option in self.options
            if option.action_type == action_type
            and option.resource_type in (resource_type, "")
            and option.source == source
        )
        return tuple(sorted(found, key=lambda option: (not option.resource_type, option.id)))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical policy; equal for equal policies."""
        return hashlib.sha256(
            canonical_bytes(
                {
                    "account": str(self.account_id),
                    "paused": self.paused,
                    "rules": _sorted(
                        {
                            "id": rule.id,
                            "action_type": rule.action_type,
                            "resource_type": rule.resource_type,
                            "enabled": rule.enabled,
                            "mode": rule.mode,
                            "conditions": _sorted(
                                one.model_dump(mode="json") for one in rule.conditions
                            ),
                        }
                        for rule in self.rules
                    ),
                    "options": _sorted(vars(option) for option in self.options),
                }
            )
        ).hexdigest()


def _sorted(values: Iterable[object]) -> list[object]:
    return sorted(values, key=canonical_bytes)


def granting(options: Iterable[Option], target: Target) -> Option | None:
    """The option that lists this target, by exact identity; for to and cc an option may list
    the receiver's whole domain. Never by name."""
    by_domain = None
    for option in options:
        if option.kind == target.kind and option.external_id == target.value:
            return option
        if (
            option.kind == "recipient_domain"
            and target.role in ("to", "cc", "audience")
            and option.external_id == domain_of(target.value)
        ):
            by_domain = option
    return by_domain


def rivals(options: Iterable[Option], chosen: Option) -> tuple[Option, ...]:
    """The other options of a single-choice group."""
    if not (chosen.group_id and chosen.single):
        return ()
    return tuple(
        sorted(
            (
                option
                for option in options
                if option.group_id == chosen.group_id and option.external_id != chosen.external_id
            ),
            key=lambda option: option.external_id,
        )
    )
