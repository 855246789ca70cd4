"""All cases, by the row of the tables of attacks that they belong to."""

import contextlib
import json
from functools import cache
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
ASKED_AT_ONCE = 5  # of those, how many a person is asked about: half of what a turn may ask


@cache
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
    return (
        len(turn) < AT_ONCE
        and turn[0].can_share_its_turn()
        and case.can_share_its_turn()
        and all(case.is_attacked_like(other) for other in turn)
        and called(case) not in map(called, turn)
        and [one.attack.end for one in (*turn, case)].count("asked") <= ASKED_AT_ONCE
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


def list_offices() -> tuple[tuple[Story, ...], ...]:
    """All stories, one tuple for each office in which they happen. Those that pass without a trace
    share it with others of the same twin."""
    offices: list[list[Story]] = []
    for story in CASES:
        if isinstance(story, Story):
            office = next((office for office in offices if has_place(office, story)), [])
            if not office:
                offices.append(office)
            office.append(story)
    return tuple(map(tuple, offices))


def has_place(office: list[Story], story: Story) -> bool:
    """Whether this story can happen there after the others."""
    first = office[0]
    return len(office) < AT_ONCE and first.passes and story.passes and first.twin == story.twin
