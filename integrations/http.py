"""The one HTTP client: JSON over HTTP with time-outs, retries and typed errors.

Retries follow the field's rule: exponential backoff with full jitter, `Retry-After`
honoured up to a limit, and only for failures that may pass (network, 429, 5xx). A write is
only repeated when it carries an idempotency key.
"""

import json
import logging
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isnan
from typing import IO, Any, TypeVar

import httpx
import tenacity
from django.conf import settings

from integrations import exceptions

log = logging.getLogger(__name__)
T = TypeVar("T")
Turn = Callable[[], AbstractContextManager[None]]
Named = Callable[[str], None]
Upstream = httpx.Client
# As the usual ones look; what is longer or has blanks in it is no id.
REQUEST_ID = re.compile(r"[!-~]{1,200}")
MAX_WAIT_SECONDS = 20.0
MAX_RETRY_AFTER_SECONDS = 86_400.0  # a service cannot put itself off for longer than a day
POST_SECONDS = 10.0
MAX_ANSWER_BYTES = 32 * 1024 * 1024
_lock = threading.Lock()
# As many as there are upstreams in the settings: nothing needs to be thrown out.
_clients: dict[tuple[str, str], httpx.Client] = {}

ERRORS: dict[int, type[exceptions.ProviderError]] = {
    401: exceptions.NotPermitted,
    403: exceptions.NotPermitted,
    404: exceptions.NotFound,
    408: exceptions.Unavailable,
    412: exceptions.Changed,
    429: exceptions.RateLimited,
}


def client(base_url: str, token: str = "") -> Upstream:
    """The shared connection pool of one upstream. Safe to use from many threads.

    Without a token requests carry no Authorization header.
    """
    with _lock:
        found = _clients.get((base_url, token))
        if found is None:
            authorization = {"Authorization": f"Bearer {token}"} if token else {}
            found = _clients[base_url, token] = httpx.Client(
                base_url=base_url,
                headers=authorization | {"User-Agent": "remit"},
                timeout=httpx.Timeout(settings.DATA_SERVICE_TIMEOUT_SECONDS, connect=5.0),
                limits=httpx.Limits(max_connections=64, max_keepalive_connections=32),
                follow_redirects=False,
            )
        return found


def close_clients() -> None:
    """Close every pool. For the end of a process, and of a test."""
    with _lock:
        for each in _clients.values():
            each.close()
        _clients.clear()


def request(
    upstream: Upstream,
    method: str,
    path: str,
    *,
    params: Mapping[str, Any] | None = None,
    body: Mapping[str, Any] | bytes | None = None,
    idempotency_key: str | None = None,
    headers: Mapping[str, str] | None = None,
    turn: Turn = nullcontext,
    named: Named | None = None,
) -> Any:
    """The decoded JSON answer (None for 204). A body of bytes is JSON already, sent as it is.
    Each try is made inside a `turn`, which may wait or refuse; `named` is told what the other
    side calls each one that it answered (its X-Request-Id), if it says.

    Raises a ProviderError: retryable ones were already retried as often as the settings
    allow, unless the service asks for a longer wait than MAX_WAIT_SECONDS. Writes without an
    idempotency key are tried once.
    """
    attempts = (
        settings.DATA_SERVICE_ATTEMPTS if method == "GET" or idempotency_key is not None else 1
    )
    sent = dict(headers or {})
    if idempotency_key:
        sent["Idempotency-Key"] = idempotency_key
    if isinstance(body, bytes):
        sent["Content-Type"] = "application/json"
    return _tried(
        lambda: _once(upstream, method, path, params, body, sent, named),
        attempts=attempts,
        turn=turn,
    )


def download(
    upstream: Upstream, path: str, *, into: IO[bytes], most_bytes: int, turn: Turn = nullcontext
) -> None:
    """Write the bytes at `path` into a file that can be rewound, as they come.

    Raises a ProviderError as `request` does, and TooLarge for more than `most_bytes`.
    """

    def once() -> None:
        into.seek(0)
        into.truncate()
        try:
            with upstream.stream("GET", path) as response:
                if not response.is_success:
                    raise _failure(response, next(response.iter_bytes(2_000), b""))
                for chunk in response.iter_bytes():
                    if into.tell() + len(chunk) > most_bytes:
                        raise exceptions.TooLarge(f"more than {most_bytes} bytes")
                    into.write(chunk)
        except httpx.ConnectError as error:
            raise _Unreached("no connection") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise exceptions.Unavailable(type(error).__name__) from error

    _tried(once, attempts=settings.DATA_SERVICE_ATTEMPTS, turn=turn)


def _tried(once: Callable[[], T], *, attempts: int, turn: Turn) -> T:
    """What `once` gives, asked again for failures that may pass, each time inside a `turn`."""
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
                with turn():
                    return once()
            except exceptions.ProviderError as error:
                # One attempt that may have acted makes the whole call's outcome unknown,
                # whatever the attempts after it were told.
                unknown = error.outcome_unknown = unknown or error.outcome_unknown
                raise
    raise AssertionError("tenacity re-raises the last error")


def post(
    url: str, *, body: bytes, headers: Mapping[str, str], address: str = "", most_bytes: int = 0
) -> bytes:
    """One POST to somebody else's address, tried once; the first `most_bytes` of the answer.

    With `address` the connection goes to that IP address, whatever the name resolves to by
    now; certificate and Host header remain the name's. Redirects are failures, the
    environment's proxies are not used. Raises a ProviderError, also for a longer answer.
    """
    target = httpx.URL(url)
    name = target.netloc.decode()
    pinned = target.copy_with(host=address) if address else target
    answer = bytearray()
    try:
        with (
            httpx.Client(timeout=POST_SECONDS, trust_env=False, follow_redirects=False) as client,
            client.stream(
                "POST",
                pinned,
                content=body,
                headers={"User-Agent": "remit", **headers, "Host": name},
                extensions={"sni_hostname": target.host},
            ) as response,
        ):
            if not response.is_success:
                status = response.status_code
                kind = ERRORS.get(status)
                unavailable = exceptions.Unavailable if status >= 500 else exceptions.Rejected
                raise (kind or unavailable)(str(status))
            for chunk in response.iter_bytes() if most_bytes else ():
                answer += chunk
                if len(answer) > most_bytes:
                    raise exceptions.Malformed("the answer is too long")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise exceptions.Unavailable(type(error).__name__) from error
    return bytes(answer)


def _once(
    upstream: Upstream,
    method: str,
    path: str,
    params: Mapping[str, Any] | None,
    body: Mapping[str, Any] | bytes | None,
    headers: Mapping[str, str],
    named: Named | None,
) -> Any:
    content, value = (body, None) if isinstance(body, bytes) else (None, body)
    answer = bytearray()
    try:
        with upstream.stream(
            method, path, params=params, json=value, content=content, headers=headers
        ) as response:
            if named and REQUEST_ID.fullmatch(name := response.headers.get("X-Request-Id", "")):
                named(name)
            for chunk in response.iter_bytes():
                answer += chunk
                if len(answer) > MAX_ANSWER_BYTES:
                    raise exceptions.Malformed("the answer is too long")
    except httpx.ConnectError as error:
        raise _Unreached("no connection") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise exceptions.Unavailable(type(error).__name__) from error
    if not response.is_success:
        raise _failure(response, bytes(answer[:2_000]))
    if response.status_code == 204:
        return None
    try:
        return json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise exceptions.Malformed("the answer is not JSON") from error


class _Unreached(exceptions.Unavailable):
    """The connection was never made, so nothing can have happened."""

    outcome_unknown = False


def _failure(response: httpx.Response, said: bytes) -> exceptions.ProviderError:
    status = response.status_code
    detail = said.decode(errors="replace")[:500]
    if status == 410 and "cursor_expired" in detail:
        return exceptions.CursorExpired(detail)
    kind = ERRORS.get(status, exceptions.Unavailable if status >= 500 else exceptions.Rejected)
    return kind(
        f"{status}: {detail}", retry_after=_retry_after(response.headers.get("Retry-After"))
    )


def _retry_after(value: str | None) -> float | None:
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
        and not isinstance(error, exceptions.CircuitOpen)
        and (error.retry_after or 0.0) <= MAX_WAIT_SECONDS
    )


_jitter = tenacity.wait_random_exponential(multiplier=0.1, max=MAX_WAIT_SECONDS)


def _wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after if isinstance(error, exceptions.ProviderError) else None
    # On top of what was asked for: many who were told the same must not come back as one.
    return _jitter(state) + (asked or 0.0)
