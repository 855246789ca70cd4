"""The agents: which tools each has and how far it may go."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings

from agents.steps import Limits
from agents.tools import (
    ask_user,
    delegate,
    execute_action,
    load_skill,
    propose_pattern,
    propose_skill,
    retrieve_context,
    review_results,
    tasks,
    to_do_write,
)
from agents.tools.base import Tool


@dataclass(frozen=True, kw_only=True)
class Agent:
    name: str
    tools: tuple[Tool[Any], ...]
    max_steps_setting: str

    @property
    def toolbox(self) -> dict[str, Tool[Any]]:
        return {tool.name: tool for tool in self.tools}

    def limits(self) -> Limits:
        return Limits(
            max_steps=getattr(settings, self.max_steps_setting),
            max_tool_calls=settings.TURN_MAX_TOOL_CALLS,
            max_seconds=settings.TURN_MAX_SECONDS,
            max_tokens=settings.TURN_MAX_TOKENS,
            max_cost=settings.TURN_MAX_COST,
        )


ORCHESTRATOR = Agent(
    name="orchestrator",
    tools=(
        retrieve_context.TOOL,
        delegate.TOOL,
        ask_user.TOOL,
        execute_action.TOOL,
        propose_pattern.TOOL,
        propose_skill.TOOL,
        to_do_write.TOOL,
        review_results.TOOL,
    ),
    max_steps_setting="TURN_MAX_STEPS",
)
TASK_SPECIALIST = Agent(
    name="task",
    tools=(tasks.EXTRACT_TASKS, tasks.FIND_RELATED_TASKS, tasks.PREPARE_TASK_CREATION),
    max_steps_setting="SPECIALIST_MAX_STEPS",
)
MAIL_READER = Agent(
    name="mail_reader",
    tools=(
        execute_action.TOOL,
        load_skill.TOOL,
        propose_pattern.TOOL,
        propose_skill.TOOL,
    ),
    max_steps_setting="INBOUND_MAX_STEPS",
)
AGENTS = (ORCHESTRATOR, TASK_SPECIALIST, MAIL_READER)
