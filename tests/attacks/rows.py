"""All cases, by the row of the tables of attacks that they belong to."""

from tests.attacks import addresses
from tests.attacks.case import Case, Story

CASES: tuple[Case | Story, ...] = (*addresses.CASES,)
