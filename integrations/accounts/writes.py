"""The one door to provider writes. Only `guardrails.execute.executor` may import this module,
and only this module a provider's writer (import-linter and tests/test_architecture.py hold both),
so that no write happens without a decision and a ledger row."""

from collections.abc import Callable
from importlib import import_module

from integrations.contracts import AccountRef
from integrations.exceptions import Rejected
from integrations.ports.account import Writer
from integrations.ports.registry import PROVIDERS

WRITERS: dict[str, Callable[[AccountRef], Writer]] = {
    one.name: import_module(one.module("writer")).open_writer
    for one in PROVIDERS
    if one.is_writable
}


def writer(account: AccountRef) -> Writer:
    """Raises Rejected for an account that nothing can be written to."""
    if account.provider not in WRITERS:
        raise Rejected(f"nothing can be written to {account.source}")
    return WRITERS[account.provider](account)
