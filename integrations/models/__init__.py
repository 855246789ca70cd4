"""Rows of `integrations`, split by what they are about."""

from integrations.models.accounts import Account, Organisation, ProviderResource
from integrations.models.deliveries import Delivery
from integrations.models.tokens import ServiceToken
from integrations.models.upstreams import Upstream

__all__ = ["Account", "Delivery", "Organisation", "ProviderResource", "ServiceToken", "Upstream"]
