"""Providers that can be asked to call Remit when something changes at an account."""

from typing import Any, Protocol, runtime_checkable

from integrations.ports.account import Writer


@runtime_checkable
class PushWriter(Writer, Protocol):
    """Answers with the subscription's `id` and when it `expires_at`, in ISO 8601. Raises
    ProviderError."""

    def open_subscription(self, *, key: str) -> dict[str, Any]:
        """The provider tries the address at once, and is answered."""
        ...

    def renew_subscription(self, subscription_id: str, *, key: str) -> dict[str, Any]: ...
    def close_subscription(self, subscription_id: str, *, key: str) -> dict[str, Any]: ...
