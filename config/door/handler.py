"""Django's ASGI handler, with all of a request in one thread: beginning, middleware, view and end.

None of ours is asynchronous. Left to itself Django changes threads for each of beginning, answer
and end, in a thread that it starts for each request.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import IO, Any, TypeVar

import django
from django.conf import settings
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
Result = TypeVar("Result")


class SynchronousHandler(ASGIHandler):
    """An asynchronous view would run in a loop of its own."""

    def __init__(self) -> None:
        super().__init__()
        # Each is started when it is needed first, and nobody waits for one.
        self._threads = ThreadPoolExecutor(settings.WEB_CONNECTIONS, thread_name_prefix="request")

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def handle(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        set_script_prefix(get_script_prefix(scope))
        response = await self._in_thread(lambda: self._answer(scope, body))
        if not response.streaming:
            await self.send_response(response, send)
            return
        try:
            async with asyncio.TaskGroup() as tasks:
                listening = tasks.create_task(self.listen_for_disconnect(receive))
                await self.send_response(response, send)
                listening.cancel()
        except* RequestAborted:
            pass
        finally:
            await self._in_thread(response.close)

    def _answer(self, scope: dict[str, Any], body: IO[bytes]) -> HttpResponseBase:
        """A response that is whole is closed: while it is sent it holds no connection to the
        database."""
        signals.request_started.send(sender=type(self), scope=scope)
        with body:
            request, refused = self.create_request(scope, body)
            response = self.get_response(request) if request else refused
            assert response  # noqa: S101  # either of them, by its type
        if not response.streaming:
            response.close()
        return response

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, copy_context().run, work)


def get_application() -> SynchronousHandler:
    django.setup(set_prefix=False)
    return SynchronousHandler()
