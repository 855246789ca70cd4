"""What a run of an agent costs beside the same run in a bare loop on the plain SDK.

    make bench NAME=runtime
    make bench-frameworks          # and beside other frameworks (benchmarks/frameworks.py)

One run asks a model three times: it wants three tools side by side, then one, then it answers.
The model is another process that answers at once; the tools do nothing. Both sides use the same
client library, the same messages and the same tools, and alternate. CPU is this process's own.
Without a database: the loop, its guards, limits and prompts as they are, with rows kept in
memory. Then the same with rows, and what one refusal in the ledger costs. The last line is JSON.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path
from benchmarks.floor import HISTORY_TURNS, QUICK, RUNS, SYSTEM, cpu, floor, model

AT_ONCE, AT_ONCE_RUNS = 32, 192
TOOL_SECONDS = 0.1


def tool(seconds: float = 0.0) -> Any:
    from agents.contracts import ToolResult
    from agents.tools.base import Arguments, Tool

    class Look(Arguments):
        word: str

    def run(_context: Any, arguments: Look) -> ToolResult:
        if seconds:
            time.sleep(seconds)
        return ToolResult(success=True, data={"word": arguments.word, "found": 3})

    return Tool(name="look", description="Look for something.", arguments=Look, run=run)


def history() -> list[Any]:
    """Earlier turns: a message, a call, its result, a reply."""
    from uuid import uuid4

    from agents.contracts import CallRecord, StepRecord, TurnRecord

    def turn(number: int) -> TurnRecord:
        result = {"success": True, "data": {"text": f"What was found in turn {number}. " * 12}}
        call = CallRecord(
            id=uuid4(),
            name="look",
            arguments=json.dumps({"word": f"word {number}"}),
            action_id=uuid4(),
            result=result,
        )
        said = StepRecord(number=1, text="", finish_reason="tool_calls", calls=(call,))
        reply = StepRecord(number=2, text="Here it is. " * 10, finish_reason="stop", calls=())
        return TurnRecord(user_text=f"Find {number}", decisions=(), steps=(said, reply), reply=None)

    return [turn(number) for number in range(HISTORY_TURNS)]


# --- Ours, with rows in memory ---------------------------------------------------------------


@contextmanager
def rows_in_memory() -> Iterator[None]:
    """The journal and the meter without a database; everything else is as it is. A query that
    is made all the same ends the benchmark."""
    from dataclasses import replace
    from uuid import uuid4

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.utils import timezone

    from agents.contracts import CallRecord, Spent, StepRecord
    from agents.journal import journal
    from agents.journal.statements import to_storable
    from agents.turns import loop
    from integrations.database.together import Read
    from integrations.llm import metering

    def add_step(_lease: Any, *, number: int, completion: Any, **_: Any) -> StepRecord:
        calls = tuple(
            CallRecord(
                id=uuid4(),
                name=call.name,
                arguments=call.arguments,
                action_id=uuid4(),
                result=None,
                at=timezone.now(),
            )
            for call in completion.calls
        )
        return StepRecord(
            number=number, text=completion.text, finish_reason=completion.finish_reason, calls=calls
        )

    def finish_call(_lease: Any, call: CallRecord, result: Any, **_: Any) -> CallRecord:
        return replace(call, result=to_storable(result.wire()), at=timezone.now())

    with ExitStack() as stack:
        for module, name, value in (
            (journal, "add_step", add_step),
            (journal, "finish_call", finish_call),
            (journal, "read_spent", lambda _lease: Read("", [], lambda _rows: Spent())),
            (loop, "run_together", lambda *reads: [read.answer([]) for read in reads]),
            (journal, "stop_asked", lambda _lease: False),
            (metering, "exhausted", lambda *_, **__: False),
            (metering, "record", lambda *_, **__: None),
            (BaseDatabaseWrapper, "cursor", no_query),
        ):
            stack.enter_context(mock.patch.object(module, name, value))
        yield


def no_query(*_: Any) -> Any:
    raise SystemExit("A run without a database asked one.")


def no_delegate(*_: Any) -> Any:
    raise SystemExit("Nothing is handed on here.")


def tool_context(lease: Any, person: Any, call: Any) -> Any:
    from agents.tools.base import ToolContext
    from integrations.llm.deadline import Deadline

    return ToolContext(
        lease=lease,
        person=person,
        agent="bench",
        model=QUICK,
        trigger="chat",
        principal="bench",
        user_words="",
        mail=None,
        pattern_id="",
        call=call,
        delegate=no_delegate,
        deadline=Deadline.after(180),
    )


def ours(past: list[Any], look: Any, *, lease: Any = None, person: Any = None) -> str:
    from uuid import uuid4

    from agents.context.messages import build_messages
    from agents.contracts import Person, TurnRecord
    from agents.journal import leases
    from agents.journal.steps import Limits, Reply
    from agents.turns import loop
    from integrations.llm.deadline import Deadline

    lease = lease or leases.Lease(turn_id=uuid4(), owner=uuid4())
    person = person or Person(organisation_id=uuid4(), external_user_id="maya", accounts=())

    def messages(steps: Any, room: int) -> Any:
        now = TurnRecord(user_text="Find it", decisions=(), steps=tuple(steps), reply=None)
        return build_messages(system=SYSTEM, turns=[*past, now], max_tokens=room)

    ending = loop.run_agent(
        loop.Run(
            lease=lease,
            agent="bench",
            parent_call=None,
            tools={"look": look},
            limits=Limits(max_steps=15, max_tool_calls=40, max_tokens=10**6),
            messages=messages,
            context_for=lambda call: tool_context(lease, person, call),
            payer=person.payer(lease.turn_id),
            deadline=Deadline.after(180),
        )
    )
    assert isinstance(ending, Reply), ending
    return ending.text


# --- Measures --------------------------------------------------------------------------------


def at_once(side: Callable[[], object]) -> float:
    """Runs a second, AT_ONCE of them side by side."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda _: side(), range(AT_ONCE)))
        begun = time.perf_counter()
        list(pool.map(lambda _: side(), range(AT_ONCE_RUNS)))
        return AT_ONCE_RUNS / (time.perf_counter() - begun)


def without_database(url: str) -> dict[str, Any]:
    from openai import OpenAI

    from agents.context.messages import build_messages
    from agents.contracts import TurnRecord

    client = OpenAI(api_key="bench", base_url=url)
    look, past = tool(), history()
    now = TurnRecord(user_text="Find it", decisions=(), steps=(), reply=None)

    def wire(turns: list[Any]) -> list[Any]:
        return list(build_messages(system=SYSTEM, turns=[*turns, now], max_tokens=10**6))

    short, long = wire([]), wire(past)
    slow = tool(TOOL_SECONDS)
    found: dict[str, Any] = {}
    with ThreadPoolExecutor(64) as pool, rows_in_memory():
        (bare, bare_wall), (own, own_wall) = cpu(
            RUNS, lambda: floor(client, pool, short, look), lambda: ours([], look)
        )
        found["run"] = {"floor_ms": bare, "ours_ms": own, "ratio": own / bare}
        found["run"] |= {"floor_wall_ms": bare_wall, "ours_wall_ms": own_wall}
        (bare, _), (own, _) = cpu(
            RUNS // 3, lambda: floor(client, pool, long, look), lambda: ours(past, look)
        )
        found["history"] = {"messages": len(long), "floor_ms": bare, "ours_ms": own}
        found["history"]["ratio"] = own / bare
        pairs = [
            (at_once(lambda: floor(client, pool, short, look)), at_once(lambda: ours([], look)))
            for _ in range(3)
        ]
        bare, own = (statistics.median(each) for each in zip(*pairs, strict=True))
        found["at_once"] = {"runs": AT_ONCE, "floor_per_s": bare, "ours_per_s": own}
        found["at_once"]["ratio"] = own / bare
        found["three_tools_ms"] = three_tools(slow)
        found["blocking_per_s"] = at_once(lambda: ours([], slow))
    client.close()
    return found


def three_tools(slow: Any) -> dict[str, float]:
    """Wall milliseconds of the step with three tools of 100 ms each."""
    from agents.tools import dispatch
    from agents.turns import loop

    took: list[float] = []
    original = dispatch.run_calls

    def timed(calls: Any, **options: Any) -> Any:
        begun = time.perf_counter()
        done = original(calls, **options)
        if len(calls) == 3:
            took.append((time.perf_counter() - begun) * 1000)
        return done

    with mock.patch.object(loop, "run_calls", timed):
        for _ in range(20):
            ours([], slow)
    return {"median": statistics.median(took), "max": max(took)}


def claimed() -> tuple[Any, Any]:
    """A turn of its own, claimed, and its person."""
    from agents.context import people
    from agents.journal import leases
    from agents.models import Turn
    from integrations.models import Account, Organisation

    organisation, _ = Organisation.objects.get_or_create(slug="bench", name="Bench")
    Account.objects.get_or_create(
        organisation=organisation, external_user_id="maya", source="gmail"
    )
    turn = Turn.objects.create(
        organisation=organisation, external_user_id="maya", kind=Turn.Kind.CHAT
    )
    lease = leases.claim(turn.id)
    person = people.load_person(organisation_id=organisation.id, external_user_id="maya")
    return lease, person


def with_rows(bare: dict[str, float]) -> dict[str, Any]:
    """What rows cost beside the same run without them, and one refusal in the ledger."""
    from agents.contracts import CallRecord
    from agents.tools import acting
    from audit.ledger.ids import uuid7

    look = tool()

    def run() -> None:
        lease, person = claimed()
        ours([], look, lease=lease, person=person)

    lease, person = claimed()

    def refuse() -> None:
        call = CallRecord(id=uuid7(), name="x", arguments="{}", action_id=uuid7(), result=None)
        acting.record_refused(tool_context(lease, person, call))

    (used, wall), (ledger, ledger_wall) = cpu(RUNS, run, refuse)
    return {
        "persistence_cpu_ms": used - bare["ours_ms"],
        "persistence_wall_ms": wall - bare["ours_wall_ms"],
        "ledger_row_cpu_ms": ledger,
        "ledger_row_wall_ms": ledger_wall,
    }


def main() -> None:
    os.environ["REMIT_PROCESS"] = "command"
    os.environ["LOG_LEVEL"] = "ERROR"
    with model() as url:
        os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "bench", "CHAT_MODEL": QUICK}
        with own_database():
            found = without_database(url)
            found |= with_rows(found["run"])
    print(json.dumps(found, default=float))


if __name__ == "__main__":
    main()
