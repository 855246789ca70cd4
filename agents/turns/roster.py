"""The agents: which tools each has, which model, and how far it may go.

A schema is paid for with every call of a model. So what an agent begins with has one, and so has
each action of an agent that works on one kind of account. The rest is a line of `use_tool`, and so
are the orchestrator's actions where there are many.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

from django.conf import settings

from agents.context import prompts
from agents.contracts import InboundMail, Past, Person
from agents.journal.steps import Limits
from agents.tools import (
    actions,
    ask_user,
    custom_agents,
    delegate,
    draft_reply,
    escalate,
    execute_action,
    list_items,
    load_skill,
    open_item,
    plan_mcp_tools,
    propose_pattern,
    propose_skill,
    read_calendar,
    retrieve_context,
    review_results,
    summaries,
    tasks,
    to_do_write,
    use_tool,
)
from agents.tools.base import Tool
from guardrails.actions.registry import BY_NAME
from guardrails.contracts import Capability
from integrations.contracts import Kind

SKILL_TOOLS = (load_skill.TOOL.name,)
CUSTOM_AGENT_TOOLS = (custom_agents.LIST.name, custom_agents.RUN.name)
EVERYTHING: tuple[Kind, ...] = get_args(Kind)
# Of the schemas of all permitted actions, for who works on several kinds; where they take more,
# each is a line.
ACTION_TOKENS = 600


@dataclass(frozen=True, kw_only=True)
class Agent:
    """`prompt` is what it reads first; `own_model` is its model, where it has one of its
    own. `rare` are the tools that it is shown in a line each. `acts_on` are the kinds of accounts
    whose actions it has a tool for, as far as they are permitted."""

    name: str
    tools: tuple[Tool[Any], ...]
    max_steps_setting: str
    prompt: str
    rare: tuple[Tool[Any], ...] = ()
    own_model: str = ""
    acts_on: tuple[Kind, ...] = ()
    for_items: bool = False  # only what an item that arrived may set off

    @property
    def toolbox(self) -> dict[str, Tool[Any]]:
        return {tool.name: tool for tool in (*self.tools, *self.rare)}

    def offer(
        self,
        person: Person,
        *,
        capabilities: Sequence[Capability],
        skills: bool,
        agents: bool,
    ) -> dict[str, Tool[Any]]:
        """What it can call for this person: its toolbox without what there is nothing for (skills
        to read, custom agents to run), and every action, of which it is shown those that are
        permitted."""
        idle = (() if skills else SKILL_TOOLS) + (() if agents else CUSTOM_AGENT_TOOLS)
        permitted = [one for one in capabilities if self.can_use(one.action_type)]
        own = [*actions.list_tools(person, permitted, for_items=self.for_items).values()]
        whole = [tool for tool in self.tools if tool.name not in idle]
        rare = [tool for tool in self.rare if tool.name not in idle]
        rare += plan_mcp_tools.list_tools(permitted)
        if len(self.acts_on) == 1 or sum(tool.schema_tokens for tool in own) <= ACTION_TOKENS:
            whole, own = [*whole, *own], []
        listed = [replace(tool, offered=False, listed=True) for tool in (*own, *rare)]
        if listed:
            whole.append(use_tool.offer(actions=own, tools=rare))
        understood = actions.UNDERSTOOD if self.acts_on else {}
        return {**understood, **{tool.name: tool for tool in (*whole, *listed)}}

    def can_use(self, action_type: str) -> bool:
        action = BY_NAME[action_type]
        return action.kind in self.acts_on and (action.from_mail or not self.for_items)

    @cached_property
    def version(self) -> str:
        """Another one whenever its prompt or its tools are others. The ledger keeps it."""
        names = sorted(self.toolbox)
        given = "\0".join((self.prompt, *names, *sorted(self.acts_on)))
        return hashlib.sha256(given.encode()).hexdigest()[:12]

    @property
    def model(self) -> str:
        return self.own_model or settings.AGENT_MODELS.get(self.name, settings.CHAT_MODEL)

    def limits(self) -> Limits:
        return Limits(
            max_steps=getattr(settings, self.max_steps_setting),
            max_tool_calls=settings.TURN_MAX_TOOL_CALLS,
            max_tokens=settings.TURN_MAX_TOKENS,
            max_cost=settings.TURN_MAX_COST,
        )


ORCHESTRATOR = Agent(
    name="orchestrator",
    prompt=prompts.ORCHESTRATOR,
    tools=(
        retrieve_context.TOOL,
        open_item.TOOL,
    ),
    rare=(
        list_items.TOOL,
        read_calendar.TOOL,
        ask_user.TOOL,
        to_do_write.TOOL,
        delegate.TOOL,
        escalate.TOOL,
        review_results.TOOL,
        load_skill.TOOL,
        custom_agents.LIST,
        custom_agents.RUN,
        propose_pattern.TOOL,
        propose_skill.TOOL,
    ),
    acts_on=EVERYTHING,
    max_steps_setting="TURN_MAX_STEPS",
)
EMAIL_SPECIALIST = Agent(
    name="email",
    prompt=prompts.EMAIL_SPECIALIST,
    tools=(
        retrieve_context.TOOL,
        open_item.TOOL,
        summaries.SUMMARISE_THREAD,
        draft_reply.TOOL,
        load_skill.TOOL,
    ),
    rare=(list_items.FOR_MAIL,),
    acts_on=("mail",),
    max_steps_setting="SPECIALIST_MAX_STEPS",
)
DOCUMENT_SPECIALIST = Agent(
    name="document",
    prompt=prompts.DOCUMENT_SPECIALIST,
    tools=(
        retrieve_context.TOOL,
        open_item.TOOL,
        summaries.SUMMARISE_DOCUMENT,
        tasks.EXTRACT_TASKS,
        load_skill.TOOL,
    ),
    rare=(list_items.FOR_FILES,),
    acts_on=("files",),
    max_steps_setting="SPECIALIST_MAX_STEPS",
)
TASK_SPECIALIST = Agent(
    name="task",
    prompt=prompts.TASK_SPECIALIST,
    tools=(
        tasks.EXTRACT_TASKS,
        tasks.FIND_RELATED_TASKS,
        tasks.PREPARE_TASK_CREATION,
        load_skill.TOOL,
    ),
    acts_on=("issues",),
    max_steps_setting="SPECIALIST_MAX_STEPS",
)
MAIL_READER = Agent(
    name="mail_reader",
    prompt=prompts.MAIL_READER,
    tools=(load_skill.TOOL,),
    rare=(
        propose_pattern.TOOL,
        propose_skill.TOOL,
    ),
    acts_on=("mail",),
    for_items=True,
    max_steps_setting="INBOUND_MAX_STEPS",
)
DOCUMENT_READER = Agent(
    name="document_reader",
    prompt=prompts.DOCUMENT_READER,
    tools=(load_skill.TOOL,),
    acts_on=("files",),
    for_items=True,
    max_steps_setting="INBOUND_MAX_STEPS",
)
# No action of a calendar or tracker may be set off by what arrived: these two have what is made for
# the item alone (`agents.tools.suggest`).
EVENT_READER = Agent(
    name="event_reader",
    prompt=prompts.EVENT_READER,
    tools=(load_skill.TOOL,),
    acts_on=("calendar",),
    for_items=True,
    max_steps_setting="INBOUND_MAX_STEPS",
)
ISSUE_READER = Agent(
    name="issue_reader",
    prompt=prompts.ISSUE_READER,
    tools=(load_skill.TOOL,),
    acts_on=("issues",),
    for_items=True,
    max_steps_setting="INBOUND_MAX_STEPS",
)
# With the tool that does anything by its name.
ANSWERS = frozenset(
    {
        execute_action.TOOL.name,
        *(one.name for one in BY_NAME.values() if one.is_draft or one.sends_mail),
    }
)
LEARNING = frozenset({propose_pattern.TOOL.name, propose_skill.TOOL.name})


def find_withheld(past: Past | None, mail: InboundMail) -> frozenset[str]:
    """Tools that the mail reader has not for mail that was there before: a trial keeps nothing,
    and what was answered, or is not to be, is not answered."""
    if past is None:
        return frozenset()
    answers = frozenset() if past.writes and not mail.is_answered else ANSWERS
    return answers | (LEARNING if past.trial else frozenset())


SPECIALISTS = (EMAIL_SPECIALIST, DOCUMENT_SPECIALIST, TASK_SPECIALIST)
AGENTS = (ORCHESTRATOR, *SPECIALISTS, MAIL_READER, DOCUMENT_READER, EVENT_READER, ISSUE_READER)

# What a custom agent may be given. None of them hands work on or speaks to the user.
# With execute_action it has the actions of its sources.
CUSTOM_TOOLS: tuple[Tool[Any], ...] = (
    retrieve_context.TOOL,
    list_items.TOOL,
    open_item.TOOL,
    read_calendar.TOOL,
    summaries.SUMMARISE_DOCUMENT,
    summaries.SUMMARISE_THREAD,
    tasks.EXTRACT_TASKS,
    tasks.FIND_RELATED_TASKS,
    tasks.PREPARE_TASK_CREATION,
    draft_reply.TOOL,
    execute_action.TOOL,
    load_skill.TOOL,
)
