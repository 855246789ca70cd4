"""The sandbox data service: a real HTTP server on the other side of Remit.

It implements the whole External Data Service contract (`docs/data-service.md`) over an
office written for the demo, and a control API under /sandbox for tests and demonstrations.
It knows nothing of Remit and imports no Django.
"""

from sandbox.data_service.app import build_app
from sandbox.data_service.settings import Settings, SettingsError

__all__ = ["Settings", "SettingsError", "build_app"]
