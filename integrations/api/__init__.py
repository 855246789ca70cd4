"""The API of what users say of themselves."""

from integrations.api.preferences import PreferencesView

__all__ = ["PreferencesView"]
