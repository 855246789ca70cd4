"""The API of what users say of themselves, and of accounts of their own."""

from integrations.api.accounts import AccountsView, DisconnectView, TrialView
from integrations.api.preferences import PreferencesView

__all__ = ["AccountsView", "DisconnectView", "PreferencesView", "TrialView"]
