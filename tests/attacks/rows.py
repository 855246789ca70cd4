"""All cases, by the row of the tables of attacks that they belong to."""

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
    replay,
    returning,
    scope,
    searches,
    servers,
    smuggling,
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
    *provider_rules.CASES,
    *concealing.CASES,
    *exposure.CASES,
    *hijacked.CASES,
    *alerts.CASES,
)


def list_twins() -> tuple[Case, ...]:
    """One case for each benign act that is the twin of some attack. Many attacks change one act:
    what comes through of it is the same for all of them."""
    found: list[Case] = []
    for case in CASES:
        if isinstance(case, Case) and not any(case.has_twin_of(other) for other in found):
            found.append(case)
    return tuple(found)
