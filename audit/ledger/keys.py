"""The ledger's keys, derived from the setting LEDGER_KEY."""

from functools import lru_cache
from uuid import UUID

from django.conf import settings

from audit.ledger import chain


@lru_cache(maxsize=1024)
def tenant_key(tenant_id: UUID) -> bytes:
    return chain.tenant_key(settings.LEDGER_KEY, tenant_id)
