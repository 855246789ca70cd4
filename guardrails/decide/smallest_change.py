"""From a refusal to the smallest change of policy that would permit it. Pure.

`smallest_change` knows no policy and grants nothing: it tries candidates, each the narrowest of
its sort, and asks `policy.decide` what it says to the very request that was refused. What the
ceiling, a switch, a pause or the guard's own checks refuse stays refused: there is no candidate
for that.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from guardrails.actions.base import AnyAction
from guardrails.contracts import ActionRequest, Decision
from guardrails.decide import policy as deciding
from guardrails.decide.checks.case import Case
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.conditions.base import Condition, RateCondition
from guardrails.decide.policy_file import AllowedActionEntry, Listed, PolicyFile, with_file
from guardrails.decide.snapshot import AllowedAction, Limit, PolicySnapshot
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Target

STEPS = 100  # what takes more of them is no small change
Entry = AllowedActionEntry | Listed
Key = tuple[str, ...]
L = TypeVar("L", AllowedAction, Limit)


@dataclass(frozen=True, kw_only=True)
class Change:
    """Entries of a policy file that are added, or take the place of those with the same key; none
    where the policy permits the request by now. `file` and `policy` are as they would be with
    them, and `decision` is what that policy says, however often the action was done."""

    entries: tuple[Entry, ...]
    file: PolicyFile
    policy: PolicySnapshot
    decision: Decision


@dataclass(frozen=True, kw_only=True)
class NoChange:
    """Why no candidate permits it, in words."""

    why: str


@dataclass(frozen=True, kw_only=True)
class Refused:
    """What was refused, with the account's policy as it is now: `present` is the same as a whole
    file. `action` is what the request names."""

    request: ActionRequest
    action: AnyAction
    policy: PolicySnapshot
    present: PolicyFile

    def under(self, *entries: Entry) -> PolicySnapshot:
        """The policy with these entries."""
        return with_file(
            self.policy, with_entries(self.present, entries), self.request.account.source
        )

    def permitted_type(self) -> PolicySnapshot:
        """The policy as it would be if it permitted actions of this type at all: what it needs to
        know is what has to be read before a change can be found."""
        allowed = self.policy.allowed_action(self.action.name, self.action.resource_type)
        is_permitted = allowed and allowed.enabled and allowed.mode in ("auto", "ask")
        return self.policy if is_permitted else self.under(_permit(self, allowed, self.present))


def smallest_change(refused: Refused, *, facts: Facts, now: datetime) -> Change | NoChange:
    """The smallest change by which this request would be done or asked about, on these facts.

    An action that is not permitted becomes one that is asked about, for requests of this sort
    alone. A target is listed by its own id. A condition is widened to what it must let through,
    where its kind knows what that is. How often an action is done is not looked at: rates stay.
    """
    found: dict[Key, Entry] = {}
    for _ in range(STEPS):
        case, decision = _decide(refused, found.values(), facts, now)
        if decision.verdict != "refuse":
            break
        entry = _remedy(
            refused, case, decision.reason, with_entries(refused.present, found.values())
        )
        if entry is None or found.get(key(entry)) == entry:
            return NoChange(
                why=phrase(
                    "No small change of the policy permits this. %(why)s", why=decision.sentence
                )
            )
        found[key(entry)] = entry
    else:
        return NoChange(
            why=phrase(
                "It would take more than %(number)s changes of the policy.", number=STEPS - 1
            )
        )
    for one in list(found):
        less = {name: entry for name, entry in found.items() if name != one}
        if _decide(refused, less.values(), facts, now)[1].verdict != "refuse":
            found = less
    entries = tuple(found.values())
    return Change(
        entries=entries,
        file=with_entries(refused.present, entries),
        policy=refused.under(*entries),
        decision=_decide(refused, found.values(), facts, now)[1],
    )


def with_entries(present: PolicyFile, entries: Iterable[Entry]) -> PolicyFile:
    """The whole file with these entries added, or in the place of those with the same key."""
    allowed_actions = {key(one): one for one in present.allowed_actions or ()}
    listed = {key(one): one for one in present.targets or ()}
    for entry in entries:
        if isinstance(entry, Listed):
            listed[key(entry)] = entry
        else:
            allowed_actions[key(entry)] = entry
    return present.model_copy(
        update={"allowed_actions": [*allowed_actions.values()], "targets": [*listed.values()]}
    )


def key(entry: Entry) -> Key:
    """What an entry is about; entries of different sections have different keys."""
    if isinstance(entry, Listed):
        return entry.action, entry.resource, entry.kind, entry.id
    return entry.action, entry.resource


def _decide(
    refused: Refused, entries: Iterable[Entry], facts: Facts, now: datetime
) -> tuple[Case, Decision]:
    policy = refused.under(*entries)
    case = Case(
        request=refused.request,
        action=refused.action,
        policy=_without_rates(policy),
        facts=facts,
        now=now,
    )
    return case, deciding.conclude(case)


def _without_rates(policy: PolicySnapshot) -> PolicySnapshot:
    return replace(
        policy,
        allowed_actions=tuple(map(_unhurried, policy.allowed_actions)),
        ceiling=tuple(map(_unhurried, policy.ceiling)),
    )


def _unhurried(one: L) -> L:
    lasting = [each for each in one.conditions if not isinstance(each, RateCondition)]
    return replace(one, conditions=tuple(lasting))


def _remedy(refused: Refused, case: Case, reason: str, file: PolicyFile) -> Entry | None:
    """The narrowest entry by which the check that failed would pass; None: there is none."""
    found: Entry | None = None
    match reason:
        case "not_permitted":
            found = _permit(refused, case.allowed_action, file)
        case "draft_only" if "draft_only" not in [limit.mode for limit in case.limits]:
            found = _permit(refused, case.allowed_action, file)
        case "target_not_listed" | "receiver_novel":
            found = _list(case)
        case "target_changed":
            found = _rename(case, file)
        case "condition_failed":
            found = _widen(case, file)
    return found


def _permit(
    refused: Refused, allowed: AllowedAction | None, file: PolicyFile
) -> AllowedActionEntry:
    """Asked about each time. A new one is for requests of this sort alone: a mail that comes in
    does not set it off."""
    if allowed is None:
        only = {"kind": "trigger", "any_of": [refused.request.origin.trigger]}
        return AllowedActionEntry(action=refused.action.name, mode="ask", conditions=[only])
    return _entry_of(allowed, file).model_copy(update={"enabled": True, "mode": "ask"})


def _list(case: Case) -> Listed | None:
    """The first target that neither a row lists nor anything else lets in, by its own id."""
    settled = {*case.listed, *case.in_thread, *case.opened}
    target = next(one for one in case.targets if one.path not in settled)
    name = _present_name(case, target)
    if name is None:
        return None
    return Listed(action=case.action.name, kind=target.kind, id=target.value, name=name)


def _rename(case: Case, file: PolicyFile) -> Listed | None:
    """The first listed target that has another name at the provider now, under that name."""
    for target in case.targets:
        listed, name = case.listed.get(target.path), _present_name(case, target)
        if listed is not None and target.catalogue is not None and name != listed.name:
            wanted = listed.action_type, listed.resource_type, listed.kind, listed.external_id
            entry = next(one for one in file.targets or () if key(one) == wanted)
            return entry.model_copy(update={"name": name}) if name is not None else None
    return None


def _present_name(case: Case, target: Target) -> str | None:
    """What a target is called; None where the provider should have it and has it not."""
    if target.catalogue is None:
        return target.value
    names = getattr(case.facts, target.catalogue) or {}
    found: str | None = names.get(target.value)
    return found


def _widen(case: Case, file: PolicyFile) -> AllowedActionEntry | None:
    """The allowed action with its first condition that fails wide enough for this request."""
    if case.allowed_action is None or case.facts is None:
        return None
    entry, context = _entry_of(case.allowed_action, file), case.context(case.facts)
    for index, one in enumerate(conditions.read_all(entry.conditions)):
        if isinstance(one, RateCondition) or one.evaluate(context).passed:
            continue
        wider = one.widened(context) if isinstance(one, Condition) else None
        if wider is None:
            return None
        raw = [*entry.conditions]
        raw[index] = wider.model_dump(mode="json", exclude_unset=True)
        return entry.model_copy(update={"conditions": raw})
    return None


def _entry_of(allowed: AllowedAction, file: PolicyFile) -> AllowedActionEntry:
    wanted = allowed.action_type, allowed.resource_type
    return next(one for one in file.allowed_actions or () if key(one) == wanted)
