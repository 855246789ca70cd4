"""The API of what users say of themselves, of accounts of their own, of what models cost,
and of webhooks."""

from integrations.api.accounts import AccountsView, AccountView, DisconnectView, TrialView
from integrations.api.consents import ConsentsView, FinishView
from integrations.api.deliveries import DeliveriesView
from integrations.api.preferences import PreferencesView
from integrations.api.usage import UsageView

__all__ = [
    "AccountView",
    "AccountsView",
    "ConsentsView",
    "DeliveriesView",
    "DisconnectView",
    "FinishView",
    "PreferencesView",
    "TrialView",
    "UsageView",
]
