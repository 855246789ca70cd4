"""The other side of benchmarks/sync.py: a model that takes its time, and mails to read.

python slow_model.py PORT
"""

import asyncio
import base64
import hashlib
import json
import struct
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

CHAT_SECONDS, EMBEDDING_SECONDS = 0.2, 0.05
DIMENSIONS = 384
WORDS = (
    *("proposal", "budget", "portal", "launch", "contract", "invoice", "meeting", "review"),
    *("design", "deadline", "customer", "release", "migration", "agenda", "training", "licence"),
    *("audit", "supplier", "forecast", "hiring", "travel", "support", "workshop"),
)
CALLS = {"calls": 0}
ANSWER = json.dumps({"summary": "A mail about a few things.", "entities": []})


def mail(number: int, now: datetime) -> dict[str, Any]:
    body = " ".join(WORDS[(number * 7 + place * place) % len(WORDS)] for place in range(120))
    at = (now - timedelta(days=20) + timedelta(seconds=number)).isoformat()
    return {
        "id": f"m{number}",
        "thread_id": f"t{number // 3}",
        "message_id": f"<m{number}@client.example>",
        "from": f"person{number % 50}@client.example",
        "from_name": f"Person {number % 50}",
        "to": ["maya@company.example"],
        "subject": f"{WORDS[number % len(WORDS)]} {number}",
        "body_text": f"Mail {number}. {body}",
        "date": at,
        "updated_at": at,
        "version": 1,
        "labels": ["INBOX"],
    }


async def emails(request: Request) -> Response:
    size = int(request.path_params["user"].removeprefix("mails-"))
    start = int(request.query_params.get("cursor") or 0)
    end = min(size, start + int(request.query_params["limit"]))
    items = [mail(number, NOW) for number in range(start, end)]
    more = end < size
    return JSONResponse(
        {
            "items": items,
            "next_cursor": str(end) if more else None,
            "has_more": more,
            "remaining": size - end,
        }
    )


async def chat(request: Request) -> Response:
    CALLS["calls"] += 1
    asked = await request.json()
    await asyncio.sleep(CHAT_SECONDS)
    message = {"role": "assistant", "content": ANSWER}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 200, "completion_tokens": 20, "total_tokens": 220}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0}
    return JSONResponse({**head, "model": asked["model"], "choices": [choice], "usage": usage})


async def embeddings(request: Request) -> Response:
    CALLS["calls"] += 1
    asked = await request.json()
    await asyncio.sleep(EMBEDDING_SECONDS)
    data = [
        {"object": "embedding", "index": index, "embedding": vector(text)}
        for index, text in enumerate(asked["input"])
    ]
    usage = {"prompt_tokens": 200, "total_tokens": 200}
    return JSONResponse({"object": "list", "data": data, "model": asked["model"], "usage": usage})


def vector(text: str) -> str:
    seed = hashlib.shake_128(text.encode()).digest(DIMENSIONS)
    return base64.b64encode(
        struct.pack(f"<{DIMENSIONS}f", *(byte - 127.5 for byte in seed))
    ).decode()


async def calls(request: Request) -> Response:
    return JSONResponse(CALLS)


NOW = datetime.now(UTC)
APP = Starlette(
    routes=[
        Route("/v1/data/users/{user}/emails", emails),
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/v1/embeddings", embeddings, methods=["POST"]),
        Route("/calls", calls),
    ]
)

if __name__ == "__main__":
    uvicorn.run(APP, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
