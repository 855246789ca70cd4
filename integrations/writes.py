"""The one door to provider writes. Only `guardrails.executor` may import this module
(import-linter holds it), so that no write happens without a decision and a ledger row."""

from integrations.contracts import AccountRef
from integrations.data_service import DataServiceWriter
from integrations.ports import Writer


def writer(account: AccountRef) -> Writer:
    return DataServiceWriter(account)
