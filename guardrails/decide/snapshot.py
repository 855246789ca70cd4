"""One account's policy as a value, and its digest. Pure."""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from json.encoder import encode_basestring
from math import inf
from typing import Any, Literal, NamedTuple
from uuid import UUID

from audit.ledger.chain import canonical, canonical_bytes
from guardrails.decide.conditions.base import (
    Condition,
    OpeningCondition,
    RateCondition,
    Unreadable,
)
from guardrails.facts.effects import EffectKind
from guardrails.facts.targets import Target, domain_of

Mode = Literal["auto", "ask", "draft_only", "never"]
RECEIVERS = frozenset({"recipient", "recipient_domain"})
PERMITTING: frozenset[str] = frozenset({"auto", "ask", "draft_only"})
# Fields that policies of earlier days did not have: left out while they say nothing, so that
# those keep their digests.
LATER: dict[str, Any] = {"hold_seconds": 0, "effect": ""}


@dataclass(frozen=True, kw_only=True)
class AllowedAction:
    """One allowed action. An empty `resource_type` means every type."""

    id: str
    action_type: str
    resource_type: str
    enabled: bool
    mode: Mode
    conditions: tuple[Condition | Unreadable, ...]
    hold_seconds: int = 0

    @property
    def openings(self) -> tuple[OpeningCondition, ...]:
        """The conditions that let receivers in without listing them."""
        if not self.conditions:
            return ()
        return tuple(one for one in self.conditions if isinstance(one, OpeningCondition))


@dataclass(frozen=True, kw_only=True)
class Limit:
    """One limit of the organisation's ceiling: at most `mode`, and only if all conditions hold.
    An empty `action_type` means every action. Limits only narrow; none grants anything."""

    id: str
    action_type: str
    mode: Mode
    conditions: tuple[Condition | Unreadable, ...] = ()
    hold_seconds: int = 0


@dataclass(frozen=True, kw_only=True)
class Switch:
    """One kill switch that is thrown for this account. Empty fields mean all of them; with an
    effect it stops what has this effect."""

    id: str
    action_type: str = ""
    source: str = ""
    why: str = ""
    effect: EffectKind | Literal[""] = ""

    def stops(
        self, action_type: str, source: str, effects: Collection[EffectKind] | None = None
    ) -> bool:
        """Whether it stops such an action; `effects` None: whatever its effects are."""
        by_effect = not self.effect if effects is None else self.effect in effects
        return by_effect and self.action_type in ("", action_type) and self.source in ("", source)


# An account may have hundreds: a named tuple is made many times quicker than a dataclass.
class ListedTarget(NamedTuple):
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
    allowed_actions: tuple[AllowedAction, ...]
    listed_targets: tuple[ListedTarget, ...]
    ceiling: tuple[Limit, ...] = ()
    switches: tuple[Switch, ...] = ()
    has_shadow: bool = False  # a draft decides beside it; no part of what is decided
    has_corrections: bool = False  # what people said of labels is to be looked up; the same
    read_at: float = field(default=-inf, compare=False)  # on the monotonic clock; the same

    def switch(
        self, action_type: str, source: str, effects: Collection[EffectKind] | None = None
    ) -> Switch | None:
        """A kill switch that stops this action: whatever its effects are, or for one of them."""
        if not self.switches:
            return None
        found = (one for one in self.switches if one.stops(action_type, source, effects))
        return min(found, key=lambda one: one.id, default=None)

    def stops_all(self, source: str) -> bool:
        """Whether nothing at all may be done with the account, which is one of `source`."""
        return self.paused or any(
            one.stops("", source) and not one.action_type for one in self.switches
        )

    def limits(self, action_type: str) -> tuple[Limit, ...]:
        """Every ceiling limit that this action is under: each of them counts."""
        if not self.ceiling:
            return ()
        found = (one for one in self.ceiling if one.action_type in ("", action_type))
        return tuple(sorted(found, key=lambda one: one.id))

    def allowed_action(self, action_type: str, resource_type: str) -> AllowedAction | None:
        """The allowed action that counts: one for this resource type beats a general one."""
        general = self._allowed_actions.get((action_type, ""))
        return self._allowed_actions.get((action_type, resource_type), general)

    def people_needed(self, action_type: str, resource_type: str) -> int:
        """How many different people have to say yes where one is asked: the strictest counts."""
        allowed = self.allowed_action(action_type, resource_type)
        rows = (*((allowed,) if allowed else ()), *self.limits(action_type))
        return max((one.people_needed for row in rows for one in row.conditions), default=0) or 1

    def listed_targets_for(
        self, action_type: str, resource_type: str, source: str
    ) -> tuple[ListedTarget, ...]:
        """What may be targeted, targets for this resource type first."""
        wanted = action_type, resource_type, source
        if wanted not in self._listed_targets:
            found = (
                one
                for one in self.listed_targets
                if one.action_type == action_type
                and one.resource_type in (resource_type, "")
                and one.source == source
            )
            self._listed_targets[wanted] = tuple(
                sorted(found, key=lambda one: (not one.resource_type, one.id))
            )
        return self._listed_targets[wanted]

    def granting(
        self, action_type: str, resource_type: str, source: str, target: Target
    ) -> ListedTarget | None:
        """The row that lists this target, by exact identity; for to and cc a row may list
        the receiver's whole domain. Never by name."""
        wanted = action_type, resource_type, source
        if wanted not in self._listed:
            listed_targets = self.listed_targets_for(*wanted)
            # Of several that list the same, the first counts.
            self._listed[wanted] = {
                (one.kind, one.external_id): one for one in reversed(listed_targets)
            }
        listed = self._listed[wanted]
        listed_target = listed.get((target.kind, target.value))
        if listed_target is None and target.role in ("to", "cc", "audience"):
            listed_target = listed.get(("recipient_domain", domain_of(target.value)))
        return listed_target

    def unlisted(self, addresses: Iterable[str]) -> frozenset[str]:
        """Those of the plain addresses that no row lists as a receiver, themselves or with their
        domain, for any action."""
        listed = {(one.kind, one.external_id) for one in self.listed_targets}
        ways = {
            one: {("recipient", one), ("recipient_domain", domain_of(one))} for one in addresses
        }
        return frozenset(one for one, rows in ways.items() if listed.isdisjoint(rows))

    @cached_property
    def _listed(self) -> dict[tuple[str, str, str], dict[tuple[str, str], ListedTarget]]:
        return {}

    @cached_property
    def _allowed_actions(self) -> Mapping[tuple[str, str], AllowedAction]:
        return {(one.action_type, one.resource_type): one for one in reversed(self.allowed_actions)}

    @cached_property
    def _listed_targets(self) -> dict[tuple[str, str, str], tuple[ListedTarget, ...]]:
        # Filled as it is asked for: a policy is read for one action, which is decided twice.
        return {}

    @cached_property
    def type_decisions(self) -> dict[Any, Any]:
        """What guardrails.decide.checks.action_type found, by what was asked."""
        return {}

    @cached_property
    def has_rates(self) -> bool:
        """Whether what this account's agent does must be counted."""
        conditions = [one for row in self.allowed_actions for one in row.conditions]
        conditions += [one for limit in self.ceiling for one in limit.conditions]
        return any(isinstance(one, RateCondition) for one in conditions)

    def basis(
        self, action_type: str, resource_type: str, target_ids: Collection[str]
    ) -> dict[str, Any]:
        """The part of the policy that one action is under: its allowed action, the ceiling's
        limits about it, and the rows that list its targets. A switch leaves no trace here: while
        it is thrown it refuses."""
        allowed = self.allowed_action(action_type, resource_type)
        return {
            "rule": allowed and vars(allowed) | {"conditions": _raw(allowed.conditions)},
            "limits": [
                vars(limit) | {"conditions": _raw(limit.conditions)}
                for limit in self.limits(action_type)
            ],
            "options": _sorted(
                one._asdict() for one in self.listed_targets if one.id in target_ids
            ),
        }

    def content(self) -> dict[str, Any]:
        """The whole policy as plain data; equal for equal policies. `read` takes it back."""
        return {
            "account": str(self.account_id),
            "paused": self.paused,
            "rules": _sorted(
                _row(one) | {"conditions": _raw(one.conditions)} for one in self.allowed_actions
            ),
            "options": [one._asdict() for one in sorted(self.listed_targets)],
            "ceiling": _sorted(
                _row(limit) | {"conditions": _raw(limit.conditions)} for limit in self.ceiling
            ),
            "switches": _sorted(map(_row, self.switches)),
        }

    @cached_property
    def canonical(self) -> str:
        """`content` as canonical JSON."""
        content = replace(self, listed_targets=()).content()
        texts = {name: canonical(part) for name, part in content.items()}
        texts["options"] = f"[{','.join(map(_canonical, sorted(self.listed_targets)))}]"
        members = [f'"{name}":{texts[name]}' for name in sorted(texts)]
        return f"{{{','.join(members)}}}"

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical policy; equal for equal policies."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()


# The canonical JSON of one target. Written out, because a policy has hundreds and its digest is
# needed for every decision.
TARGET = (
    '{"action_type":%s,"external_id":%s,"group_id":%s,"id":%s,"kind":%s,"name":%s,'
    '"resource_type":%s,"single":%s,"source":%s}'
)


def _canonical(one: ListedTarget) -> str:
    text = encode_basestring
    return TARGET % (
        text(one.action_type),
        text(one.external_id),
        text(one.group_id),
        text(one.id),
        text(one.kind),
        text(one.name),
        text(one.resource_type),
        "true" if one.single else "false",
        text(one.source),
    )


def _row(value: AllowedAction | Limit | Switch) -> dict[str, Any]:
    return {
        name: field
        for name, field in vars(value).items()
        if name not in LATER or field != LATER[name]
    }


def _raw(conditions: Iterable[Condition | Unreadable]) -> list[Any]:
    # In their order: of several that fail, the first is the reason.
    return [one.model_dump(mode="json") for one in conditions]


def _sorted(values: Iterable[Any]) -> list[Any]:
    return sorted(values, key=canonical_bytes)


def lacks_targets(
    allowed_action: AllowedAction, takes: Iterable[str], listed_targets: Collection[ListedTarget]
) -> bool:
    """Whether an action that needs listed targets has none: neither listed ones, nor, where
    it takes receivers alone, such as the allowed action lets in."""
    return not listed_targets and not (allowed_action.openings and set(takes) <= RECEIVERS)


def rivals(
    listed_targets: Iterable[ListedTarget], chosen: ListedTarget
) -> tuple[ListedTarget, ...]:
    """The other targets of a single-choice group."""
    if not (chosen.group_id and chosen.single):
        return ()
    return tuple(
        sorted(
            (
                one
                for one in listed_targets
                if one.group_id == chosen.group_id and one.external_id != chosen.external_id
            ),
            key=lambda one: one.external_id,
        )
    )
