"""Admin pages of `integrations`, split by what they are about."""

from integrations.admin import tenants, upstreams

__all__ = ["tenants", "upstreams"]
