"""Admin pages of `integrations`, split by what they are about."""

from integrations.admin import metering, operators, tenants, upstreams

__all__ = ["metering", "operators", "tenants", "upstreams"]
