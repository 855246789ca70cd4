"""The bare loop on the plain SDK that runtimes are measured beside, its model, and the measure.

Needs nothing of the project, so that it runs in the environment of other frameworks too.
"""

import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROUNDS, RUNS = 7, 15
SYSTEM = "You are Remit's orchestrator. You work for one user with their mail and documents."
HISTORY_TURNS = 30  # of four messages each
QUICK = "after-0"


@contextmanager
def model() -> Iterator[str]:
    """The scripted model as a process of its own; its base URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = Path(__file__).with_name("quick_model.py")
    with subprocess.Popen([sys.executable, str(program), str(port)]) as server:
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


def floor(client: Any, pool: ThreadPoolExecutor, messages: list[Any], look: Any) -> str:
    messages = list(messages)
    while True:
        answer = client.chat.completions.create(
            model=QUICK, messages=messages, tools=[look.schema]
        ).choices[0]
        if not answer.message.tool_calls:
            return str(answer.message.content)
        messages.append(answer.message.model_dump(exclude_none=True))

        def run(call: Any) -> dict[str, Any]:
            arguments = look.arguments.model_validate_json(call.function.arguments)
            result = look.run(None, arguments)
            return {
                "role": "tool",
                "tool_call_id": call.id,
                "content": json.dumps(dict(result.data)),
            }

        messages += pool.map(run, answer.message.tool_calls)


def cpu(runs: int, *sides: Callable[[], object]) -> list[tuple[float, float]]:
    """CPU and wall milliseconds of one run of each side: medians of rounds, in turns."""
    spent: list[list[tuple[float, float]]] = [[] for _ in sides]
    for side in sides:
        side()
    for _ in range(ROUNDS):
        for number, side in enumerate(sides):
            cpu_begun, begun = time.process_time(), time.perf_counter()
            for _ in range(runs):
                side()
            used = (time.process_time() - cpu_begun, time.perf_counter() - begun)
            spent[number].append((used[0] / runs * 1000, used[1] / runs * 1000))
    return [
        (statistics.median(c for c, _ in each), statistics.median(w for _, w in each))
        for each in spent
    ]
