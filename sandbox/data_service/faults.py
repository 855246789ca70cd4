"""Faults that can be switched on: what a real provider does on a bad day."""

import random
from enum import Enum, auto
from typing import Annotated

from pydantic import Field

from sandbox.data_service.values import Value

Rate = Annotated[float, Field(ge=0, le=1)]


class FaultSettings(Value):
    """Rates are shares of requests from 0 to 1; the default has no faults.

    `fail_after_perform_rate`: the effect happens, then the client gets a 500 or a broken
    connection. `seed` makes the sequence of faults repeatable from the moment it is set.
    """

    latency_ms: Annotated[int, Field(ge=0, le=60_000)] = 0
    error_rate: Rate = 0.0
    timeout_rate: Rate = 0.0
    rate_limit_rate: Rate = 0.0
    fail_after_perform_rate: Rate = 0.0
    duplicate_webhooks: bool = False
    reorder_webhooks: bool = False
    seed: int = 0


class Strike(Enum):
    """What goes wrong with one request."""

    NOTHING = auto()
    RATE_LIMIT = auto()
    TIMEOUT = auto()
    ERROR = auto()
    ERROR_AFTER = auto()
    BREAK_AFTER = auto()


class Faults:
    """The faults that are switched on now."""

    def __init__(self, settings: FaultSettings) -> None:
        self.requests = 0  # decided since the start
        self.set(settings)

    def set(self, settings: FaultSettings) -> None:
        self.settings = settings
        self._random = random.Random(settings.seed)  # noqa: S311 - chance, not secrecy

    def draw(self) -> Strike:
        """Decides one request. Every draw takes the same amount of chance, so that the seed
        fixes the sequence whatever the rates are."""
        self.requests += 1
        limit, timeout, error, after, broken = (self._random.random() for _ in range(5))
        settings = self.settings
        if limit < settings.rate_limit_rate:
            return Strike.RATE_LIMIT
        if timeout < settings.timeout_rate:
            return Strike.TIMEOUT
        if error < settings.error_rate:
            return Strike.ERROR
        if after < settings.fail_after_perform_rate:
            return Strike.BREAK_AFTER if broken < 0.5 else Strike.ERROR_AFTER
        return Strike.NOTHING
