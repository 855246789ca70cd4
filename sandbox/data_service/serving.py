"""How requests are answered: who may ask, what goes wrong on purpose, and how much is read."""

import asyncio
import contextlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandbox.data_service import operations
from sandbox.data_service.delivery import Delivery
from sandbox.data_service.errors import Refusal
from sandbox.data_service.faults import Faults, Strike
from sandbox.data_service.operations import Call, Outcome, Write
from sandbox.data_service.settings import Settings
from sandbox.data_service.store import JsonObject, Store

LARGEST_BODY = 2 * 1024 * 1024
LONGEST_SILENCE = 120.0
TOO_MANY = Refusal(429, "rate_limited", "Too many requests. Try again in a second.")
BROKEN = Refusal(500, "internal", "Something went wrong here. Trying again can help.")


@dataclass(frozen=True, kw_only=True)
class Room:
    """Everything one running sandbox holds."""

    settings: Settings
    store: Store
    faults: Faults
    delivery: Delivery


def room(request: Request) -> Room:
    found: Room = request.app.state.room
    return found


class BearerOnly:
    """Lets through who shows the key; anyone else gets 401."""

    def __init__(self, app: ASGIApp, *, key: str) -> None:
        self._app = app
        self._expected = f"Bearer {key}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope["headers"]).get(b"authorization", b"")
        if hmac.compare_digest(given, self._expected):
            await self._app(scope, receive, send)
            return
        refusal = Refusal(401, "unauthorised", "Send the key: Authorization: Bearer <key>.")
        await refusal.response(headers={"WWW-Authenticate": "Bearer"})(scope, receive, send)


class NamedRequests:
    """Gives each answer an X-Request-Id of its own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = (b"x-request-id", uuid4().hex.encode())

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), name]}
            await send(message)

        await self._app(scope, receive, named)


class BrokenConnection(Response):
    """Promises a body and hangs up instead."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-length", b"1")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})


async def body_of(request: Request, *, limit: int = LARGEST_BODY) -> bytes:
    """Refuses 413 above the limit (bytes)."""
    raw = bytearray()
    async for part in request.stream():
        raw += part
        if len(raw) > limit:
            raise Refusal(413, "too_large", f"The body is larger than {limit} bytes.")
    return bytes(raw)


async def answer_read(request: Request, produce: Callable[[], JsonObject | bytes]) -> Response:
    """Answers with what `produce` finds, unless a fault strikes."""
    strike = await _struck(request)
    if strike in (Strike.NOTHING, Strike.ERROR_AFTER, Strike.BREAK_AFTER):
        found = produce()
        if isinstance(found, bytes):
            return Response(found, media_type="application/octet-stream")
        return JSONResponse(found)
    return await _unperformed(request, strike)


async def answer_write(request: Request, write: Write[Any]) -> Response:
    """Performs the write once, journals it, and lets the faults strike before or after."""
    here = room(request)
    strike = await _struck(request)
    call = Call(
        user_id=request.path_params["user_id"],
        method=request.method,
        path=request.url.path.removeprefix("/v1/data"),
        raw=await body_of(request),
        key=request.headers.get("Idempotency-Key"),
        version=request.headers.get("If-Match"),
    )
    if strike in (Strike.RATE_LIMIT, Strike.TIMEOUT, Strike.ERROR):
        status = {Strike.RATE_LIMIT: 429, Strike.ERROR: 500}.get(strike)
        operations.note_unperformed(here.store, call=call, status=status)
        return await _unperformed(request, strike)
    instead = {Strike.ERROR_AFTER: 500, Strike.BREAK_AFTER: None}
    outcome, replayed = operations.perform_once(
        here.store,
        write=write,
        call=call,
        target=request.path_params.get("id", ""),
        given_status=lambda status: instead.get(strike, status),
    )
    here.delivery.wake()
    if strike is Strike.ERROR_AFTER:
        return BROKEN.response()
    if strike is Strike.BREAK_AFTER:
        return BrokenConnection()
    return _answer(outcome, replayed=replayed)


async def _struck(request: Request) -> Strike:
    faults = room(request).faults
    if faults.settings.latency_ms:
        await asyncio.sleep(faults.settings.latency_ms / 1000)
    return faults.draw()


async def _unperformed(request: Request, strike: Strike) -> Response:
    if strike is Strike.RATE_LIMIT:
        return TOO_MANY.response(headers={"Retry-After": "1"})
    if strike is Strike.ERROR:
        return BROKEN.response()
    return await _silence(request)


async def _silence(request: Request) -> Response:
    """Says nothing until the client hangs up or the longest silence is over."""

    async def hung_up() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            continue

    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(hung_up(), LONGEST_SILENCE)
    return BrokenConnection()


def _answer(outcome: Outcome, *, replayed: bool) -> Response:
    headers = {"Idempotent-Replay": "true"} if replayed else None
    if outcome.content is None:
        return Response(status_code=outcome.status, headers=headers)
    return JSONResponse(outcome.content, status_code=outcome.status, headers=headers)
