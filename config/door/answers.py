"""Answers of the door itself, in the shape of every other error."""

import json

from config.door.lifespan import Send
from integrations.web.problems import MEDIA_TYPE, problem


async def refuse(send: Send, status: int, code: str, sentence: str, *, wait: int = 0) -> None:
    """One error, after which the connection is closed: the rest of the request may be missing.
    `wait`: after how many seconds to come again."""
    body = json.dumps(problem(status, code, sentence)).encode()
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"connection", b"close")]
    headers.append((b"content-length", str(len(body)).encode()))
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if wait:
        headers.append((b"retry-after", str(wait).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
