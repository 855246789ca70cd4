"""ASGI's lifespan protocol, which Django leaves out: the server learns that we are up."""

from collections.abc import Awaitable, Callable, Coroutine, MutableMapping, Sequence
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connections

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Served = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]


def with_lifespan(app: App, *, refusals: Callable[[], Sequence[str]]) -> Served:
    """`app`, with start-up and shutdown acknowledged. It does not start where `refusals` says
    why it must not; the server writes the sentences to its log and ends."""

    def asked() -> Sequence[str]:
        try:
            return refusals()
        finally:
            connections.close_all()  # those of this thread, which serves no request

    async def answered(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        while True:
            phase = (await receive())["type"]
            if phase == "lifespan.startup" and (reasons := await sync_to_async(asked)()):
                await send({"type": f"{phase}.failed", "message": " ".join(reasons)})
                return
            await send({"type": f"{phase}.complete"})
            if phase == "lifespan.shutdown":
                return

    return answered
