"""The other side of benchmarks/first_event.py: the least that streams a model's answer.

python benchmarks/bare_stream.py PORT

One asynchronous view of a Django project in one file, without middleware, sessions or a database,
served by uvicorn as Remit is. It asks the model of OPENAI_BASE_URL through the `openai` package
and passes each piece of text on as a server-sent event. Nobody is asked who they are, nothing is
limited or stored, and who loses the connection has lost the answer.
"""

import gc
import json
import os
import sys
from collections.abc import AsyncIterator

import uvicorn
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http import HttpRequest, StreamingHttpResponse
from django.urls import path
from openai import AsyncOpenAI

PATH = "/chat"
MODEL = AsyncOpenAI(max_retries=0) if __name__ == "__main__" else None


async def chat(request: HttpRequest) -> StreamingHttpResponse:
    answer = said(json.loads(request.body)["message"])
    return StreamingHttpResponse(answer, content_type="text/event-stream")


async def said(message: str) -> AsyncIterator[str]:
    assert MODEL is not None
    pieces = await MODEL.chat.completions.create(
        model=os.environ["CHAT_MODEL"],
        messages=[{"role": "user", "content": message}],
        stream=True,
        stream_options={"include_usage": True},
    )
    async for piece in pieces:
        for choice in piece.choices:
            if choice.delta.content:
                yield event("text.delta", {"text": choice.delta.content})
    yield event("turn.finished", {})


def event(type: str, data: dict[str, str]) -> str:
    return f"event: {type}\ndata: {json.dumps(data)}\n\n"


urlpatterns = [path(PATH.strip("/"), chat)]


def main() -> None:
    settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="none")
    application = get_asgi_application()
    gc.collect()
    gc.freeze()
    uvicorn.run(
        application,
        http="h11",
        ws="none",
        lifespan="off",
        host="127.0.0.1",
        port=int(sys.argv[1]),
        access_log=False,
        log_config=None,
        server_header=False,
    )


if __name__ == "__main__":
    main()
