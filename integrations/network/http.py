"""The one HTTP client: JSON over HTTP with time-outs, retries and typed errors.

What may pass is tried again (`integrations.network.retries`); a write only when it carries an
idempotency key. One read of the network may take DATA_SERVICE_TIMEOUT_SECONDS, a whole answer
behind its headers DATA_SERVICE_ANSWER_SECONDS.
"""

import json
import logging
import math
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from time import monotonic
from typing import IO, Any

import httpx
from django.conf import settings

from integrations import exceptions
from integrations.network import certificates, retries, transport
from integrations.network.retries import Slot

log = logging.getLogger(__name__)
Named = Callable[[str], None]
Upstream = transport.Upstream
# As the usual ones look; what is longer or has blanks in it is no id.
REQUEST_ID = re.compile(r"[!-~]{1,200}")
POST_SECONDS = 10.0
MAX_ANSWER_BYTES = 32 * 1024 * 1024
_lock = threading.Lock()
# As many as there are upstreams in the settings, and servers of people's own accounts.
_clients: dict[tuple[str, str, int | None], Upstream] = {}

ERRORS: dict[int, type[exceptions.ProviderError]] = {
    401: exceptions.NotPermitted,
    403: exceptions.NotPermitted,
    404: exceptions.NotFound,
    408: exceptions.Unavailable,
    412: exceptions.Changed,
    429: exceptions.RateLimited,
}


def client(base_url: str, token: str = "", *, most: int | None = 64) -> Upstream:
    """The shared connection pool of one upstream, with this many connections at `most`. Safe to use
    from many threads.

    Without a token requests carry no Authorization header.
    """
    with _lock:
        found = _clients.get((base_url, token, most))
        if found is None:
            authorization = {"Authorization": f"Bearer {token}"} if token else {}
            found = _clients[base_url, token, most] = Upstream(
                base_url, headers=authorization, most=most
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
    slot: Slot = nullcontext,
    named: Named | None = None,
) -> Any:
    """The decoded JSON answer (None for 204). A body of bytes is JSON already, sent as it is.
    Each try is made inside a `slot`, which may wait or refuse; `named` hears what the other
    side calls each one that it answered (its X-Request-Id), if it says.

    Raises a ProviderError: retryable ones were already retried as often as the settings
    allow, unless the service asks for a longer wait than retries.MAX_WAIT_SECONDS or answers too
    slowly. Writes without an idempotency key are tried once.
    """
    attempts = (
        settings.DATA_SERVICE_ATTEMPTS if method == "GET" or idempotency_key is not None else 1
    )
    sent = dict(headers or {})
    if idempotency_key:
        sent["Idempotency-Key"] = idempotency_key
    if isinstance(body, bytes):
        sent["Content-Type"] = "application/json"
    return retries.tried(
        lambda: _once(upstream, method, path, params, body, sent, named),
        attempts=attempts,
        slot=slot,
    )


def download(
    upstream: Upstream, path: str, *, into: IO[bytes], most_bytes: int, slot: Slot = nullcontext
) -> None:
    """Write the bytes at `path` into a file that can be rewound, as they come.

    Raises a ProviderError as `request` does, and TooLarge for more than `most_bytes`.
    """

    def once() -> None:
        into.seek(0)
        into.truncate()
        with _answer(
            upstream, "GET", path, seconds=settings.DATA_SERVICE_ANSWER_SECONDS
        ) as response:
            if not response.is_success:
                raise _failure(response, next(response.iter_bytes(2_000), b""))
            for chunk in response.iter_bytes():
                if into.tell() + len(chunk) > most_bytes:
                    raise exceptions.TooLarge(f"more than {most_bytes} bytes")
                into.write(chunk)

    retries.tried(once, attempts=settings.DATA_SERVICE_ATTEMPTS, slot=slot)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back, whatever its status. Names of headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    content: bytes


def exchange(
    upstream: Upstream,
    method: str,
    url: str,
    *,
    address: str,
    content: bytes,
    headers: Mapping[str, str],
    most_bytes: int,
) -> Answer:
    """One request to a server that a person named, tried once, sent to this IP `address` as
    `post` does. Redirects are answers. Raises Unavailable, and TooLarge for more than
    `most_bytes`."""
    target = httpx.URL(url)
    with _answer(
        upstream,
        method,
        target.copy_with(host=address),
        seconds=settings.DATA_SERVICE_ANSWER_SECONDS,
        content=content,
        headers={**headers, "Host": target.netloc.decode()},
        extensions={"sni_hostname": target.host},
    ) as response:
        too_long = exceptions.TooLarge(f"more than {most_bytes} bytes")
        content = _whole(response, most_bytes, too_long)
    return Answer(status=response.status_code, headers=_headers_of(response), content=content)


class Stream:
    """An answer that goes on for as long as the other side has something to say."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers = _headers_of(response)

    def chunks(self) -> Iterator[bytes]:
        return self._response.iter_bytes()

    def hang_up(self) -> None:
        """From any thread: who reads the chunks gets no more of them."""
        network = self._response.extensions["network_stream"]
        with suppress(OSError):
            network.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


@contextmanager
def listen(
    url: str, *, address: str, headers: Mapping[str, str], quiet_seconds: float
) -> Iterator[Stream]:
    """A GET that is answered bit by bit, sent as `exchange` does, on a connection that no other
    request waits for. Raises ProviderError: Unavailable where nothing comes for `quiet_seconds`.
    """
    target = httpx.URL(url)
    with _answer(
        client(f"{target.scheme}://{target.netloc.decode()}", most=None),
        "GET",
        target.copy_with(host=address),
        seconds=math.inf,
        headers={**headers, "Host": target.netloc.decode()},
        extensions={"sni_hostname": target.host},
        read_seconds=quiet_seconds,
    ) as response:
        yield Stream(response)


def call(upstream: Upstream, path: str, body: Mapping[str, Any], *, seconds: float) -> Answer:
    """One POST of JSON, tried once, and what came back, whatever its status. Raises
    ProviderError."""
    with _answer(
        upstream, "POST", path, seconds=seconds, read_seconds=seconds, json=body
    ) as response:
        content = _whole(response, MAX_ANSWER_BYTES, _too_long())
    return Answer(status=response.status_code, headers=_headers_of(response), content=content)


def post(
    url: str, *, body: bytes, headers: Mapping[str, str], address: str = "", most_bytes: int = 0
) -> bytes:
    """One POST to somebody else's address, tried once; the first `most_bytes` of the answer.

    With `address` the connection goes to that IP address, whatever the name resolves to by
    now; certificate and Host header remain the name's. Redirects are failures, the
    environment's proxies are not used. Raises a ProviderError, also for a longer answer.
    """
    return _elsewhere("POST", url, address, most_bytes, content=body, headers=dict(headers))


def get(url: str, *, address: str, most_bytes: int) -> bytes:
    """The same with one GET."""
    return _elsewhere("GET", url, address, most_bytes, headers={})


def _elsewhere(
    method: str, url: str, address: str, most_bytes: int, *, headers: dict[str, str], **sent: Any
) -> bytes:
    target = httpx.URL(url)
    name = target.netloc.decode()
    pinned = target.copy_with(host=address) if address else target
    with (
        closing(Upstream(url, environment=False)) as upstream,
        _answer(
            upstream,
            method,
            pinned,
            seconds=POST_SECONDS,
            read_seconds=POST_SECONDS,
            headers={**headers, "Host": name},
            extensions={"sni_hostname": target.host},
            **sent,
        ) as response,
    ):
        if not response.is_success:
            raise _refused(response)
        return _whole(response, most_bytes, _too_long()) if most_bytes else b""


def _refused(response: httpx.Response) -> exceptions.ProviderError:
    """An answer that is no receipt says that nothing was taken. 410 is a 404 for good."""
    status = response.status_code
    other = exceptions.Unavailable if status >= 500 else exceptions.Rejected
    kind = exceptions.NotFound if status == 410 else ERRORS.get(status, other)
    wait = retries.retry_after(response.headers.get("Retry-After"))
    error = kind(str(status), retry_after=wait)
    error.outcome_unknown = False
    return error


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
    with _answer(
        upstream,
        method,
        path,
        seconds=settings.DATA_SERVICE_ANSWER_SECONDS,
        params=params,
        json=value,
        content=content,
        headers=headers,
    ) as response:
        if named and REQUEST_ID.fullmatch(name := response.headers.get("X-Request-Id", "")):
            named(name)
        answer = _whole(response, MAX_ANSWER_BYTES, _too_long())
    if not response.is_success:
        raise _failure(response, answer[:2_000])
    if response.status_code == 204:
        return None
    try:
        return json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise exceptions.Malformed("the answer is not JSON") from error


@contextmanager
def _answer(
    upstream: Upstream,
    method: str,
    url: httpx.URL | str,
    *,
    seconds: float,
    read_seconds: float | None = None,
    **sent: Any,
) -> Iterator[httpx.Response]:
    """The answer to one try, to be read as it comes and within `seconds`. Raises ProviderError."""
    read_seconds = read_seconds or settings.DATA_SERVICE_TIMEOUT_SECONDS
    until = monotonic() + seconds
    try:
        with upstream.answer(
            method, url, until=until, read_seconds=read_seconds, **sent
        ) as response:
            yield response
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        if why := certificates.find(error):
            said = f"The server's certificate: {why.verify_message}."
            raise exceptions.NotPermitted(said) from error
        raise _Unreached("no connection") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise exceptions.Unavailable(type(error).__name__) from error


def _whole(response: httpx.Response, most_bytes: int, too_long: exceptions.ProviderError) -> bytes:
    answer = bytearray()
    for chunk in response.iter_bytes():
        answer += chunk
        if len(answer) > most_bytes:
            raise too_long
    return bytes(answer)


def _too_long() -> exceptions.ProviderError:
    return exceptions.Malformed("the answer is too long")


def _headers_of(response: httpx.Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


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
        f"{status}: {detail}", retry_after=retries.retry_after(response.headers.get("Retry-After"))
    )
