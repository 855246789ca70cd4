"""What in an account's policy contradicts itself, never counts, or limits nothing. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Literal

from guardrails.actions import registry
from guardrails.actions.base import AnyAction
from guardrails.decide.checks.case import FROM_CONTENT
from guardrails.decide.conditions.base import Condition, Unreadable
from guardrails.decide.conditions.objects.trigger import StartedBy
from guardrails.decide.conditions.receivers.first_contact import FirstContact
from guardrails.decide.conditions.receivers.recipient_domain import RecipientDomain
from guardrails.decide.conditions.receivers.thread import Thread
from guardrails.decide.snapshot import AllowedAction, Limit, ListedTarget, PolicySnapshot
from guardrails.facts.targets import domain_of
from guardrails.facts.text import visible
from guardrails.policies.leaning import leans_on_receivers

Severity = Literal["error", "warning"]
Conditions = Sequence[Condition | Unreadable]
MODES = {
    "auto": "automatic",
    "ask": "ask a person",
    "draft_only": "draft only",
    "never": "never",
}
LIMITS = {
    "auto": "only under conditions",
    "ask": "at most ask",
    "draft_only": "at most as a draft",
    "never": "forbidden",
}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing to mend. An error grants nothing although somebody wrote it down; a warning
    has no effect, or not the one it seems to have. `about` names the rows in words, `ids` are
    theirs, and `action_type` is empty where it is about every action."""

    severity: Severity
    about: str
    sentence: str
    action_type: str
    ids: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.about}: {self.sentence}"


def findings(policy: PolicySnapshot, source: str) -> tuple[Finding, ...]:
    """Everything found in the policy of an account of this source, errors first. The order of
    rows means nothing."""
    found = [
        *_of_allowed_actions(policy, source),
        *_of_targets(policy, source),
        *_of_groups(policy),
        *_of_ceiling(policy),
    ]
    # So does the alphabet: errors first.
    return tuple(sorted(found, key=lambda one: (one.severity, one.about, one.sentence, one.ids)))


# --- allowed actions -----------------------------------------------------------------------


def _of_allowed_actions(policy: PolicySnapshot, source: str) -> Iterator[Finding]:
    for allowed_action in policy.allowed_actions:
        action = registry.BY_NAME.get(allowed_action.action_type)
        if action is None or not action.works_on(source):
            yield _about(allowed_action, "error", f"There is no such action for {source}.")
            continue
        if policy.allowed_action(action.name, action.resource_type) is not allowed_action:
            yield _about(
                allowed_action,
                "warning",
                f"It never counts: the allowed action for “{action.resource_type}” alone beats it.",
            )
            continue
        if allowed_action.mode == "never":
            continue
        for severity, sentence in (
            *_in_conditions(allowed_action.conditions, action),
            *_under_ceiling(allowed_action, policy.limits(action.name)),
            *_without_targets(policy, source, allowed_action, action),
            *leans_on_receivers(allowed_action, action),
        ):
            yield _about(allowed_action, severity, sentence)


def impossible(conditions: Conditions, action: AnyAction) -> str:
    """Why these conditions can never hold together for this action; empty if they can."""
    found = _in_conditions(conditions, action)
    return next((sentence for severity, sentence in found if severity == "error"), "")


def _in_conditions(
    conditions: Conditions, action: AnyAction, *, in_ceiling: bool = False
) -> Iterator[tuple[Severity, str]]:
    """What is wrong among conditions that must all hold."""
    known = [one for one in conditions if isinstance(one, Condition)]
    if len(known) < len(conditions):
        yield "error", "A condition cannot be read, so it refuses everything."
    for one in known:
        yield from _alone(one, action)
        if one.always_holds and (in_ceiling or not one.opens):
            yield "warning", f"“{_said(one)}” always holds, so it limits nothing."
    for one, other in combinations(known, 2):
        yield from _together(one, other)


def _alone(one: Condition, action: AnyAction) -> Iterator[tuple[Severity, str]]:
    if one.always_holds:
        return
    if why := one.unfit(action):
        yield "error", f"“{_said(one)}” can never hold: {why}."
    elif isinstance(one, StartedBy) and not _sets_off(one, action):
        yield "error", f"“{_said(one)}” can never hold: no mail sets this action off."


def _together(one: Condition, other: Condition) -> Iterator[tuple[Severity, str]]:
    both = f"“{_said(one)}” and “{_said(other)}”"
    if one.excludes(other) or other.excludes(one):
        yield "error", f"{both} exclude each other, so it refuses everything."
    elif _hardly(one, other) or _hardly(other, one):
        yield "warning", f"{both} hold together only where a stranger joins a thread of others."
    elif one == other:
        yield "warning", f"“{_said(one)}” is there twice."
    elif one.implies(other) and not other.always_holds:
        yield "warning", f"“{_said(other)}” has no effect beside “{_said(one)}”."
    elif other.implies(one) and not one.always_holds:
        yield "warning", f"“{_said(one)}” has no effect beside “{_said(other)}”."


def _sets_off(condition: StartedBy, action: AnyAction) -> bool:
    """Whether something that the condition names can set the action off."""
    return action.from_mail or not set(condition.any_of) <= FROM_CONTENT


def _hardly(one: Condition, other: Condition) -> bool:
    """A first contact has no conversation behind it, unless others had it."""
    first = isinstance(one, FirstContact) and one.first_contact
    return first and isinstance(other, Thread) and other.min_messages > 1


def _under_ceiling(
    allowed_action: AllowedAction, limits: Iterable[Limit]
) -> Iterator[tuple[Severity, str]]:
    limits = tuple(limits)
    if any(limit.mode == "never" for limit in limits):
        yield "error", "It grants nothing: the organisation's ceiling forbids this action."
        return
    if allowed_action.mode in ("auto", "ask") and any(
        limit.mode == "draft_only" for limit in limits
    ):
        yield "warning", "It is only drafted: the organisation's ceiling permits no more."
    elif allowed_action.mode == "auto" and any(limit.mode == "ask" for limit in limits):
        yield (
            "warning",
            "It is not automatic: the organisation's ceiling has a person asked each time.",
        )
    for one in allowed_action.conditions:
        for limit in limits:
            for other in limit.conditions:
                if not (isinstance(one, Condition) and isinstance(other, Condition)):
                    continue
                if one.excludes(other) or other.excludes(one):
                    yield (
                        "error",
                        f"It grants nothing: “{_said(one)}” and the ceiling's “{_said(other)}” "
                        "exclude each other.",
                    )


def _without_targets(
    policy: PolicySnapshot, source: str, allowed_action: AllowedAction, action: AnyAction
) -> Iterator[tuple[Severity, str]]:
    listed_targets = policy.listed_targets_for(action.name, action.resource_type, source)
    if action.needs_targets and not (listed_targets or allowed_action.openings):
        kinds = " or ".join(action.takes).replace("_", " ")
        yield "error", f"It permits nothing: no {kinds} is listed."


# --- targets and groups ----------------------------------------------------------------


def _of_targets(policy: PolicySnapshot, source: str) -> Iterator[Finding]:
    for listed_target in policy.listed_targets:
        action = registry.BY_NAME.get(listed_target.action_type)
        if action is None or not action.works_on(source):
            yield _listed(listed_target, "error", f"There is no such action for {source}.")
            continue
        allowed_action = policy.allowed_action(action.name, action.resource_type)
        if allowed_action is None:
            yield _listed(
                listed_target, "warning", "It has no effect: the action is not permitted."
            )
        elif allowed_action.mode == "never":
            yield _listed(listed_target, "warning", "It has no effect: the policy says never.")
        else:
            yield from _unreachable(policy, listed_target, allowed_action)


def _unreachable(
    policy: PolicySnapshot, listed_target: ListedTarget, allowed_action: AllowedAction
) -> Iterator[Finding]:
    """A listed receiver whom the conditions on domains never let through."""
    if listed_target.kind not in ("recipient", "recipient_domain"):
        return
    domain = domain_of(listed_target.external_id)
    conditions = [*allowed_action.conditions]
    for limit in policy.limits(listed_target.action_type):
        conditions += limit.conditions
    for one in conditions:
        if isinstance(one, RecipientDomain) and domain not in one.domains:
            yield _listed(listed_target, "warning", f"It is never reached: only if {_said(one)}.")
            return


def _of_groups(policy: PolicySnapshot) -> Iterator[Finding]:
    def key(listed_target: ListedTarget) -> tuple[str, str]:
        return listed_target.group_id, listed_target.action_type

    grouped = sorted((one for one in policy.listed_targets if one.group_id and one.single), key=key)
    for _, members in groupby(grouped, key):
        found = list(members)
        if len({one.external_id for one in found}) == 1:
            yield _listed(
                found[0],
                "warning",
                "It is alone in its one-at-a-time group, so setting it takes nothing off.",
            )


# --- the ceiling -----------------------------------------------------------------------


def _of_ceiling(policy: PolicySnapshot) -> Iterator[Finding]:
    for limit in policy.ceiling:
        action = registry.BY_NAME.get(limit.action_type)
        actions = [action] if action else [*registry.ACTIONS]
        for severity, sentence in dict.fromkeys(
            found
            for one in actions
            for found in _in_conditions(limit.conditions, one, in_ceiling=True)
        ):
            yield _limit(limit, severity, sentence)
        others = (one for one in policy.ceiling if one is not limit)
        if any(
            one.mode == "never" and one.action_type in ("", limit.action_type)
            for one in others
            if limit.mode != "never" or (one.action_type, one.id) < (limit.action_type, limit.id)
        ):
            yield _limit(limit, "warning", "It has no effect: another limit forbids it anyway.")


# --- in words --------------------------------------------------------------------------


def _about(allowed_action: AllowedAction, severity: Severity, sentence: str) -> Finding:
    on = f" on {allowed_action.resource_type}" if allowed_action.resource_type else ""
    mode = MODES.get(allowed_action.mode, allowed_action.mode)
    about = f"{_title(allowed_action.action_type)}{on} · {mode}"
    return _finding(allowed_action, severity, about, sentence)


def _listed(listed_target: ListedTarget, severity: Severity, sentence: str) -> Finding:
    kind, name = listed_target.kind.replace("_", " "), visible(listed_target.name)
    about = f"{_title(listed_target.action_type)} · {kind} “{name}”"
    return _finding(listed_target, severity, about, sentence)


def _limit(limit: Limit, severity: Severity, sentence: str) -> Finding:
    what = _title(limit.action_type) if limit.action_type else "Every action"
    about = f"Ceiling · {what} · {LIMITS.get(limit.mode, limit.mode)}"
    return _finding(limit, severity, about, sentence)


def _finding(
    row: AllowedAction | ListedTarget | Limit, severity: Severity, about: str, sentence: str
) -> Finding:
    return Finding(
        severity=severity,
        about=about,
        sentence=sentence,
        action_type=row.action_type,
        ids=(row.id,),
    )


def _title(action_type: str) -> str:
    action = registry.BY_NAME.get(action_type)
    return action.title if action else visible(action_type)


def _said(condition: Condition) -> str:
    return visible(condition.sentence)
