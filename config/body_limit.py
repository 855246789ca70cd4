"""Refuses large request bodies before Django spools them to disk.

Django's own limit counts only what a view reads into memory; under ASGI the whole body is
written to a temporary file first.
"""

import json

from config.lifespan import App, Message, Receive, Scope, Send

ANSWER = json.dumps(
    {"error": {"code": "too_large", "message": "The request body is too large."}}
).encode()


def with_body_limit(app: App, *, max_bytes: int) -> App:
    """`app`, answering 413 to bodies over `max_bytes`, announced or streamed."""

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        announced = next((v for k, v in scope["headers"] if k == b"content-length"), b"0")
        if not announced.isdigit() or int(announced) > max_bytes:
            await _refuse(send)
            return
        body: list[Message] = []
        size = 0
        while True:
            message = await receive()
            size += len(message.get("body", b""))
            if size > max_bytes:
                await _refuse(send)
                return
            body.append(message)
            if message["type"] != "http.request" or not message.get("more_body", False):
                break

        async def replay() -> Message:
            return body.pop(0) if body else await receive()

        await app(scope, replay, send)

    return limited


async def _refuse(send: Send) -> None:
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": ANSWER})
