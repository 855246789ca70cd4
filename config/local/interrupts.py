"""Requests to stop: Ctrl-C, SIGTERM and a closed terminal."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def obey() -> None:
    """From now on every request to stop raises KeyboardInterrupt."""
    for request in REQUESTS:
        signal.signal(request, signal.default_int_handler)


@contextmanager
def held() -> Iterator[None]:
    """What comes meanwhile is obeyed at the end of the block, which is done whole.

    For starting a program: one that was started and not yet noted would never be stopped.
    """
    came: list[int] = []
    before = {
        request: signal.signal(request, lambda number, _frame: came.append(number))
        for request in REQUESTS
    }
    try:
        yield
    finally:
        for request, handler in before.items():
            signal.signal(request, handler)
    if came:
        signal.raise_signal(came[0])
