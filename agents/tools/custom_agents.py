"""list_custom_agents and run_public_agent: agents that administrators defined."""

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.utils import timezone
from pydantic import Field

from agents.context import custom_agents
from agents.contracts import ToolResult, failure
from agents.models import CustomAgent
from agents.tools.base import Arguments, ItemId, Tool, ToolContext
from agents.tools.delegate import hand_over
from integrations.llm import llm
from integrations.llm.completions import ModelError

MOST = 100  # agents looked at
COSTS = ((2_000, "low"), (10_000, "medium"))  # tokens a run; more is high
THRESHOLD = 0.3
_STEM = 5  # letters: “analysis” and “analyse” are one word, in most European languages
_EMPTY_WORDS = """a about an and any are as at be by can could do does for from give has have how i
in is it me my of on or our please show so some tell that the their them these they this those to us
was we were what when where which who why will with would you your"""
_EMPTY = frozenset(_EMPTY_WORDS.split())


class ListCustomAgents(Arguments):
    query: str = Field(min_length=1, max_length=1000, description="What is to be found out.")
    required_capabilities: list[str] = Field(default_factory=list, max_length=10)
    max_agents: int = Field(default=5, ge=1, le=10)


def list_agents(context: ToolContext, arguments: ListCustomAgents) -> ToolResult:
    """Those that suit the query by more than THRESHOLD, the best first."""
    offered = custom_agents.measure_runs(
        custom_agents.list_offered(context.person), now=timezone.now()
    )
    agents = list(offered[:MOST])
    similar = _similarities(arguments.query, agents, context)
    scored = [
        (
            rate_suitability(
                query=arguments.query,
                required=arguments.required_capabilities,
                name=agent.name,
                description=agent.description,
                capabilities=agent.capabilities,
                similarity=similarity,
            ),
            agent,
        )
        for agent, similarity in zip(agents, similar, strict=True)
    ]
    best = sorted(
        (pair for pair in scored if pair[0] > THRESHOLD), key=lambda pair: (-pair[0], pair[1].name)
    )[: arguments.max_agents]
    return ToolResult(
        success=True,
        data={
            "agents": [_describe(agent, score) for score, agent in best],
            "evaluated": len(agents),
        },
    )


def _describe(agent: CustomAgent, score: float) -> dict[str, Any]:
    latency, tokens = (
        getattr(agent, "average_latency", None),
        getattr(agent, "average_tokens", None),
    )
    cost = next((word for most, word in COSTS if (tokens or 0) <= most), "high")
    return {
        "agent_id": str(agent.id),
        "name": agent.name,
        "description": agent.description,
        "capabilities": agent.capabilities,
        "sources": agent.sources,
        "suitability": score,
        "average_latency_ms": None if latency is None else round(latency),
        "estimated_cost": "unknown" if tokens is None else cost,
    }


def _similarities(
    query: str, agents: Sequence[CustomAgent], context: ToolContext
) -> Sequence[float | None]:
    """How near each agent's description is to the query in meaning; None where there is no
    vector, so that words alone decide."""
    if not agents:
        return ()
    texts = [f"{a.name}. {a.description} {' '.join(a.capabilities)}" for a in agents]
    try:
        wanted, *offered = llm.embed(
            [query, *texts], payer=context.payer, deadline=context.deadline
        )
    except ModelError:
        return [None] * len(agents)
    return [sum(a * b for a, b in zip(wanted, vector, strict=True)) for vector in offered]


class RunPublicAgent(Arguments):
    agent_id: UUID = Field(description="From list_custom_agents.")
    query: str = Field(
        min_length=1, max_length=4000, description="The task, written for this agent, in full."
    )
    context_ids: list[ItemId] = Field(
        default_factory=list, max_length=10, description="The items it needs."
    )


def run_agent(context: ToolContext, arguments: RunPublicAgent) -> ToolResult:
    """The agent's answer. It sees and does no more than its caller might, and only in the
    sources it was given."""
    agent = custom_agents.find_by_name(context.person, custom_agents.name_of(arguments.agent_id))
    if agent is None:
        return failure(
            "NOT_FOUND",
            "There is no such agent.",
            recoverable=True,
            suggested_action="Choose one with list_custom_agents.",
        )
    started, succeeded = time.monotonic(), False
    try:
        result = hand_over(
            replace(context, person=custom_agents.narrow_person(context.person, agent)),
            agent=custom_agents.name_of(agent.id),
            task=arguments.query,
            item_ids=arguments.context_ids,
        )
        succeeded = result.success
    finally:
        custom_agents.note_run(
            agent,
            turn_id=context.lease.turn_id,
            call_id=context.call.id,
            succeeded=succeeded,
            latency_ms=int((time.monotonic() - started) * 1000),
        )
    return replace(result, data={"agent": agent.name, **result.data})


LIST = Tool(
    name="list_custom_agents",
    description="Find custom agents of the organisation that suit a query, with how well, how "
    "fast and at what cost. Use it before run_public_agent.",
    arguments=ListCustomAgents,
    run=list_agents,
    note=": find one first",
)
RUN = Tool(
    name="run_public_agent",
    description="Run one custom agent with a query written for it. It costs time: make sure "
    "whom and what the user means first.",
    arguments=RunPublicAgent,
    run=run_agent,
    note=": a task in full",
    acts=True,
    delegates=True,
)


def rate_suitability(
    *,
    query: str,
    required: Sequence[str],
    name: str,
    description: str,
    capabilities: Sequence[str],
    similarity: float | None,
) -> float:
    """From 0 to 1. The share of the query's words that the agent's have, or the similarity of
    meaning where that is higher (None: not known); less where a required capability is missing."""
    wanted = _words(query)
    offered = _words(" ".join((name, description, *capabilities)))
    shared = len(wanted & offered) / len(wanted) if wanted else 0.0
    score = max(shared, min(max(similarity or 0.0, 0.0), 1.0))
    if required:
        met = sum(bool(_words(one)) and _words(one) <= offered for one in required)
        score *= met / len(required)
    return round(score, 3)


def _words(text: str) -> frozenset[str]:
    found = re.findall(r"[^\W_]+", text.casefold())
    return frozenset(word[:_STEM] for word in found if word not in _EMPTY)
