"""Specialists: agents of their own below one tool call, inside the same turn."""

from collections.abc import Callable, Sequence

from django.conf import settings
from django.utils import timezone

from agents import journal, loop, people, prompts, roster
from agents.contracts import CallRecord, Person
from agents.journal import Lease
from agents.models import Turn
from agents.steps import Ending
from agents.tools.base import ToolContext

Delegate = Callable[[str, str, Sequence[str], CallRecord], Ending]


def delegate_for(
    lease: Lease, person: Person, turn: Turn, words: str, *, started: float
) -> Delegate:
    """What a delegating tool calls: run a specialist below the call and return its ending.
    It shares the turn's ledger, pending actions and limits of the person."""

    def delegate(name: str, task: str, blocks: Sequence[str], parent: CallRecord) -> Ending:
        agent = next(a for a in roster.AGENTS if a.name == name)
        system = prompts.task_specialist(
            capabilities=people.capabilities(person), today=timezone.now().date().isoformat()
        )
        request = prompts.delegated_task(task=task, blocks=blocks)
        run = loop.Run(
            lease=lease,
            agent=agent.name,
            parent_call=parent.id,
            tools=agent.toolbox,
            limits=agent.limits(),
            messages=lambda steps: prompts.run_messages(
                system=system, request=request, steps=steps, max_bytes=settings.HISTORY_MAX_BYTES
            ),
            context_for=lambda call: ToolContext(
                lease=lease,
                person=person,
                agent=agent.name,
                model=settings.CHAT_MODEL,
                trigger="chat",
                principal=turn.principal,
                user_words=words,
                mail=None,
                pattern_id="",
                call=call,
                delegate=delegate,
            ),
            steps=journal.steps_of([lease.turn_id]).get((lease.turn_id, parent.id), []),
            payer=person.payer(turn.id),
            started=started,
        )
        return loop.run(run)

    return delegate
