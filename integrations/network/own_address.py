"""Where others reach this installation."""

from uuid import UUID

from django.conf import settings
from django.urls import reverse


def push_address(account_id: UUID) -> str:
    """Where a provider says that something changed at an account. Empty where the installation has
    no public address that begins with https: then none can be asked to."""
    if not settings.PUBLIC_URL.startswith("https://"):
        return ""
    return f"{settings.PUBLIC_URL}{reverse('push', args=[account_id])}"
