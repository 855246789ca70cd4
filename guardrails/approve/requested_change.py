"""The change of policy that a refused action asks for, found on what the ledger kept of it.

It is found anew whenever somebody looks: what counts is the policy as it is now.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils import timezone

from audit.contracts import Recorded
from audit.ledger import selectors as ledger
from guardrails.actions import registry
from guardrails.actions.base import InvalidArguments
from guardrails.approve.cards import UNKNOWN
from guardrails.decide import evidence
from guardrails.decide.evidence import Past
from guardrails.decide.policy import decide, needs
from guardrails.decide.smallest_change import Change, NoChange, Refused, smallest_change
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.text import visible
from guardrails.gather.judgement import read_facts
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.policies import differences as policy_differences, files as policy_files
from guardrails.policies.differences import Difference
from guardrails.policies.simulation import describe_past
from guardrails.policies.text import PolicyFileError
from guardrails.policies.why import Given, list_values
from integrations.models import Account

LOOKED_THROUGH = 500  # of the account's latest decisions
NOT_KEPT = phrase("The ledger does not keep what this was decided on any more.")
NOT_READ = phrase(
    "The policy now looks at facts that were not read then. The user has to ask the agent again."
)


@dataclass(frozen=True, kw_only=True)
class Grounds:
    """A refused action with the facts that a change is judged on. `are_kept` says that the
    refusal's own row of the ledger has them."""

    row: Recorded
    refused: Refused
    facts: Facts
    now: datetime
    are_kept: bool


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """What an operator may approve: the change in words, and the digest that binds
    their word to exactly this change of exactly this policy."""

    grounds: Grounds
    change: Change
    differences: tuple[Difference, ...]
    digest: str

    @property
    def description(self) -> str:
        """The refused action in one line."""
        refused, action = self.grounds.refused, self.grounds.refused.action
        return action.describe(action.parse(refused.request.arguments), self.grounds.facts)

    @property
    def decided_on(self) -> dict[str, Any]:
        """The facts as the ledger keeps them for the changed policy; none if it has them."""
        grounds = self.grounds
        if grounds.are_kept:
            return {}
        return evidence.collect(
            request=grounds.refused.request,
            policy=self.change.policy,
            facts=grounds.facts,
            now=grounds.now,
            decision=self.change.decision,
        )

    @property
    def values(self) -> tuple[Given, ...]:
        """Every value of the refused action with where it comes from, as the guard finds out
        before anything is changed: what the change lists would count as listed by an operator."""
        grounds, action = self.grounds, self.grounds.refused.action
        before = decide(
            request=grounds.refused.request,
            action=action,
            policy=grounds.refused.permitted_type(),
            facts=grounds.facts,
            now=grounds.now,
        )
        arguments = action.parse(grounds.refused.request.arguments)
        reached = action.targets(arguments) + (action.implied(arguments, grounds.facts) or ())
        unknown = {one.path for one in reached if before.provenance.get(one.path) == "X"}
        return tuple(
            replace(one, provenance=UNKNOWN) if one.path in unknown else one
            for one in list_values(grounds.row, before.provenance)
        )

    @property
    def fingerprint(self) -> str:
        """Equal for equal wishes."""
        lines = [str(self.grounds.row.account_id)]
        lines += [one.model_dump_json() for one in self.change.entries]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A refusal of the past that the change would have ended: for certain where its facts were
    read, else for what it was aimed at."""

    past: Past
    is_read: bool

    @property
    def description(self) -> str:
        return describe_past(self.past)


def read_grounds(row: Recorded, account: Account) -> Grounds | NoChange:
    """The refused action of this row of the ledger, on its own facts; where they were not read,
    or not all of them, on the provider's as they are now. Raises ProviderError."""
    past = evidence.past(row)
    if past is None:
        return NoChange(why=NOT_KEPT)
    found = _refused(past, account)
    if found is None:
        return NoChange(why=phrase("There is no such action."))
    own = _on_own_facts(row, past, found)
    if own is not None:
        return own
    policy, now = found.permitted_type(), timezone.now()
    try:
        arguments = found.action.parse(found.request.arguments)
    except InvalidArguments:
        return NoChange(why=phrase("The arguments of the action are not valid."))
    facts = read_facts(found.request, policy, found.action, arguments)
    return Grounds(row=row, refused=found, facts=facts, now=now, are_kept=False)


def load_grounds(
    row: Recorded, account: Account, decided_on: Mapping[str, Any]
) -> Grounds | NoChange:
    """The same without asking the provider: `decided_on` is what was kept of the facts, if the
    refusal's row has none."""
    whole = replace(row, payload={**row.payload, "decided_on": decided_on}) if decided_on else row
    past = evidence.past(whole)
    if past is None:
        return NoChange(why=NOT_KEPT)
    found = _refused(past, account)
    own = found and _on_own_facts(row, past, found)
    return own or NoChange(why=NOT_READ)


def propose(grounds: Grounds, account: Account) -> Proposal | NoChange:
    """The smallest change of the account's present policy that would permit it."""
    refused = grounds.refused
    change = smallest_change(refused, facts=grounds.facts, now=grounds.now)
    if isinstance(change, NoChange):
        return change
    try:
        whole = policy_files.whole(account, change.file)
    except PolicyFileError as error:
        return NoChange(
            why=phrase(
                "No small change of the policy permits this. %(why)s", why=visible(str(error))
            )
        )
    found = policy_differences.differences(refused.present, whole)
    lines = [refused.policy.digest, *map(str, found)]
    return Proposal(
        grounds=grounds,
        change=replace(change, file=whole),
        differences=found,
        digest=hashlib.sha256("\n".join(lines).encode()).hexdigest(),
    )


def count_refusals(proposal: Proposal) -> tuple[int, datetime]:
    """How many refusals among the account's latest decisions it would have ended, this one
    included, and when the first of them was."""
    row = proposal.grounds.row
    times = {one.past.recorded.action_id: one.past.now for one in find_ended(proposal)}
    times.setdefault(row.action_id, row.occurred_at)
    return len(times), min(times.values())


def find_ended(proposal: Proposal) -> tuple[Ended, ...]:
    """The refusals among the account's latest decisions that it would have ended, newest first.
    Those that came before anything was read are of the same sort, and aimed at what it lists."""
    row, policy = proposal.grounds.row, proposal.change.policy
    found = []
    for past in map(
        evidence.past,
        ledger.decisions(tenant_id=row.tenant_id, account_id=row.account_id, limit=LOOKED_THROUGH),
    ):
        if past is None or past.verdict != "refuse" or past.request.action_type != row.action_type:
            continue
        again = evidence.decide_again(past, policy)
        if again is None and _is_alike(past, proposal):
            found.append(Ended(past=past, is_read=False))
        elif again is not None and again.verdict != "refuse":
            found.append(Ended(past=past, is_read=True))
    return tuple(found)


def _is_alike(past: Past, proposal: Proposal) -> bool:
    """Whether what was refused before anything was read is of the same sort."""
    refused, policy = proposal.grounds.refused, proposal.change.policy
    action = refused.action
    try:
        targets = action.targets(action.parse(past.request.arguments))
    except InvalidArguments:
        return False
    here = action.name, action.resource_type, refused.request.account.source
    return past.reason == proposal.grounds.row.decision_reason and all(
        policy.granting(*here, one) for one in targets
    )


def _refused(past: Past, account: Account) -> Refused | None:
    action, ref = registry.BY_NAME.get(past.request.action_type), account.ref()
    if action is None:
        return None
    origin = replace(past.request.origin, turn_id=past.recorded.run_id)
    return Refused(
        request=replace(past.request, account=ref, origin=origin),
        action=action,
        policy=policy_snapshot(ref),
        present=policy_files.exported(account),
    )


def _on_own_facts(row: Recorded, past: Past, refused: Refused) -> Grounds | None:
    """The facts of the past, if they are all that has to be known now."""
    if past.facts is None or not needs(refused.action, refused.permitted_type()) <= past.needs:
        return None
    return Grounds(row=row, refused=refused, facts=past.facts, now=past.now, are_kept=True)
