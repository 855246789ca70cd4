"""The API of what users say of themselves, of accounts of their own, and of what models cost."""

from integrations.api.accounts import AccountsView, DisconnectView, TrialView
from integrations.api.consents import ConsentsView, FinishView
from integrations.api.preferences import PreferencesView
from integrations.api.usage import UsageView

__all__ = [
    "AccountsView",
    "ConsentsView",
    "DisconnectView",
    "FinishView",
    "PreferencesView",
    "TrialView",
    "UsageView",
]
