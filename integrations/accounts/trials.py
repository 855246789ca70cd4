"""Trying accounts of somebody's own for who asks over the web, before anything is stored: at ports
of their kind of server alone, four at once, and each within 20 seconds or so."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from integrations.accounts import connectables
from integrations.contracts import Source
from integrations.database.pools import release_connections
from integrations.exceptions import RateLimited, Rejected
from integrations.providers.connectable import Connectable, Found, Given

_places = threading.BoundedSemaphore(4)


def try_it(source: Source, given: Given) -> Found:
    """Raises ProviderError with a sentence."""
    connectable = connectables.of(source)
    if connectable.begin is None:
        raise Rejected("Its user signs in at the provider.")
    trial = connectable.begin(given)
    for port in trial.ports:
        _check_port(port, connectable)
    with place():
        return trial.run()


@contextmanager
def place() -> Iterator[None]:
    """One of the four. Raises RateLimited where all are taken."""
    if not _places.acquire(blocking=False):
        raise RateLimited("Others connect accounts at this moment. Try again in a minute.")
    try:
        release_connections()
        yield
    finally:
        _places.release()


def _check_port(port: int, connectable: Connectable) -> None:
    if port not in connectable.ports and not settings.OUTGOING_TO_PRIVATE:
        raise Rejected(
            f"Port {port} is none of a {connectable.port_kind} server. An operator can connect it "
            f"with manage.py {connectable.command}."
        )
