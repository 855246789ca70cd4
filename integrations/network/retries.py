"""When a request is made once more, and how long that waits; how long work waits for what is away.
Pure but for the waiting.

The field's rule: exponential backoff with full jitter, `Retry-After` honoured up to a limit, and
only for failures that may pass (network, 429, 5xx).
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from math import isnan
from typing import TypeVar

import tenacity

from integrations import exceptions

T = TypeVar("T")
Slot = Callable[[], AbstractContextManager[None]]
MAX_WAIT_SECONDS = 20.0
MAX_RETRY_AFTER_SECONDS = 86_400.0  # a service cannot put itself off for longer than a day
# Work that waits for what does not answer is given up only then: it is dead, and a person's.
PATIENCE = timedelta(days=1)
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=15), timedelta(minutes=5)
# What has cost so long already is left to who asked.
_LATER = (exceptions.CircuitOpen, exceptions.TooSlow)


def tried(once: Callable[[], T], *, attempts: int, slot: Slot) -> T:
    """What `once` gives, asked again for failures that may pass, each time inside a `slot`."""
    retrying = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(attempts),
        retry=tenacity.retry_if_exception(_may_pass),
        wait=_wait,
        reraise=True,
    )
    unknown = False
    for attempt in retrying:
        with attempt:
            try:
                with slot():
                    return once()
            except exceptions.ProviderError as error:
                # One attempt that may have acted makes the whole call's outcome unknown,
                # whatever the attempts after it met.
                unknown = error.outcome_unknown = unknown or error.outcome_unknown
                raise
    raise AssertionError("tenacity re-raises the last error")


def pause(waited: timedelta, *, asked: float | None = None) -> timedelta:
    """How long to leave alone what has not answered for as long as `waited`: as long again, from
    FIRST_PAUSE to LONGEST_PAUSE, and no less than the seconds it `asked` for."""
    usual = min(max(waited, FIRST_PAUSE), LONGEST_PAUSE)
    return max(usual, timedelta(seconds=_bounded(asked or 0.0) or 0.0))


def is_given_up(waited: timedelta, code: str) -> bool:
    """Whether work that met this and has `waited` since is given up. What waits for its user to
    sign in never is."""
    return waited > PATIENCE and code != exceptions.SignInNeeded.code


def retry_after(value: str | None) -> float | None:
    """Seconds, from either form of the header (RFC 9110, 10.2.3), a day at most."""
    if not value:
        return None
    try:
        return _bounded(float(value))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return _bounded((until - datetime.now(UTC)).total_seconds())


def _bounded(seconds: float) -> float | None:
    return None if isnan(seconds) else min(max(0.0, seconds), MAX_RETRY_AFTER_SECONDS)


def _may_pass(error: BaseException) -> bool:
    return (
        isinstance(error, exceptions.ProviderError)
        and error.retryable
        and not isinstance(error, _LATER)
        and (error.retry_after or 0.0) <= MAX_WAIT_SECONDS
    )


_jitter = tenacity.wait_random_exponential(multiplier=0.1, max=MAX_WAIT_SECONDS)


def _wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after if isinstance(error, exceptions.ProviderError) else None
    # On top of what was asked for: many who heard the same must not come back as one.
    return _jitter(state) + (asked or 0.0)
