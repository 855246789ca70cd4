"""What people connect accounts of their own of, as each provider brings it."""

from collections.abc import Mapping
from importlib import import_module

from integrations.contracts import Source
from integrations.exceptions import Rejected
from integrations.ports.registry import PROVIDERS
from integrations.providers.connectable import Connectable

ALL: Mapping[Source, Connectable] = {
    one.source: import_module(provider.module("connectable")).CONNECTABLE
    for provider in PROVIDERS
    if provider.is_own
    for one in provider.connectors
}


def of(source: Source) -> Connectable:
    """Raises Rejected for a source that nobody connects."""
    if source not in ALL:
        raise Rejected(f"nobody connects {source}")
    return ALL[source]
