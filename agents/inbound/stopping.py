"""Whether the task cluster of this process is to stop, so that its workers begin nothing new.

The queue's library tells its workers of a stop only between two tasks. Ours work through many
deliveries in one, for longer than a stop is waited for.
"""

import gc
from typing import Any

from django.utils.module_loading import autodiscover_modules
from django_q import cluster

_stops: list[Any] = []  # the library's event, which its workers inherit


class Sentinel(cluster.Sentinel):  # type: ignore[misc]  # django-q2 has no types
    """The library's own, which keeps the event of its stop for the workers that it forks. They
    share what their tasks need, and their garbage collectors need not look through it."""

    def __init__(self, stop_event: Any, *args: Any, **kwargs: Any) -> None:
        _stops[:] = [stop_event]
        autodiscover_modules("tasks")
        gc.collect()
        gc.freeze()
        super().__init__(stop_event, *args, **kwargs)  # returns when the cluster has stopped


def keep_the_event() -> None:
    """Clusters that start from now on tell their workers."""
    cluster.Sentinel = Sentinel


def is_stopping() -> bool:
    """False also in a process of no cluster."""
    return any(event.is_set() for event in _stops)
