"""What a change of policy permits beyond the one action that it is asked for, in words. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from guardrails.actions.base import AnyAction
from guardrails.decide.checks.case import FROM_CONTENT
from guardrails.decide.conditions.objects.trigger import StartedBy
from guardrails.decide.smallest_change import Change
from guardrails.decide.snapshot import ListedTarget, PolicySnapshot
from guardrails.facts.text import visible
from guardrails.policies import explain
from guardrails.policies.explain import Effective
from guardrails.policies.findings import Finding, findings

MOST_NAMED, MOST_CHARS = 20, 80
WORKING = ("auto", "ask")


@dataclass(frozen=True, kw_only=True)
class Beyond:
    """What the action may do at best, before and after; what else that comes to, in sentences;
    and what the changed policy would have wrong that the present one has not."""

    before: Effective
    after: Effective
    sentences: tuple[str, ...]
    findings: tuple[Finding, ...]


def describe_beyond(
    present: PolicySnapshot, change: Change, *, action: AnyAction, source: str
) -> Beyond:
    """What the change comes to for this account. An action type is all that it touches."""
    before, after = (
        next(one for one in explain.effective(policy, source) if one.action_type == action.name)
        for policy in (present, change.policy)
    )
    known = {(one.about, one.sentence) for one in findings(present, source)}
    return Beyond(
        before=before,
        after=after,
        sentences=tuple(_sentences(present, change.policy, action, source)),
        findings=tuple(
            one for one in findings(change.policy, source) if (one.about, one.sentence) not in known
        ),
    )


def _sentences(
    present: PolicySnapshot, changed: PolicySnapshot, action: AnyAction, source: str
) -> Iterator[str]:
    was = present.allowed_action(action.name, action.resource_type)
    now = changed.allowed_action(action.name, action.resource_type)
    if now is None:
        return
    here = action.name, action.resource_type, source
    old = {one[1:]: one for one in present.listed_targets_for(*here)}
    added = [one for one in changed.listed_targets_for(*here) if one[1:] not in old]
    if was is None or not was.enabled or was.mode not in WORKING:
        thing = action.resource_type.replace("_", " ")
        if not action.needs_targets:
            yield f"It counts for every {thing} of this account, not for this one alone."
        if old:
            yield f"Targets that were listed before count from now on: {_names(old.values())}."
    if added:
        yield f"It counts for {_names(added)} from now on, whatever else the agent says or asks."
    for one in now.conditions:
        if was is not None and one not in was.conditions:
            yield f"From now on it is enough that {explain.in_words(one)}."
    if action.from_mail and all(_lets_mail(one) for one in now.conditions):
        yield "A mail that comes in may set it off too, within its own thread."
    if now.mode == "auto" and "ask" not in [one.mode for one in changed.limits(action.name)]:
        yield "It is done without asking anybody, unless the guard itself has a reason to ask."


def _lets_mail(condition: object) -> bool:
    return not isinstance(condition, StartedBy) or not FROM_CONTENT.isdisjoint(condition.any_of)


def _names(listed: Iterable[ListedTarget]) -> str:
    """The targets by name, the first of many; an identity that is not the name stands behind it."""
    names = sorted({_name(one) for one in listed})
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _name(one: ListedTarget) -> str:
    identity = visible(one.external_id, limit=MOST_CHARS)
    same = one.name == one.external_id
    return identity if same else f"“{visible(one.name, limit=MOST_CHARS)}” ({identity})"
