"""Server-sent events of a turn, in front of Django.

A raw ASGI route, because inside Django every open stream holds a thread. One connection a
process listens for all turns; what is missed is read again from the table, so a client
resumes from Last-Event-ID on any process.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar
from urllib.parse import parse_qs
from uuid import UUID

import psycopg
from asgiref.sync import sync_to_async
from django.core import signing
from django.db import connections

from agents.journal.statements import CHANNEL
from agents.models import TurnEvent
from agents.turns.responses import build_response, describe_event
from agents.turns.said import Event, SaidSoFar
from integrations.database import notices
from integrations.web.problems import MEDIA_TYPE, problem

log = logging.getLogger(__name__)
SALT = "turn-stream"
TOKEN_SECONDS = 3600
HEARTBEAT_SECONDS = 15.0
LAST_TYPE = "turn.finished"
# One that is slow to read does not hold up all others. Each has a connection while it reads.
READERS = ThreadPoolExecutor(4, thread_name_prefix="streams")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
T = TypeVar("T")
P = ParamSpec("P")


class Wakes:
    """Wakes the streams of a turn when its events grow. One LISTEN connection a process."""

    def __init__(self) -> None:
        self._events: dict[str, set[asyncio.Event]] = {}
        self._task: asyncio.Task[None] | None = None

    def follow(self, turn_id: str) -> asyncio.Event:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._listen())
        event = asyncio.Event()
        self._events.setdefault(turn_id, set()).add(event)
        return event

    def leave(self, turn_id: str, event: asyncio.Event) -> None:
        self._events[turn_id].discard(event)
        if not self._events[turn_id]:
            del self._events[turn_id]

    async def _listen(self) -> None:
        while True:
            try:
                params = await sync_to_async(notices.parameters)()
                async with await psycopg.AsyncConnection.connect(
                    **params, autocommit=True
                ) as listening:
                    await listening.execute(f"LISTEN {CHANNEL}")
                    self._wake_all()  # what came while nobody listened is in the table
                    async for notice in listening.notifies():
                        for event in self._events.get(notice.payload, ()):
                            event.set()
            except psycopg.Error:
                log.warning("streams.reconnect", exc_info=True)
                await asyncio.sleep(0.5)

    def _wake_all(self) -> None:
        for events in self._events.values():
            for event in events:
                event.set()


WAKES = Wakes()


def with_streams(django: App) -> App:
    """`django` with the event streams of turns in front of it."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        turn_id = _turn_id(scope)
        if turn_id is None:
            await django(scope, receive, send)
        else:
            await _stream(turn_id, scope, receive, send)

    return app


def _turn_id(scope: Scope) -> str | None:
    if scope["type"] != "http":
        return None
    parts = str(scope["path"]).strip("/").split("/")
    if len(parts) == 5 and parts[:3] == ["api", "v1", "turns"] and parts[4] == "events":
        return parts[3]
    return None


async def _stream(turn_id: str, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["method"] != "GET":
        await _refuse(send, 405, "method_not_allowed", "Use GET.")
        return
    reader = _reader(turn_id, scope)
    if reader is None:
        await _refuse(send, 401, "bad_token", "The stream's token does not fit, or is too old.")
        return
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [
                (b"content-type", b"text/event-stream; charset=utf-8"),
                (b"cache-control", b"no-store"),
                (b"x-accel-buffering", b"no"),
                (b"x-content-type-options", b"nosniff"),
            ],
        }
    )
    woken = WAKES.follow(turn_id)
    gone = asyncio.create_task(_disconnected(receive))
    try:
        await _follow(turn_id, reader, _last_event_id(scope), woken, gone, send)
    finally:
        gone.cancel()
        WAKES.leave(turn_id, woken)
    with suppress(OSError):
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _follow(
    turn_id: str,
    reader: str,
    after: int,
    woken: asyncio.Event,
    gone: asyncio.Task[None],
    send: Send,
) -> None:
    said, read = SaidSoFar(UUID(turn_id)), 0  # what comes before `after` is part of what was said
    while not gone.done():
        woken.clear()
        new = await _in_thread(_show_new, said, turn_id, read)
        for read, type, data in new:
            if type == LAST_TYPE:
                # It takes a while, and all that was said has been sent by now.
                data["answer"] = await _in_thread(build_response, UUID(turn_id), by=reader)
            if read > after:
                await _send_event(send, read, type, data)
            if type == LAST_TYPE:
                return
        waiting = asyncio.create_task(woken.wait())
        await asyncio.wait(
            {waiting, gone}, timeout=HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
        if not waiting.done():
            waiting.cancel()
            if not gone.done():
                await _send_body(send, b": waiting\n\n")


async def _in_thread(function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """What the function gives, which holds no connection to the database afterwards."""

    def run() -> T:
        try:
            return function(*args, **named)
        finally:
            connections.close_all()

    return await sync_to_async(run, thread_sensitive=False, executor=READERS)()


def _show_new(said: SaidSoFar, turn_id: str, after: int) -> list[Event]:
    """New events, as pages show them: rendering takes a moment, in which other streams go on."""
    return said.follow(_events(turn_id, after))


def _events(turn_id: str, after: int) -> list[Event]:
    """New events in order."""
    rows = TurnEvent.objects.filter(turn_id=turn_id, sequence__gt=after).order_by("sequence")
    return [(row.sequence, row.type, describe_event(row.type, row.data)) for row in rows]


def _reader(turn_id: str, scope: Scope) -> str | None:
    """Who follows, by the token that they were given for this turn. None: nobody who may."""
    token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
    try:
        signed, reader = signing.loads(token, salt=SALT, max_age=TOKEN_SECONDS)
    except signing.BadSignature:
        return None
    return str(reader) if signed == turn_id else None


def _last_event_id(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"last-event-id" and value.isdigit() and len(value) < 10:
            return int(value)
    return 0


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send_event(send: Send, sequence: int, type: str, data: dict[str, Any]) -> None:
    # json.dumps escapes every line break, so the data is always one line.
    body = f"id: {sequence}\nevent: {type}\ndata: {json.dumps(data)}\n\n"
    await _send_body(send, body.encode())


async def _send_body(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})


async def _refuse(send: Send, status: int, code: str, message: str) -> None:
    body = json.dumps(problem(status, code, message)).encode()
    headers = [(b"content-type", MEDIA_TYPE.encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
