"""All cases, by the row of the tables of attacks that they belong to."""

from tests.attacks import (
    addresses,
    concealing,
    endpoints,
    hidden_text,
    provider_rules,
    receivers,
    replay,
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
    *hidden_text.CASES,
    *provider_rules.CASES,
    *concealing.CASES,
)
