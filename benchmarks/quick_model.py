"""The other side of benchmarks/runtime.py: a model that follows one script.

python quick_model.py PORT

Three tool calls side by side, then one, then an answer. The name of the model says how many
seconds it thinks before each: `after-5`, `after-0`.
"""

import asyncio
import json
import sys
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

ROUNDS = (3, 1)  # tool calls of the first answers


async def chat(request: Request) -> Response:
    asked = await request.json()
    if seconds := float(asked["model"].removeprefix("after-")):
        await asyncio.sleep(seconds)
    done = rounds(asked["messages"])
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
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if "tool_calls" in message else "stop",
    }
    usage = {"prompt_tokens": 200, "completion_tokens": 20, "total_tokens": 220}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0}
    return JSONResponse({**head, "model": asked["model"], "choices": [choice], "usage": usage})


def rounds(messages: list[dict[str, Any]]) -> int:
    """Answers with tool calls since the user's last message."""
    count = 0
    for message in reversed(messages):
        if message["role"] == "user":
            break
        count += bool(message.get("tool_calls"))
    return count


APP = Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])

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
