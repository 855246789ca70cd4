"""The turn of one item that is no mail: an agent works from a brief about it, through the same loop
and the same guardrails as with a mail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, TypeVar

from django.conf import settings

from agents.context import people, prompts
from agents.context.messages import build_run_messages
from agents.contracts import Person, StepRecord
from agents.inbound import inbound
from agents.inbound.endings import End
from agents.journal import journal
from agents.journal.steps import Reply
from agents.models import Turn
from agents.tools import suggest
from agents.tools.base import Tool, ToolContext
from agents.turns import loop, roster
from guardrails.contracts import Capability
from guardrails.decide.snapshot import PolicySnapshot
from guardrails.gather.policy_rows import read_policy
from guardrails.learn import skills
from guardrails.policies.capabilities import find_capabilities
from integrations.accounts.reads import reader
from integrations.contracts import AccountRef, Event, Issue
from integrations.exceptions import NotFound
from integrations.llm.completions import OutOfTime
from integrations.llm.deadline import Deadline

Suggestible = TypeVar("Suggestible", Event, Issue)


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """That something came to an account, as far as all kinds of items have it in common. `policy`
    is the account's as it was read just now; `kind`: the item is new, or changed."""

    account: AccountRef
    policy: PolicySnapshot
    kind: Literal["created", "updated"]
    now: datetime

    @cached_property
    def reader(self) -> Any:
        """Of the item's kind."""
        return reader(self.account)

    @cached_property
    def permitted(self) -> Sequence[Capability]:
        """What the account's policy permits at all. Empty: it has nothing to say."""
        return find_capabilities((self.account,), {self.account.id: self.policy})[self.account.id]

    def as_it_is(self, item: Suggestible) -> Suggestible | None:
        """The item with its revision, which no webhook tells; None where it is gone. One look at
        the provider. Raises ProviderError."""
        if item.revision:
            return item
        asked: Any = item
        try:
            found: Suggestible = (
                self.reader.issue(asked.key)
                if isinstance(asked, Issue)
                else self.reader.event(asked.id)
            )
        except NotFound:
            return None
        return found

    @cached_property
    def user(self) -> Person:
        """Whom it came to, with all their accounts, to be read. Two queries."""
        found = people.load_person(
            organisation_id=self.account.organisation_id,
            external_user_id=self.account.external_user_id,
        )
        return found or Person(
            organisation_id=self.account.organisation_id,
            external_user_id=self.account.external_user_id,
            accounts=(self.account,),
        )


@dataclass(frozen=True, kw_only=True)
class Brief:
    """What an agent is asked about one item, which actions may call by `also` too. `permitted` is
    what it may do about it, `tools` what it has beside that, made for this item alone."""

    agent: roster.Agent
    item_id: str
    request: str
    also: str = ""
    permitted: Sequence[Capability] = ()
    tools: Mapping[str, Tool[Any]] = field(default_factory=dict)
    basis: str = ""  # what suggestions about it rest on, where it may be looked at again

    @property
    def ids(self) -> list[str]:
        return [one for one in (self.item_id, self.also) if one]


def run(end: End, *, arrival: Arrival, brief: Brief, deadline: Deadline) -> str | None:
    """Work through the turn until its end is stored; as `agents.inbound.inbound.run`."""
    until = deadline.within(settings.TURN_MAX_SECONDS)
    return inbound.attempt(end.lease, lambda: _work(end, arrival, brief, until))


def _work(end: End, arrival: Arrival, brief: Brief, deadline: Deadline) -> None:
    lease, account, agent = end.lease, end.account, brief.agent
    person = replace(arrival.user, accounts=(account,))  # it acts on this one alone
    offered = skills.list_offered(account)
    system = prompts.render_system(agent.prompt, person=person, skills=offered)
    request = "\n".join([prompts.render_now(person, arrival.now), brief.request])
    steps = journal.load_steps([lease.turn_id]).get((lease.turn_id, None), [])
    before = len(steps)
    tools = agent.offer(person, capabilities=brief.permitted, skills=bool(offered), agents=False)
    run = loop.Run(
        lease=lease,
        agent=agent.name,
        parent_call=None,
        tools={**tools, **brief.tools},
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
            item_id=brief.item_id,
            pattern_id="",
            call=call,
            delegate=inbound.no_specialist,
            deadline=deadline,
            capabilities=brief.permitted,
            left=end.left,
        ),
        steps=steps,
        payer=person.payer(lease.turn_id, account=account),
        read_policy=lambda: read_policy(account),
        deadline=deadline,
        around_reply=lambda: end.committing(_replied(steps)),
    )
    if isinstance(loop.run_agent(run), Reply):
        end.store(_replied(steps))
    elif len(run.steps) == before:
        raise OutOfTime  # the model said nothing in all this time
    else:
        end.store(Turn.Ending.LIMIT)


def _replied(steps: Sequence[StepRecord]) -> Turn.Ending:
    has_suggested = any(map(suggest.is_suggestion, (c for s in steps for c in s.calls)))
    return Turn.Ending.SUGGESTED if has_suggested else Turn.Ending.REPLY
