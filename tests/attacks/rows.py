"""All cases, by the row of the tables of attacks that they belong to."""

from tests.attacks import (
    addresses,
    audience,
    concealing,
    endpoints,
    hidden_text,
    patterns,
    provider_rules,
    receivers,
    replay,
    scope,
    smuggling,
    substitution,
    targets,
    tenants,
    webhooks,
)
from tests.attacks.case import Case, Story

CASES: tuple[Case | Story, ...] = (
    *addresses.CASES,
    *receivers.CASES,
    *smuggling.CASES,
    *targets.CASES,
    *substitution.CASES,
    *replay.CASES,
    *webhooks.CASES,
    *tenants.CASES,
    *endpoints.CASES,
    *scope.CASES,
    *audience.CASES,
    *patterns.CASES,
    *hidden_text.CASES,
    *provider_rules.CASES,
    *concealing.CASES,
)
