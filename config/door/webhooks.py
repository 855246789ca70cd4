"""What data services send, taken in before Django: of its middlewares a webhook needs none, and
they cost as much as all that is done with it.

One statement at a time stores what has come while the one before was under way. So many webhooks at
once are taken in with few commits, and one alone waits for nobody.

One that comes by another name of the server, or without HTTPS where that is wanted, goes on to
Django, which refuses it as it refuses everything.
"""

import asyncio
import json
import re
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import cast
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import close_old_connections, connections

from config.door.lifespan import App, Receive, Scope, Send
from integrations.web import webhooks
from integrations.web.hosts import is_ours
from integrations.web.webhooks import Answer, Kind, Webhook

PATH = re.compile(
    r"/webhooks(?:/(?P<slug>[-\w]+))?/item-(?P<kind>created|updated|deleted)", re.ASCII
)
# Of the bodies in one statement: each is in memory as bytes, as an event and as a row meanwhile.
MOST_BYTES = 4 * 1024 * 1024


class Intake:
    """The webhooks that wait, of one event loop."""

    def __init__(self, store: webhooks.Store) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="webhooks")
        self._waiting: deque[tuple[Webhook, asyncio.Future[Answer]]] = deque()
        self._work: asyncio.Task[None] | None = None

    async def take(self, webhook: Webhook) -> Answer:
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((webhook, answer))
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._work_on())
        return await answer

    async def _work_on(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            came = self._next()
            work = partial(self._take, [webhook for webhook, _ in came])
            answers: Sequence[Answer | Exception]
            try:
                answers = await loop.run_in_executor(self._thread, work)
            except Exception as error:  # noqa: BLE001  # each of them hears it, or would wait on
                answers = [error] * len(came)
            for (_, answer), found in zip(came, answers, strict=True):
                if answer.cancelled():
                    continue  # its sender is gone
                if isinstance(found, Exception):
                    answer.set_exception(found)
                else:
                    answer.set_result(found)

    def _next(self) -> list[tuple[Webhook, asyncio.Future[Answer]]]:
        found = [self._waiting.popleft()]
        size = len(found[0][0].body)
        while self._waiting and size + len(self._waiting[0][0].body) <= MOST_BYTES:
            found.append(self._waiting.popleft())
            size += len(found[-1][0].body)
        return found

    def _take(self, came: Sequence[Webhook]) -> list[Answer]:
        close_old_connections()
        try:
            return webhooks.take(came, self._store)
        finally:
            connections.close_all()  # they go back to their pools


def with_webhooks(app: App, *, store: webhooks.Store) -> App:
    """`app`, with webhooks taken in before it. The whole body is there."""
    intakes: WeakKeyDictionary[asyncio.AbstractEventLoop, Intake] = WeakKeyDictionary()

    async def entrance(scope: Scope, receive: Receive, send: Send) -> None:
        found = PATH.fullmatch(str(scope["path"])) if _is_post(scope) else None
        headers = _headers(scope) if found else {}
        if not found or not is_ours(headers.get("host", "")) or not _is_safe(scope, headers):
            await app(scope, receive, send)
            return
        body = await _read(receive)
        if body is None:
            return  # the sender is gone
        kind, slug = cast(Kind, found["kind"]), found["slug"] or "default"
        loop = asyncio.get_running_loop()
        if (intake := intakes.get(loop)) is None:
            intake = intakes[loop] = Intake(store)
        webhook = Webhook(kind=kind, slug=slug, body=body, headers=headers)
        await _send(send, await intake.take(webhook))

    return entrance


def _is_post(scope: Scope) -> bool:
    return bool(scope["type"] == "http" and scope["method"] == "POST")


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def _is_safe(scope: Scope, headers: Mapping[str, str]) -> bool:
    """Whether it came over HTTPS, by its proxy's word if there is one, or need not have."""
    if not settings.SECURE_SSL_REDIRECT or scope["scheme"] == "https":
        return True
    name, value = settings.SECURE_PROXY_SSL_HEADER
    return headers.get(name.removeprefix("HTTP_").replace("_", "-").lower()) == value


async def _read(receive: Receive) -> bytes | None:
    parts = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


async def _send(send: Send, answer: Answer) -> None:
    body = json.dumps(answer.said).encode()
    headers = [
        (b"content-type", answer.media_type.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"x-content-type-options", b"nosniff"),
    ]
    if answer.wait:
        headers.append((b"retry-after", str(answer.wait).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
