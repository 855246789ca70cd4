"""The ledger's keys, derived from the setting LEDGER_KEY."""

from functools import lru_cache
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from audit.ledger import chain


@lru_cache(maxsize=1024)
def tenant_key(tenant_id: UUID) -> bytes:
    """Raises ImproperlyConfigured in a process that was not given LEDGER_KEY."""
    if not settings.LEDGER_KEY:
        raise ImproperlyConfigured("This process has no LEDGER_KEY and may not use the ledger.")
    return chain.tenant_key(settings.LEDGER_KEY, tenant_id)
