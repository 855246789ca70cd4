"""The endpoints: chat completions, embeddings, models, health, and a page that says what
this is. Any bearer key is accepted; nothing is stored."""

import json
from collections.abc import Iterator

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from sandbox.offline_model import (
    CHAT_MODEL,
    EMBEDDING_MODEL,
    chat_request,
    embedding_request,
    message_order,
    roster,
    transcript,
)
from sandbox.offline_model.completion import Completion, complete
from sandbox.offline_model.errors import ApiError

MOST_BYTES = 20 * 1024 * 1024
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Offline model</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}
</style>
<h1>Offline model</h1>
<p><strong>This is not a language model.</strong> It is a stand-in that follows fixed, written
rules, so that Remit can be tried without a key.</p>
<p>It speaks the Chat Completions and Embeddings protocol under <code>/v1</code>. Set
<code>OPENAI_API_KEY</code> or <code>OPENAI_BASE_URL</code> and Remit talks to a real model
instead. The rules are in <code>docs/offline-model.md</code>.</p>
</html>
"""


def build_app() -> Starlette:
    return Starlette(
        routes=[
            Route("/", page),
            Route("/health", health),
            Route("/v1/models", models),
            Route("/v1/models/{model}", one_model),
            Route("/v1/chat/completions", chat_completions, methods=["POST"]),
            Route("/v1/embeddings", embeddings, methods=["POST"]),
        ],
        exception_handlers={ApiError: _refused, HTTPException: _not_served},
    )


async def page(request: Request) -> Response:
    return HTMLResponse(PAGE)


async def health(request: Request) -> Response:
    return JSONResponse({"status": "ok", "kind": "fixed rules, not a language model"})


async def models(request: Request) -> Response:
    _check_key(request)
    data = [_described(name) for name in (CHAT_MODEL, EMBEDDING_MODEL)]
    return JSONResponse({"object": "list", "data": data})


async def one_model(request: Request) -> Response:
    _check_key(request)
    name = request.path_params["model"]
    _check_model(name, CHAT_MODEL, EMBEDDING_MODEL)
    return JSONResponse(_described(name))


async def chat_completions(request: Request) -> Response:
    _check_key(request)
    asked = chat_request.parse(await _body(request))
    _check_model(asked.model, CHAT_MODEL)
    message_order.check(asked.messages)
    completion = complete(
        asked, roster.next_reply(transcript.read(asked.messages, asked.tools or ()))
    )
    if not asked.stream:
        return JSONResponse(completion.body())
    include_usage = asked.stream_options is not None and asked.stream_options.include_usage
    return StreamingResponse(
        _events(completion, include_usage=include_usage), media_type="text/event-stream"
    )


async def embeddings(request: Request) -> Response:
    _check_key(request)
    asked = embedding_request.parse(await _body(request))
    _check_model(asked.model, EMBEDDING_MODEL)
    return JSONResponse(embedding_request.answer(asked))


def _events(completion: Completion, *, include_usage: bool) -> Iterator[str]:
    for chunk in completion.chunks(include_usage=include_usage):
        yield f"data: {json.dumps(chunk, ensure_ascii=False, separators=(',', ':'))}\n\n"
    yield "data: [DONE]\n\n"


def _described(name: str) -> dict[str, str | int]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "offline-rules"}


def _check_key(request: Request) -> None:
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        raise ApiError(
            "You didn't provide an API key. Send any key as a bearer token: "
            "the offline model accepts every one.",
            status=401,
        )


def _check_model(name: str, *known: str) -> None:
    if name not in known:
        raise ApiError(
            f"The model '{name}' does not exist here. "
            f"The offline model offers {' and '.join(known)} for this.",
            status=404,
            param="model",
            code="model_not_found",
        )


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise ApiError(f"The body is larger than {MOST_BYTES} bytes.", status=413)
    return bytes(body)


async def _refused(request: Request, error: Exception) -> Response:
    if not isinstance(error, ApiError):
        raise error
    return JSONResponse(error.body(), status_code=error.status)


async def _not_served(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    message = f"Invalid URL ({request.method} {request.url.path})"
    return JSONResponse(ApiError(message).body(), status_code=error.status_code)
