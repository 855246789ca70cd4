"""The other side of benchmarks/runtime.py and waiting_turns.py: a model that follows one script.

python quick_model.py PORT

Three tool calls side by side, then one, then an answer. The name of the model says how many
seconds it thinks before each: `after-5`, `after-0`. `reply-after-5` answers without tools, and
at once where the user asks for that.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

ROUNDS = (3, 1)  # tool calls of the first answers
AT_ONCE = "Answer at once."
USAGE = {"prompt_tokens": 200, "completion_tokens": 20, "total_tokens": 220}


class Thinking:
    """How many requests the model thinks about now, and at most so far."""

    now, most = 0, 0


async def think(seconds: float) -> None:
    Thinking.now += 1
    Thinking.most = max(Thinking.most, Thinking.now)
    await asyncio.sleep(seconds)
    Thinking.now -= 1


async def thinking(_: Request) -> Response:
    return JSONResponse({"now": Thinking.now, "most": Thinking.most})


async def chat(request: Request) -> Response:
    asked = await request.json()
    kind, _, seconds = asked["model"].rpartition("after-")
    spoken = [message["content"] for message in asked["messages"] if message["role"] == "user"]
    if float(seconds) and spoken[-1:] != [AT_ONCE]:
        await think(float(seconds))
    done = len(ROUNDS) if kind else rounds(asked["messages"])
    message: dict[str, Any] = {"role": "assistant", "content": "All done."}
    if done < len(ROUNDS):
        calls = [
            {
                "id": f"call_{done}_{number}",
                "type": "function",
                "function": {"name": "look", "arguments": json.dumps({"word": f"{done}{number}"})},
            }
            for number in range(ROUNDS[done])
        ]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
    finish = "tool_calls" if "tool_calls" in message else "stop"
    head = {"id": "chatcmpl-1", "created": 0, "model": asked["model"]}
    if asked.get("stream"):
        chunks = events(head | {"object": "chat.completion.chunk"}, message, finish)
        return StreamingResponse(chunks, media_type="text/event-stream")
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return JSONResponse({**head, "object": "chat.completion", "choices": [choice], "usage": USAGE})


async def events(head: dict[str, Any], message: dict[str, Any], finish: str) -> AsyncIterator[str]:
    calls = enumerate(message.get("tool_calls", ()))
    delta = message | {"tool_calls": [{"index": index, **call} for index, call in calls]}
    said = {"index": 0, "delta": delta, "finish_reason": None}
    end = {"index": 0, "delta": {}, "finish_reason": finish}
    for chunk in ({"choices": [said]}, {"choices": [end]}, {"choices": [], "usage": USAGE}):
        yield f"data: {json.dumps(head | chunk)}\n\n"
    yield "data: [DONE]\n\n"


def rounds(messages: list[dict[str, Any]]) -> int:
    """Answers with tool calls since the user's last message."""
    count = 0
    for message in reversed(messages):
        if message["role"] == "user":
            break
        count += bool(message.get("tool_calls"))
    return count


APP = Starlette(
    routes=[
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/thinking", thinking),
    ]
)

if __name__ == "__main__":
    uvicorn.run(
        APP,
        host="127.0.0.1",
        port=int(sys.argv[1]),
        log_level="error",
        access_log=False,
        backlog=4096,
        timeout_keep_alive=120,
    )
