"""Accounts as values, out of statements that read more than them."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from integrations.contracts import AccountRef

_FIELDS = tuple(field.name for field in fields(AccountRef))
_ELSEWHERE = {"organisation_slug": "o.slug", "paused": "a.paused OR o.paused"}
COLUMNS = ", ".join(_ELSEWHERE.get(name, f"a.{name}") for name in _FIELDS)
"""All that AccountRef says, of the account `a` of the organisation `o`. Where it is missed out, an
account is one that nobody narrowed."""


def account_of(values: Sequence[Any]) -> AccountRef:
    """The account whose COLUMNS these are."""
    tuples = (tuple(one) if isinstance(one, list) else one for one in values)
    known: dict[str, Any] = dict(zip(_FIELDS, tuples, strict=True))
    return AccountRef(**known)
