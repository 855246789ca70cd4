"""What agents may try for each account, as their prompts and tools need it."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from guardrails.actions import registry
from guardrails.contracts import Capability, PermittedTarget
from guardrails.decide.snapshot import PolicySnapshot, lacks_targets
from guardrails.gather.policy_rows import policy_snapshots
from integrations.contracts import AccountRef


def find_capabilities(
    accounts: Sequence[AccountRef], policies: Mapping[UUID, PolicySnapshot] | None = None
) -> dict[UUID, tuple[Capability, ...]]:
    """What the agent may try for each account: nothing that its policy refuses for certain. What a
    switch stops for now is there, so that the refusal says so and the ledger has it. One query,
    none where the accounts' policies were read already."""
    snapshots = policies or policy_snapshots(accounts)
    return {
        account.id: tuple(_capabilities(account, snapshots[account.id])) for account in accounts
    }


def _capabilities(account: AccountRef, policy: PolicySnapshot) -> Iterable[Capability]:
    for action in registry.ACTIONS:
        allowed_action = policy.allowed_action(action.name, action.resource_type)
        if not action.works_on(account.source) or allowed_action is None:
            continue
        listed_targets = policy.listed_targets_for(
            action.name, action.resource_type, account.source
        )
        lacking = action.needs_targets and lacks_targets(
            allowed_action, action.takes, listed_targets
        )
        if not allowed_action.enabled or allowed_action.mode in ("never", "draft_only") or lacking:
            continue
        at_most = {limit.mode for limit in policy.limits(action.name)}
        if at_most & {"never", "draft_only"}:
            continue
        openings = (one.sentence for one in allowed_action.openings)
        yield Capability(
            account_id=account.id,
            action_type=action.name,
            source=account.source,
            description=" ".join(
                [action.description, *(f"Need not be listed if {one}." for one in openings)]
            ),
            mode="ask" if "ask" in at_most else allowed_action.mode,
            schema=action.schema,
            targets=tuple(
                PermittedTarget(
                    id=listed_target.external_id, name=listed_target.name, kind=listed_target.kind
                )
                for listed_target in sorted(
                    listed_targets,
                    key=lambda listed_target: (listed_target.kind, listed_target.name),
                )
            ),
        )
