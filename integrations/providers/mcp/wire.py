"""What goes over the network to an MCP server. Importing it loads the SDK (the extra `mcp`).

Every request goes to the very address that was looked up and found public, under the name that an
operator gave; no redirect is followed, no proxy used, and no more than MAX_BYTES are read.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import anyio
import httpx2
from django.conf import settings
from mcp import Client, ClientSession
from mcp.client.streamable_http import streamable_http_client

from integrations import exceptions
from integrations.network import outgoing
from integrations.providers.mcp.conversation import Address, Sent

T = TypeVar("T")
MAX_BYTES = 4 * 1024 * 1024
USER_HEADER = "X-User-ID"
STATUS: dict[int, type[exceptions.ProviderError]] = {
    401: exceptions.NotPermitted,
    403: exceptions.NotPermitted,
    429: exceptions.RateLimited,
}


async def converse(
    address: Address,
    pinned: str,
    sent: Sent,
    work: Callable[[ClientSession, Sent], Awaitable[T]],
    results: list[T],
) -> None:
    """Do `work` in a session with this server and keep what it gives. MCP_TIMEOUT_SECONDS for all
    of it. Raises whatever broke; `sent.failure` is what the network said first."""
    headers = {"User-Agent": "remit", "Accept-Encoding": "identity"}
    if address.user_id:
        headers[USER_HEADER] = _header(address.user_id)
    if address.token:
        headers["Authorization"] = f"Bearer {address.token}"
    with anyio.fail_after(settings.MCP_TIMEOUT_SECONDS):
        async with (
            httpx2.AsyncClient(
                transport=Guarded(httpx2.URL(address.url), pinned, sent),
                headers=headers,
                timeout=settings.MCP_TIMEOUT_SECONDS,
                follow_redirects=False,
                trust_env=False,
            ) as http,
            Client(
                streamable_http_client(address.url, http_client=http, max_sse_event_size=MAX_BYTES),
                read_timeout_seconds=settings.MCP_TIMEOUT_SECONDS,
                cache=None,
            ) as client,
        ):
            results.append(await work(client.session, sent))


def _header(user_id: str) -> str:
    if not (user_id.isascii() and user_id.isprintable()) or user_id != user_id.strip():
        raise exceptions.Rejected("the user's id cannot be sent in a header")
    return user_id


class Guarded(httpx2.AsyncBaseTransport):
    """A transport that knows one address, and no way elsewhere."""

    def __init__(self, url: httpx2.URL, pinned: str, sent: Sent) -> None:
        self._url, self._pinned, self._sent = url, pinned, sent
        self._network = httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        # Beside what is asked, the SDK listens and takes leave: nobody asks how that went.
        sent = self._sent if request.method == "POST" else Sent()
        if request.url != self._url:
            raise sent.fail(outgoing.Forbidden("The server sent us elsewhere."))
        # The header Host was made of the name before, and stays.
        request.url = self._url.copy_with(host=self._pinned)
        request.extensions["sni_hostname"] = self._url.host
        before, sent.arrived = sent.arrived, sent.arrived or sent.acting
        try:
            response = await self._network.handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            sent.arrived = before
            raise sent.fail(exceptions.Unavailable("no connection")) from error
        except httpx2.HTTPError as error:
            raise sent.fail(exceptions.Unavailable(type(error).__name__)) from error
        finally:
            request.url = self._url
        refused = _refusal(response)
        if refused is not None:
            await response.aclose()
            raise sent.fail(refused)
        if not isinstance(response.stream, httpx2.AsyncByteStream):
            raise TypeError("an answer is read as it comes")
        response.stream = Counted(response.stream, sent)
        return response

    async def aclose(self) -> None:
        await self._network.aclose()


class Counted(httpx2.AsyncByteStream):
    """The body of an answer, as far as MAX_BYTES of the whole conversation go."""

    def __init__(self, body: httpx2.AsyncByteStream, sent: Sent) -> None:
        self._body, self._sent = body, sent

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._body:
            self._sent.read += len(chunk)
            if self._sent.read > MAX_BYTES:
                raise self._sent.fail(exceptions.TooLarge("the answer is too long"))
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


def _refusal(response: httpx2.Response) -> exceptions.ProviderError | None:
    status = response.status_code
    if 300 <= status < 400:
        return outgoing.Forbidden("The server sends us elsewhere (a redirect).")
    if status in STATUS:
        return STATUS[status](str(status))
    if status >= 500:
        return exceptions.Unavailable(str(status))
    if response.headers.get("Content-Encoding", "identity") != "identity":
        return exceptions.Malformed("the answer is compressed")
    return None
