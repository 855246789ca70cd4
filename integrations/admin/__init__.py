"""Admin pages of `integrations`, split by what they are about."""

from integrations.admin import metering, tenants, upstreams

__all__ = ["metering", "tenants", "upstreams"]
