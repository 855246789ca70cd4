"""One conversation with one MCP server, by the official SDK (the extra `mcp`).

The SDK is loaded when a server is first spoken to: it is large, and most processes never need
it. What goes over the network is in `integrations.providers.mcp.wire`.
"""

import logging
import os
from collections.abc import Awaitable, Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

import anyio
import tenacity
from django.conf import settings

from integrations import exceptions
from integrations.database.pools import release_connections
from integrations.network import outgoing
from integrations.providers.mcp.contracts import storable
from integrations.providers.mcp.conversation import Address, Sent

if TYPE_CHECKING:
    from mcp import ClientSession

log = logging.getLogger(__name__)
T = TypeVar("T")
RETRY_SECONDS = 20.0  # no try begins later
# What a server answers before it does anything (JSON-RPC): no such method, bad arguments.
UNDONE = frozenset({-32601, -32602})
SILENT = frozenset({-32000, -32001})  # the connection closed, or nothing came in time
MAX_SAID = 500  # characters of what a server says went wrong


class NotInstalled(exceptions.ProviderError):
    """The extra is not installed here. The message says what to install."""

    code = "not_installed"

    def __init__(self) -> None:
        super().__init__("MCP needs the package mcp, which is not installed: pip install 'mcp>=2'.")


Work = Callable[["ClientSession", Sent], Awaitable[T]]


def is_installed() -> bool:
    return find_spec("mcp") is not None


def token_of(variable: str) -> str:
    """The secret that an operator named. Raises NotPermitted where it is not set."""
    if not variable:
        return ""
    token = os.environ.get(variable, "").strip()
    if not (token and token.isascii() and token.isprintable()):
        raise exceptions.NotPermitted(f"set {variable} in the environment")
    return token


def converse(address: Address, work: Work[T]) -> T:
    """What `work` gives of a session with this server.

    Tried again MCP_RETRIES times where the server could not be reached or did not answer and
    nothing was sent that must not be sent twice. Raises a ProviderError, whose `outcome_unknown`
    says whether such a thing may have arrived.
    """
    if not is_installed():
        raise NotInstalled
    retrying = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(settings.MCP_RETRIES + 1)
        | tenacity.stop_after_delay(RETRY_SECONDS),
        retry=tenacity.retry_if_exception(_may_pass),
        wait=tenacity.wait_random_exponential(multiplier=0.05, max=2),
        reraise=True,
    )
    for attempt in retrying:
        with attempt:
            return _once(address, work)
    raise AssertionError("tenacity re-raises the last error")


def _may_pass(error: BaseException) -> bool:
    return (
        isinstance(error, exceptions.ProviderError)
        and error.retryable
        and not error.outcome_unknown
    )


def _once(address: Address, work: Work[T]) -> T:
    sent = Sent()
    results: list[T] = []
    release_connections()
    try:
        pinned = outgoing.public_address(address.url)
        from integrations.providers.mcp import wire as network  # noqa: PLC0415  # loads the SDK

        anyio.run(network.converse, address, pinned, sent, work, results)
    except exceptions.ProviderError as error:
        failure = error
    except Exception as error:  # noqa: BLE001  # the SDK's, the network's, or a group of both
        failure = sent.failure or _meaning(error)
    if results:
        return results[0]  # what goes wrong in taking leave changes nothing
    failure.outcome_unknown = sent.arrived and not _is_refusal(failure)
    raise failure


def _is_refusal(error: exceptions.ProviderError) -> bool:
    """Whether the server said no, and so did nothing."""
    return isinstance(error, exceptions.NotPermitted | exceptions.RateLimited | Undone | Failed)


class Undone(exceptions.Rejected):
    """The server understood the request and did not begin."""


class Failed(exceptions.Rejected):
    """The tool ran and says itself that it failed."""

    code = "tool_failed"


def _meaning(error: BaseException) -> exceptions.ProviderError:
    from mcp.shared.exceptions import MCPError  # noqa: PLC0415

    leaves = list(_leaves(error))
    ours = next((one for one in leaves if isinstance(one, exceptions.ProviderError)), None)
    if ours is not None:
        return ours
    if any(isinstance(one, TimeoutError) for one in leaves):
        return exceptions.Unavailable("time-out")
    answered = next((one for one in leaves if isinstance(one, MCPError)), None)
    if answered is not None:
        said = short(str(answered))
        message = f"{answered.code}: {said}"
        if answered.code in SILENT:
            return exceptions.Unavailable(message)
        return (Undone if answered.code in UNDONE else exceptions.Malformed)(message, said=said)
    log.warning("mcp.conversation_broke", exc_info=error)
    return exceptions.Malformed(type(leaves[0]).__name__)


def short(text: str) -> str:
    """What a server says went wrong, as much of it as is kept."""
    text = storable(text)
    return text if len(text) <= MAX_SAID else f"{text[:MAX_SAID]} […]"


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _leaves(one)
    else:
        yield error
