"""All cases, by the row of the tables of attacks that they belong to."""

import contextlib
import json
from typing import Any

from agents.journal import guards
from tests.attacks import (
    addresses,
    alerts,
    approvals,
    audience,
    authority,
    belonging,
    concealing,
    endpoints,
    exposure,
    flooding,
    headings,
    hidden_text,
    hijacked,
    holding,
    learning,
    links,
    lists,
    named,
    outside,
    pasted,
    patterns,
    planting,
    provider_rules,
    receivers,
    relations,
    removing,
    replay,
    returning,
    scope,
    searches,
    servers,
    smuggling,
    strangers,
    substitution,
    targets,
    tenants,
    travelling,
    webhooks,
)
from tests.attacks.case import Case, Story

CASES: tuple[Case | Story, ...] = (
    *addresses.CASES,
    *receivers.CASES,
    *lists.CASES,
    *smuggling.CASES,
    *targets.CASES,
    *substitution.CASES,
    *replay.CASES,
    *webhooks.CASES,
    *tenants.CASES,
    *endpoints.CASES,
    *searches.CASES,
    *scope.CASES,
    *servers.CASES,
    *outside.CASES,
    *audience.CASES,
    *patterns.CASES,
    *learning.CASES,
    *authority.CASES,
    *relations.CASES,
    *strangers.CASES,
    *belonging.CASES,
    *named.CASES,
    *pasted.CASES,
    *planting.CASES,
    *approvals.CASES,
    *holding.CASES,
    *headings.CASES,
    *links.CASES,
    *travelling.CASES,
    *returning.CASES,
    *hidden_text.CASES,
    *flooding.CASES,
    *removing.CASES,
    *provider_rules.CASES,
    *concealing.CASES,
    *exposure.CASES,
    *hijacked.CASES,
    *alerts.CASES,
)


AT_ONCE = 20  # attacks that one turn tries: half of the tool calls that it may make


def list_turns() -> tuple[tuple[Case, ...], ...]:
    """All cases, one tuple for each turn that tries them. Most are one call of an obedient model
    and fail by themselves: one turn can make many such calls, each decided by itself."""
    turns: list[list[Case]] = []
    for case in CASES:
        if isinstance(case, Case):
            turn = next((turn for turn in turns if has_room(turn, case)), [])
            if not turn:
                turns.append(turn)
            turn.append(case)
    return tuple(map(tuple, turns))


def has_room(turn: list[Case], case: Case) -> bool:
    """Whether this turn can try this case beside its own."""
    first = turn[0]
    return (
        len(turn) < AT_ONCE
        and first.can_share_its_turn()
        and case.can_share_its_turn()
        and case.is_attacked_like(first)
        and called(case) not in map(called, turn)
    )


def called(case: Case) -> str:
    """Equal for calls that Remit takes for the same, which it runs once in a turn."""
    given: Any = case.attack.arguments
    if isinstance(given, str):
        with contextlib.suppress(ValueError, RecursionError):
            given = json.loads(given)
    params = given.get("params", given) if isinstance(given, dict) else given
    return guards.canonical([case.attack.action, params], fold=True)


def list_twins() -> tuple[Case, ...]:
    """One case for each benign act that is the twin of some attack. Many attacks change one act:
    what comes through of it is the same for all of them."""
    found: list[Case] = []
    for case in CASES:
        if isinstance(case, Case) and not any(case.has_twin_of(other) for other in found):
            found.append(case)
    return tuple(found)
