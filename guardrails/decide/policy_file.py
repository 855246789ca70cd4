"""What a policy file says, and a policy as it would be with one. Pure."""

from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.snapshot import AllowedAction, ListedTarget, Mode, PolicySnapshot
from integrations.contracts import Source


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class AllowedActionEntry(Part):
    action: str
    resource: str = ""
    mode: Mode
    enabled: bool = True
    conditions: list[dict[str, Any]] = Field(default_factory=list)
    patterns_unapproved: bool = False
    confirm_in_words: bool = False
    hold_seconds: int = 0


class Group(Part):
    name: str
    cardinality: Literal["single", "multi"]


class Listed(Part):
    action: str
    resource: str = ""
    kind: str
    id: str
    name: str
    group: str = ""


class PolicyFile(Part):
    """One account's policy. Conditions and targets are as docs/guardrails.md describes them."""

    version: Literal[1]
    allowed_actions: list[AllowedActionEntry] | None = None
    groups: list[Group] | None = None
    targets: list[Listed] | None = None


def with_file(policy: PolicySnapshot, whole: PolicyFile, source: Source) -> PolicySnapshot:
    """The policy with the allowed actions and targets of a whole file
    (`guardrails.policies.files.whole`) instead of its own. Ceiling, switches and pauses stay."""
    allowed_actions = {
        (one.action_type, one.resource_type): one.id for one in policy.allowed_actions
    }
    listed_targets = {
        (one.action_type, one.resource_type, one.kind, one.external_id): one.id
        for one in policy.listed_targets
    }
    single = {one.name: one.cardinality == "single" for one in whole.groups or ()}
    return replace(
        policy,
        allowed_actions=tuple(
            AllowedAction(
                id=allowed_actions.get(
                    (one.action, one.resource), f"draft:{one.action}:{one.resource}"
                ),
                action_type=one.action,
                resource_type=one.resource,
                enabled=one.enabled,
                mode=one.mode,
                conditions=conditions.read_all(one.conditions),
                hold_seconds=one.hold_seconds,
            )
            for one in whole.allowed_actions or ()
        ),
        listed_targets=tuple(
            ListedTarget(
                id=listed_targets.get(
                    (one.action, one.resource, one.kind, one.id),
                    f"draft:{one.action}:{one.resource}:{one.kind}:{one.id}",
                ),
                action_type=one.action,
                resource_type=one.resource,
                source=source,
                kind=one.kind,
                external_id=one.id,
                name=one.name,
                group_id=one.group and f"group:{one.group}",
                single=single.get(one.group, False),
            )
            for one in whole.targets or ()
        ),
    )
