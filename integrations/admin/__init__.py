"""Admin pages of `integrations`, split by what they are about."""

from integrations.admin import metering, operators, preferences, tenants, upstreams

__all__ = ["metering", "operators", "preferences", "tenants", "upstreams"]
