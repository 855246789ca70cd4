"""What the run of benchmarks/runtime.py costs in other agent frameworks, beside the same floor.

    make bench-frameworks

The OpenAI Agents SDK, Pydantic AI, and the LangChain agent on LangGraph: the same model, the same
tool, the same messages, tracing off, one event loop for all runs. Each alternates with the bare
loop on the plain SDK. One that is not installed is named and left out. Without a database and
without any of the limits and records of the product. CPU milliseconds of one run; `ratio` is to
the floor of the same rounds. The last line is JSON.
"""

import asyncio
import importlib
import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

# Last, because the project has a package `agents` too, and here the SDK's is meant.
sys.path.append(str(Path(__file__).resolve().parent.parent))

from benchmarks.floor import HISTORY_TURNS, QUICK, RUNS, SYSTEM, cpu, floor, model

Message = dict[str, Any]
Run = Callable[[], object]
FOUND = 3


def earlier(turns: int) -> list[tuple[str, str, str, str]]:
    """The user's text, a call's arguments, its result, and the reply of so many turns."""
    return [
        (
            f"Find {number}",
            json.dumps({"word": f"word {number}"}),
            json.dumps({"text": f"What was found in turn {number}. " * 12}),
            "Here it is. " * 10,
        )
        for number in range(turns)
    ]


def wire(turns: int) -> list[Message]:
    """In the form of Chat Completions."""
    messages: list[Message] = [{"role": "system", "content": SYSTEM}]
    for number, (asked, arguments, result, reply) in enumerate(earlier(turns)):
        function = {"name": "look", "arguments": arguments}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        messages += [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": result},
            {"role": "assistant", "content": reply},
        ]
    return [*messages, {"role": "user", "content": "Find it"}]


def bare(url: str) -> Callable[[int], Run]:
    from openai import OpenAI
    from pydantic import BaseModel

    class Look(BaseModel):
        word: str

    class Result:
        def __init__(self, word: str) -> None:
            self.data = {"word": word, "found": FOUND}

    class Tool:
        arguments = Look
        schema = {
            "type": "function",
            "function": {
                "name": "look",
                "description": "Look for something.",
                "parameters": Look.model_json_schema(),
            },
        }

        def run(self, _: None, arguments: Look) -> Result:
            return Result(arguments.word)

    client, pool, tool = OpenAI(api_key="bench", base_url=url), ThreadPoolExecutor(64), Tool()

    def prepared(turns: int) -> Run:
        messages = wire(turns)
        return lambda: floor(client, pool, messages, tool)

    return prepared


def openai_agents(url: str, loop: asyncio.AbstractEventLoop) -> Callable[[int], Run]:
    from openai import AsyncOpenAI

    sdk: Any = importlib.import_module("agents")
    sdk.set_tracing_disabled(True)

    @sdk.function_tool  # type: ignore[untyped-decorator]
    def look(word: str) -> str:
        """Look for something."""
        return json.dumps({"word": word, "found": FOUND})

    client = AsyncOpenAI(api_key="bench", base_url=url)
    served = sdk.OpenAIChatCompletionsModel(model=QUICK, openai_client=client)
    agent = sdk.Agent(name="bench", instructions=SYSTEM, tools=[look], model=served)

    def prepared(turns: int) -> Run:
        items: list[Message] = []
        for number, (asked, arguments, result, reply) in enumerate(earlier(turns)):
            call = {"call_id": f"call_{number}", "name": "look", "arguments": arguments}
            items += [
                {"role": "user", "content": asked},
                {"type": "function_call", **call},
                {"type": "function_call_output", "call_id": f"call_{number}", "output": result},
                {"role": "assistant", "content": reply},
            ]
        items.append({"role": "user", "content": "Find it"})
        return lambda: loop.run_until_complete(sdk.Runner.run(agent, items)).final_output

    return prepared


def pydantic_ai(url: str, loop: asyncio.AbstractEventLoop) -> Callable[[int], Run]:
    ai: Any = importlib.import_module("pydantic_ai")
    messages: Any = importlib.import_module("pydantic_ai.messages")
    models: Any = importlib.import_module("pydantic_ai.models.openai")
    providers: Any = importlib.import_module("pydantic_ai.providers.openai")
    provider = providers.OpenAIProvider(base_url=url, api_key="bench")
    agent = ai.Agent(models.OpenAIChatModel(QUICK, provider=provider), instructions=SYSTEM)

    @agent.tool_plain  # type: ignore[untyped-decorator]
    def look(word: str) -> dict[str, Any]:
        """Look for something."""
        return {"word": word, "found": FOUND}

    def prepared(turns: int) -> Run:
        past: list[Any] = []
        for number, (asked, arguments, result, reply) in enumerate(earlier(turns)):
            id = f"call_{number}"
            call = messages.ToolCallPart(tool_name="look", args=arguments, tool_call_id=id)
            back = messages.ToolReturnPart(tool_name="look", content=result, tool_call_id=id)
            past += [
                messages.ModelRequest(parts=[messages.UserPromptPart(content=asked)]),
                messages.ModelResponse(parts=[call]),
                messages.ModelRequest(parts=[back]),
                messages.ModelResponse(parts=[messages.TextPart(content=reply)]),
            ]
        return lambda: loop.run_until_complete(agent.run("Find it", message_history=past)).output

    return prepared


def langgraph(url: str, loop: asyncio.AbstractEventLoop) -> Callable[[int], Run]:
    agents: Any = importlib.import_module("langchain.agents")
    models: Any = importlib.import_module("langchain_openai")

    def look(word: str) -> str:
        """Look for something."""
        return json.dumps({"word": word, "found": FOUND})

    chat = models.ChatOpenAI(model=QUICK, base_url=url, api_key="bench")
    agent = agents.create_agent(chat, [look], system_prompt=SYSTEM)

    def prepared(turns: int) -> Run:
        messages = wire(turns)[1:]
        return lambda: (
            loop.run_until_complete(agent.ainvoke({"messages": messages}))["messages"][-1].content
        )

    return prepared


FRAMEWORKS = {
    "openai-agents": openai_agents,
    "pydantic-ai-slim": pydantic_ai,
    "langgraph": langgraph,
}


def measured(side: Callable[[int], Run], plain: Callable[[int], Run]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, turns, runs in (("run", 0, RUNS), ("history", HISTORY_TURNS, RUNS // 3)):
        theirs, bare_run = side(turns), plain(turns)
        if theirs() != "All done.":
            raise SystemExit("It did not do the work.")
        (low, _), (own, _) = cpu(runs, bare_run, theirs)
        found |= {f"{name}_floor_ms": low, f"{name}_ms": own, f"{name}_ratio": own / low}
    return found


def main() -> None:
    os.environ |= {"OPENAI_API_KEY": "bench", "LANGSMITH_TRACING": "false"}
    loop = asyncio.new_event_loop()
    found: dict[str, Any] = {"history_messages": len(wire(HISTORY_TURNS))}
    with model() as url:
        plain = bare(url)
        for name, prepare in FRAMEWORKS.items():
            try:
                side = prepare(url, loop)
            except ImportError as error:
                print(f"{name} is left out: {error}. make bench-frameworks installs it.")
                continue
            found[name] = {"version": metadata.version(name)} | measured(side, plain)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
