"""ASGI's lifespan protocol, which Django leaves out: the server learns that we are up."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def with_lifespan(app: App) -> App:
    """`app`, with start-up and shutdown acknowledged."""

    async def answered(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        while True:
            phase = (await receive())["type"]
            await send({"type": f"{phase}.complete"})
            if phase == "lifespan.shutdown":
                return

    return answered
