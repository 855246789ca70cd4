"""Connections to a server, by httpx's transport: one try of one request, whose answer ends in time.

httpx limits how long one read may take, not how many there are: a head, an announcement (RFC 9110,
15.2) or a trailer that comes in drops would go on for days. Its Client is left out. What it adds is
not wanted here (redirects, and cookies, which would go back with the requests of everybody else who
has an account at that server), and costs a sixth of the CPU of a request.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from ssl import SSLContext
from time import monotonic
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from integrations import exceptions

CONNECT_SECONDS = 5.0
# A moment of the monotonic clock; None while no head is waited for.
_until: ContextVar[float | None] = ContextVar("until", default=None)


class Upstream:
    """The connections to one server, at `most` so many of them. Safe to use from many threads.

    `headers` go with every request. The environment names a proxy (HTTPS_PROXY, NO_PROXY) and whom
    to trust (SSL_CERT_FILE, SSL_CERT_DIR), unless it is not to be asked.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        most: int | None = None,
        environment: bool = True,
    ) -> None:
        self.headers = httpx.Headers(
            {
                "Accept": "*/*",
                "Accept-Encoding": "gzip, deflate",
                "Connection": "keep-alive",
                "User-Agent": "remit",
                **(headers or {}),
            }
        )
        self._base_url = base_url.rstrip("/")
        self._transport = httpx.HTTPTransport(
            limits=httpx.Limits(max_connections=most, max_keepalive_connections=32),
            proxy=_proxy_to(base_url) if environment else None,
            trust_env=environment,
        )
        self._transport._pool._network_backend = _Backend()  # there is no other way to give one

    def close(self) -> None:
        self._transport.close()

    @contextmanager
    def answer(
        self,
        method: str,
        url: httpx.URL | str,
        *,
        until: float,
        read_seconds: float,
        headers: Mapping[str, str] | None = None,
        extensions: Mapping[str, Any] | None = None,
        **sent: Any,
    ) -> Iterator[httpx.Response]:
        """The answer to one try, whatever its status, to be read as it comes. `url` is a path below
        the base URL, or a whole one. `until` is a moment of the monotonic clock.

        Raises httpx's errors, and TooSlow for an answer that goes on at `until`.
        """
        named = self.headers.copy()
        named.update(headers or {})
        each = dict.fromkeys(("read", "write", "pool"), read_seconds)
        request = httpx.Request(
            method,
            url if isinstance(url, httpx.URL) else f"{self._base_url}/{url.lstrip('/')}",
            headers=named,
            extensions={**(extensions or {}), "timeout": {**each, "connect": CONNECT_SECONDS}},
            **sent,
        )
        earlier = _until.set(until)
        try:
            response = self._transport.handle_request(request)
        finally:
            _until.reset(earlier)
        response.extensions["network_stream"].until = until
        try:
            yield response
        finally:
            response.close()


def _proxy_to(url: str) -> str | None:
    parts, proxies = httpx.URL(url), getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


class _Backend(httpcore.SyncBackend):
    def connect_tcp(self, *given: Any, **named: Any) -> httpcore.NetworkStream:
        return _Stream(super().connect_tcp(*given, **named))


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner
        self.until = inf  # of the body that is under way

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        until = _until.get()
        left = (self.until if until is None else until) - monotonic()
        if left >= (inf if timeout is None else timeout):
            return self._inner.read(max_bytes, timeout)
        try:
            if left <= 0:
                raise httpcore.ReadTimeout
            return self._inner.read(max_bytes, left)
        except httpcore.ReadTimeout as error:
            raise exceptions.TooSlow("the answer did not end in time") from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, timeout)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
