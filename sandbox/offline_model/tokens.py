"""How tokens are counted here: each four characters, or part of four, are one token.

A prompt costs 3 tokens, each message 4 more than its texts, and the tools what their JSON
costs. An answer costs its text, and each tool call 4 more than its name and arguments.
The figures are honest about this rule and say nothing about a real model's tokens.
"""

import json
from collections.abc import Sequence

from sandbox.offline_model.chat_request import AssistantMessage, ChatRequest

CHARACTERS_IN_A_TOKEN = 4
CALL_OVERHEAD = 4
MESSAGE_OVERHEAD = 4
PROMPT_OVERHEAD = 3


def count(text: str) -> int:
    return -(-len(text) // CHARACTERS_IN_A_TOKEN)


def pieces(text: str) -> list[str]:
    """The text token by token; joined they are the text."""
    step = CHARACTERS_IN_A_TOKEN
    return [text[start : start + step] for start in range(0, len(text), step)]


def call_cost(*, name: str, arguments: str) -> int:
    return CALL_OVERHEAD + count(name) + count(arguments)


def prompt_cost(request: ChatRequest) -> int:
    total = PROMPT_OVERHEAD
    for message in request.messages:
        total += MESSAGE_OVERHEAD + count(message.text)
        if isinstance(message, AssistantMessage):
            total += sum(
                call_cost(name=call.function.name, arguments=call.function.arguments)
                for call in message.tool_calls or ()
            )
    if request.tools:
        tools = [tool.model_dump(mode="json", exclude_none=True) for tool in request.tools]
        total += count(json.dumps(tools, ensure_ascii=False))
    return total


def texts_cost(texts: Sequence[str]) -> int:
    return sum(count(text) for text in texts)
