"""All cases, by the row of the tables of attacks that they belong to."""

from tests.attacks import (
    addresses,
    concealing,
    hidden_text,
    provider_rules,
    receivers,
    smuggling,
    substitution,
    targets,
)
from tests.attacks.case import Case, Story

CASES: tuple[Case | Story, ...] = (
    *addresses.CASES,
    *receivers.CASES,
    *smuggling.CASES,
    *targets.CASES,
    *substitution.CASES,
    *hidden_text.CASES,
    *provider_rules.CASES,
    *concealing.CASES,
)
