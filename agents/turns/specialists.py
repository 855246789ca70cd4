"""Specialists and custom agents: agents of their own below one tool call, in the same turn."""

import threading
from collections.abc import Callable, Sequence

from django.utils import timezone

from agents.context import custom_agents, people, prompts
from agents.context.messages import build_run_messages
from agents.contracts import CallRecord, Person
from agents.journal import journal
from agents.journal.history import UserWords
from agents.journal.leases import Lease
from agents.journal.steps import Ending
from agents.models import Turn
from agents.tools import execute_action, load_skill
from agents.tools.base import ToolContext
from agents.turns import loop, roster
from agents.turns.roster import Agent
from integrations.llm.deadline import Deadline

ACT, LOAD_SKILL = execute_action.TOOL.name, load_skill.TOOL.name
Delegate = Callable[[str, str, Sequence[str], CallRecord], Ending]


def delegate_for(
    lease: Lease, person: Person, turn: Turn, words: UserWords, *, deadline: Deadline
) -> Delegate:
    """What a delegating tool calls: run an agent below the call and return its ending. It
    shares the turn's ledger, deadline, pending actions and limits of the person, and a custom
    agent has the accounts of its sources alone: never more than its caller. Several may run side
    by side; one at a time of them acts."""
    acting = threading.Lock()

    def delegate(name: str, task: str, blocks: Sequence[str], parent: CallRecord) -> Ending:
        agent, theirs = _agent(name, person)
        capabilities = people.list_capabilities(theirs) if agent.acts_on else ()
        skills = people.list_skills(theirs) if LOAD_SKILL in agent.toolbox else ()
        system = prompts.render_system(agent.prompt, person=theirs, skills=skills)
        now = prompts.render_now(theirs, timezone.now())
        request = f"{now}\n{prompts.render_task(task=task, blocks=blocks)}"
        run = loop.Run(
            lease=lease,
            agent=agent.name,
            parent_call=parent.id,
            tools=agent.offer(theirs, capabilities=capabilities, skills=bool(skills), agents=False),
            limits=agent.limits(),
            messages=lambda steps, room: build_run_messages(
                system=system, request=request, steps=steps, max_tokens=room
            ),
            context_for=lambda call: ToolContext(
                lease=lease,
                person=theirs,
                agent=agent.name,
                agent_version=agent.version,
                model=agent.model,
                trigger="chat",
                principal=turn.principal,
                user_words=words.text,
                said_at=words.said_at,
                mail=None,
                pattern_id="",
                call=call,
                delegate=delegate,
                deadline=deadline,
                acting=acting,
                capabilities=capabilities,
            ),
            model=agent.model,
            steps=journal.load_steps([lease.turn_id]).get((lease.turn_id, parent.id), []),
            payer=person.payer(turn.id),
            deadline=deadline,
        )
        return loop.run_agent(run)

    return delegate


def _agent(name: str, person: Person) -> tuple[Agent, Person]:
    """The agent of this name, and the person as it may see him."""
    specialist = next((agent for agent in roster.SPECIALISTS if agent.name == name), None)
    if specialist is not None:
        return specialist, person
    defined = custom_agents.find_by_name(person, name)
    if defined is None:
        raise LookupError(f"there is no agent {name}")
    chosen = frozenset(defined.tools)
    agent = Agent(
        name=name,
        prompt=prompts.render_custom(defined.name, defined.prompt),
        tools=tuple(t for t in roster.CUSTOM_TOOLS if t.name in chosen and t.name != ACT),
        acts_on=roster.EVERYTHING if ACT in chosen else (),
        own_model=defined.model,
        max_steps_setting="SPECIALIST_MAX_STEPS",
    )
    return agent, custom_agents.narrow_person(person, defined)
