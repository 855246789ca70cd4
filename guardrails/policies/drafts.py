"""A policy as it would be with a row that is not saved yet, or one more switch. Pure but for
reading the row's own fields."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from guardrails.decide import snapshot
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.snapshot import Limit, ListedTarget, Mode, PolicySnapshot, Switch
from guardrails.models import AllowedAction, AllowedActionOption, CeilingLimit

T = TypeVar("T", snapshot.AllowedAction, ListedTarget, Limit)
DraftRow = AllowedAction | AllowedActionOption | CeilingLimit


def with_row(policy: PolicySnapshot, row: DraftRow) -> PolicySnapshot:
    """The policy with this row, saved or not, in the place of the stored one."""
    key = str(row.pk)
    if isinstance(row, AllowedActionOption):
        return replace(
            policy, listed_targets=(*_without(policy.listed_targets, key), _listed_target(row))
        )
    if isinstance(row, CeilingLimit):
        limit = Limit(
            id=key,
            action_type=row.action_type,
            mode=_mode(row.at_most),
            conditions=conditions.read_all(row.conditions),
            hold_seconds=row.hold_seconds,
        )
        return replace(policy, ceiling=(*_without(policy.ceiling, key), limit))
    allowed_action = snapshot.AllowedAction(
        id=key,
        action_type=row.action_type,
        resource_type=row.resource_type,
        enabled=row.enabled,
        mode=_mode(row.approval_mode),
        conditions=conditions.read_all(row.conditions),
        hold_seconds=row.hold_seconds,
    )
    return replace(policy, allowed_actions=(*_without(policy.allowed_actions, key), allowed_action))


def with_switch(policy: PolicySnapshot, switch: Switch) -> PolicySnapshot:
    """The policy with one more switch thrown."""
    return replace(policy, switches=(*policy.switches, switch))


def _listed_target(row: AllowedActionOption) -> ListedTarget:
    return ListedTarget(
        id=str(row.pk),
        action_type=row.action_type,
        resource_type=row.resource_type,
        source=row.source,
        kind=row.kind,
        external_id=row.external_id,
        name=row.name,
        group_id=str(row.group_id or ""),
        single=row.group is not None and row.group.cardinality == "single",
    )


def _without(rows: Iterable[T], key: str) -> tuple[T, ...]:
    return tuple(one for one in rows if one.id != key)


def _mode(stored: str) -> Mode:
    found: Mode = stored  # type: ignore[assignment]  # a choice of the field
    return found
