"""Whole turns with a planted fault or chance: calls made twice, tools that fail, searches that
do not depend on each other. A scripted model over real HTTP, real rows."""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

from agents.models import ToolCall, Turn
from agents.turns import opening, turns
from integrations.exceptions import Unavailable
from integrations.llm.completions import ModelError
from integrations.models import Organisation
from knowledge.contracts import SearchRequest, SearchResult
from knowledge.search import retrieval
from tests.model_server import Reply, ScriptedModel, calls

ORCHESTRATOR = "You are Remit's orchestrator."
TASK = "You are Remit's task specialist."
TOGETHER_SECONDS = 60.0
NOTHING = SearchResult(items=(), entities=())
Wish = dict[str, Any]
Search = Callable[[SearchRequest], SearchResult]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """How many chances a scenario had, and how many were taken."""

    chances: int
    taken: int


def turn(model: ScriptedModel, organisation: Organisation, replies: Any, search: Search) -> Turn:
    """One chat turn worked through with these replies and this search."""

    def found(request: SearchRequest, **_: Any) -> SearchResult:
        return search(request)

    id = opening.start_turn(
        organisation_id=organisation.id,
        external_user_id="maya",
        conversation_id=None,
        message="What about the budget?",
        decisions=(),
        principal="scenario",
        queued=False,
    )
    script = {ORCHESTRATOR: replies, TASK: lambda body: "Nothing was found."}
    with mock.patch.object(retrieval, "search", found), model.follow(script):
        turns.run_turn(id)
    return Turn.objects.get(id=id)


def wish(query: str, **more: Any) -> tuple[str, Wish | str]:
    return "retrieve_context", {"query": query, **more}


@dataclass(frozen=True, kw_only=True)
class Duplicates:
    """Steps of calls; `planted` of them were made before and must not be run again."""

    name: str
    steps: Sequence[Sequence[tuple[str, Wish | str]]]
    planted: int


FIRST = wish("budget", sources=["gmail"], limit=5)
DUPLICATES = (
    Duplicates(name="the same call again", steps=[[FIRST], [FIRST]], planted=1),
    Duplicates(name="twice in one step", steps=[[FIRST, FIRST]], planted=1),
    Duplicates(name="three in one step", steps=[[FIRST, FIRST, FIRST]], planted=2),
    Duplicates(
        name="keys in another order",
        steps=[[FIRST], [("retrieve_context", '{"limit":5,"sources":["gmail"],"query":"budget"}')]],
        planted=1,
    ),
    Duplicates(
        name="other white space in the JSON",
        steps=[[FIRST], [("retrieve_context", json.dumps(FIRST[1], indent=4))]],
        planted=1,
    ),
    Duplicates(
        name="a default said out loud",
        steps=[[wish("budget")], [wish("budget", limit=10, sources=None)]],
        planted=1,
    ),
    Duplicates(
        name="after another call",
        steps=[[FIRST], [wish("travel")], [FIRST]],
        planted=1,
    ),
    Duplicates(
        name="beside a new call",
        steps=[[FIRST], [FIRST, wish("travel")]],
        planted=1,
    ),
    Duplicates(
        name="both of two again",
        steps=[[FIRST, wish("travel")], [FIRST, wish("travel")]],
        planted=2,
    ),
    Duplicates(name="other case", steps=[[wish("budget")], [wish("Budget")]], planted=1),
    Duplicates(name="white space around", steps=[[wish("budget")], [wish(" budget ")]], planted=1),
    Duplicates(name="nothing twice", steps=[[FIRST], [wish("travel")]], planted=0),
)


def prevented(scenario: Duplicates, model: ScriptedModel, organisation: Organisation) -> Measured:
    """How many of the planted duplicates were not run."""
    replies: list[Reply] = [calls(*step) for step in scenario.steps]
    asked: list[SearchRequest] = []

    def search(request: SearchRequest) -> SearchResult:
        asked.append(request)
        return NOTHING

    turn(model, organisation, [*replies, "Nothing is known."], search)
    made = sum(len(step) for step in scenario.steps)
    wanted = made - scenario.planted
    assert len(asked) >= wanted, f"{scenario.name}: a call that was no duplicate was not run"
    return Measured(chances=scenario.planted, taken=made - len(asked))


@dataclass(frozen=True, kw_only=True)
class Failing:
    """A search that breaks, `times` in a row or for good, while the model goes on trying as
    long as the tool is offered, and then takes another way."""

    name: str
    error: Exception
    times: int = 99


FAILING = (
    Failing(name="provider away for good", error=Unavailable("away")),
    Failing(name="provider away once", error=Unavailable("away"), times=1),
    Failing(name="provider away twice", error=Unavailable("away"), times=2),
    Failing(name="provider away three times", error=Unavailable("away"), times=3),
    Failing(name="the tool has a fault", error=RuntimeError("a fault")),
    Failing(name="the tool has a fault once", error=RuntimeError("a fault"), times=1),
    Failing(name="a value is refused", error=ValueError("no such filter")),
    Failing(name="the model behind it fails", error=ModelError("status_500", retryable=True)),
    Failing(name="its model fails for good", error=ModelError("status_400", retryable=False)),
    Failing(name="an odd error", error=KeyError("text")),
)


def recovered(scenario: Failing, model: ScriptedModel, organisation: Organisation) -> Measured:
    """Whether the turn ended in an answer by a way that works: the search once it worked
    again, or, with the broken tool taken away, a specialist."""
    failures = 0

    def search(request: SearchRequest) -> SearchResult:
        nonlocal failures
        if failures < scenario.times:
            failures += 1
            raise scenario.error
        return NOTHING

    def reply(body: dict[str, Any]) -> Reply:
        results = [json.loads(m["content"]) for m in body["messages"] if m["role"] == "tool"]
        if results and results[-1]["success"]:
            return "Nothing is known, as far as could be searched."
        tries = len(results)
        if "retrieve_context" in {tool["function"]["name"] for tool in body["tools"]}:
            return calls(wish(f"budget {tries}"))
        return calls(("delegate_to_specialist", {"specialist": "task", "task": "Find issues."}))

    done = turn(model, organisation, reply, search)
    ran = ToolCall.objects.filter(turn=done, name="retrieve_context").count()
    answered = done.state == Turn.State.FINISHED and done.ending == Turn.Ending.REPLY
    return Measured(chances=1, taken=int(answered and ran <= 4))


@dataclass(frozen=True, kw_only=True)
class Independent:
    """Searches that one step asks for, which do not depend on each other."""

    name: str
    wishes: Sequence[tuple[str, Wish | str]]


INDEPENDENT = (
    *(
        Independent(name=f"{count} searches", wishes=[wish(f"topic {n}") for n in range(count)])
        for count in (2, 3, 4, 6, 8)
    ),
    Independent(
        name="one a source",
        wishes=[wish("budget", sources=[s]) for s in ("gmail", "gdrive", "calendar", "jira")],
    ),
    Independent(
        name="one a time",
        wishes=[wish("budget", time_filter=t) for t in ("today", "yesterday", "last_week")],
    ),
)


def together(scenario: Independent, model: ScriptedModel, organisation: Organisation) -> Measured:
    """Whether all of them were under way at one time: each waits for all the others."""
    barrier = threading.Barrier(len(scenario.wishes))

    def search(request: SearchRequest) -> SearchResult:
        barrier.wait(timeout=TOGETHER_SECONDS)
        return NOTHING

    done = turn(model, organisation, [calls(*scenario.wishes), "Nothing is known."], search)
    results = ToolCall.objects.filter(turn=done).values_list("result", flat=True)
    return Measured(chances=1, taken=int(all(result["success"] for result in results if result)))
