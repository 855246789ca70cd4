"""The turn of one document that arrived: the document reader files it, into listed folders alone.

A document that lies in a listed folder was filed already, by a person or by an action of the
assistant's own, and starts no turn. So does one of an account whose policy lets nothing be done
about what arrives.
"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils import timezone

from agents.context import people, prompts
from agents.context.messages import build_run_messages
from agents.contracts import Person
from agents.inbound import inbound
from agents.journal import journal
from agents.journal.leases import Lease
from agents.journal.steps import Reply
from agents.models import Turn
from agents.tools.base import ToolContext
from agents.turns import loop, roster
from agents.turns.turns import finish_turn
from guardrails.contracts import Capability
from guardrails.decide.snapshot import PolicySnapshot
from guardrails.learn import skills
from integrations.contracts import AccountRef, Document
from integrations.contracts.preferences import Preferences
from integrations.llm.completions import OutOfTime
from integrations.llm.deadline import Deadline
from knowledge.ingest import metadata

TEXT_LIMIT = 4000  # characters of the document


def list_permitted(
    account: AccountRef, document: Document, policy: PolicySnapshot
) -> list[Capability]:
    """What the policy lets be done about a document that arrived."""
    found = people.list_capabilities(_person(account), {account.id: policy})
    permitted = [one for one in found if roster.DOCUMENT_READER.can_use(one.action_type)]
    folders = {target.id for one in found for target in one.targets if target.kind == "folder"}
    return [] if document.folder_id in folders or document.trashed else permitted


def run(
    lease: Lease,
    *,
    account: AccountRef,
    document: Document,
    policy: PolicySnapshot,
    deadline: Deadline,
) -> str | None:
    """Work through the turn until it is finished; as `agents.inbound.inbound.run`."""
    until = deadline.within(settings.TURN_MAX_SECONDS)
    return inbound.attempt(lease, lambda: _work(lease, account, document, policy, until))


def _work(
    lease: Lease,
    account: AccountRef,
    document: Document,
    policy: PolicySnapshot,
    deadline: Deadline,
) -> None:
    person, agent = _person(account), roster.DOCUMENT_READER
    capabilities = list_permitted(account, document, policy)
    offered = skills.list_offered(account)
    system = prompts.render_system(agent.prompt, person=person, skills=offered)
    request = "\n".join(
        [
            prompts.render_now(person, timezone.now()),
            prompts.render_document(document, limit=TEXT_LIMIT),
        ]
    )
    steps = journal.load_steps([lease.turn_id]).get((lease.turn_id, None), [])
    before = len(steps)
    left: list[Mapping[str, Any]] = []
    run = loop.Run(
        lease=lease,
        agent=agent.name,
        parent_call=None,
        tools=agent.offer(person, capabilities=capabilities, skills=bool(offered), agents=False),
        limits=agent.limits(),
        messages=lambda steps, room: build_run_messages(
            system=system, request=request, steps=steps, max_tokens=room
        ),
        context_for=lambda call: ToolContext(
            lease=lease,
            person=person,
            agent=agent.name,
            agent_version=agent.version,
            model=agent.model,
            trigger="webhook",
            principal="webhook",
            user_words="",
            mail=None,
            item_id=document.id,
            pattern_id="",
            call=call,
            delegate=inbound.no_specialist,
            deadline=deadline,
            capabilities=capabilities,
            left=left,
        ),
        steps=steps,
        payer=person.payer(lease.turn_id, account=account),
        deadline=deadline,
    )
    ending = loop.run_agent(run)
    metadata.note_own_actions(account, left)
    if isinstance(ending, Reply):
        finish_turn(lease, text="", ending=Turn.Ending.REPLY)
    elif len(run.steps) == before:
        raise OutOfTime  # the model said nothing in all this time
    else:
        finish_turn(lease, text="", ending=Turn.Ending.LIMIT)


def _person(account: AccountRef) -> Person:
    return Person(
        organisation_id=account.organisation_id,
        external_user_id=account.external_user_id,
        accounts=(account,),
        preferences=Preferences(),
    )
