"""Which agent has which tools."""

import json
import re
from dataclasses import replace
from uuid import uuid4

import pytest

from agents.contracts import Past
from agents.turns.roster import (
    ACTION_TOKENS,
    AGENTS,
    CUSTOM_TOOLS,
    MAIL_READER,
    ORCHESTRATOR,
    SPECIALISTS,
    Agent,
    find_withheld,
)
from guardrails.actions.registry import ACTIONS, BY_NAME
from integrations.llm.completions import estimated_tokens
from tests.agents.learn.test_matching import MAIL
from tests.agents.tools.test_actions import PERSON, permit

EVERY = {
    "retrieve_context",
    "delegate_to_specialist",
    "ask_user",
    "escalate",
    "summarise_document",
    "summarise_thread",
    "extract_tasks",
    "prepare_task_creation",
    "find_related_tasks",
    "draft_reply",
    "load_skill",
    "list_items",
    "open_item",
    "read_calendar",
    "propose_pattern",
    "propose_skill",
    "toDoWrite",
    "review_results",
    "list_custom_agents",
    "run_public_agent",
}


def test_every_tool_is_some_agents() -> None:
    assert {name for agent in AGENTS for name in agent.toolbox} == EVERY


def test_a_trial_over_past_mail_teaches_nothing_and_what_was_answered_gets_no_answer() -> None:
    learning, answers = {"propose_pattern", "propose_skill"}, {"draft", "send_email", "reply"}

    def withheld(*, is_trial: bool, writes: bool, is_answered: bool = False) -> frozenset[str]:
        past = Past(trial=uuid4() if is_trial else None, writes=writes)
        found = find_withheld(past, replace(MAIL, is_answered=is_answered))
        return found & (learning | answers)

    assert find_withheld(None, replace(MAIL, is_answered=True)) == set()
    assert withheld(is_trial=True, writes=True) == learning
    assert withheld(is_trial=False, writes=True) == set()
    assert withheld(is_trial=False, writes=True, is_answered=True) == answers & BY_NAME.keys()
    assert withheld(is_trial=False, writes=False) == answers & BY_NAME.keys()


def test_every_agent_can_load_skills() -> None:
    assert all("load_skill" in agent.toolbox for agent in AGENTS)
    assert "load_skill" in {tool.name for tool in CUSTOM_TOOLS}


def test_only_who_speaks_to_the_user_asks_and_hands_over() -> None:
    for tool in ("ask_user", "escalate", "delegate_to_specialist", "run_public_agent"):
        assert tool in ORCHESTRATOR.toolbox
        assert not any(tool in agent.toolbox for agent in (*SPECIALISTS, MAIL_READER))
        assert tool not in {one.name for one in CUSTOM_TOOLS}


def test_another_prompt_or_another_tool_is_another_version() -> None:
    versions = {agent.version for agent in AGENTS}
    assert len(versions) == len(AGENTS)
    assert all(len(version) == 12 for version in versions)
    same = replace(ORCHESTRATOR, tools=ORCHESTRATOR.tools[::-1], own_model="another")
    assert same.version == ORCHESTRATOR.version
    for other in (
        replace(ORCHESTRATOR, prompt=f"{ORCHESTRATOR.prompt}."),
        replace(ORCHESTRATOR, tools=ORCHESTRATOR.tools[1:]),
        replace(ORCHESTRATOR, acts_on=("mail",)),
    ):
        assert other.version != ORCHESTRATOR.version


def shown(agent: Agent, *permitted: str, skills: bool = False, agents: bool = False) -> set[str]:
    """What it has a schema or a line of."""
    tools = agent.offer(
        PERSON,
        capabilities=[permit(name) for name in permitted],
        skills=skills,
        agents=agents,
    )
    listed = {tool.name for tool in tools.values() if tool.listed}
    lines = tools["use_tool"].description.splitlines() if listed else []
    assert listed == {line.partition("(")[0] for line in lines if "(" in line}
    return listed | {tool.name for tool in tools.values() if tool.offered}


def test_what_there_is_nothing_for_costs_no_tokens() -> None:
    everything = shown(ORCHESTRATOR, skills=True, agents=True)
    assert everything == {*ORCHESTRATOR.toolbox, "use_tool"}
    assert everything - shown(ORCHESTRATOR) == {
        *("load_skill", "list_custom_agents", "run_public_agent")
    }


def test_an_agent_is_shown_the_permitted_actions_that_are_its_work() -> None:
    permitted = ("archive", "forward_email", "create_jira_task", "move_document")
    found = {agent.name: shown(agent, *permitted) & set(BY_NAME) for agent in AGENTS}

    assert found == {
        "orchestrator": set(permitted),
        "email": {"archive", "forward_email"},
        "document": {"move_document"},
        "task": {"create_jira_task"},
        "mail_reader": {"archive"},  # no mail may have itself forwarded
        "document_reader": {"move_document"},
        "event_reader": set(),  # nothing that arrives may change a calendar or an issue
        "issue_reader": set(),
    }


def test_a_specialist_has_no_schema_of_what_it_seldom_needs() -> None:
    for agent in SPECIALISTS:
        tools = agent.offer(PERSON, capabilities=[], skills=False, agents=False)
        offered = [tool for tool in tools.values() if tool.offered]
        assert "list_items" not in {tool.name for tool in offered}
        assert sum(tool.schema_tokens for tool in offered) < 800


def test_few_actions_have_a_schema_and_many_a_line_each() -> None:
    few = ORCHESTRATOR.offer(PERSON, capabilities=[permit("archive")], skills=False, agents=False)
    everything = [permit(action.name) for action in ACTIONS]
    many = ORCHESTRATOR.offer(PERSON, capabilities=everything, skills=False, agents=False)

    assert few["archive"].offered
    assert "archive(" not in few["use_tool"].description
    for action in ACTIONS:
        assert many[action.name].listed
        assert not many[action.name].offered
    # Within the tokens of a line each.
    assert sum(estimated_tokens(many[action.name].line) for action in ACTIONS) < ACTION_TOKENS


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_what_is_not_permitted_costs_no_tokens(agent: Agent) -> None:
    """Neither schema nor line nor name: only the shown ones are sent to a model."""
    without = agent.offer(PERSON, capabilities=[permit("archive")], skills=True, agents=True)
    sent = json.dumps([tool.schema for tool in without.values() if tool.offered])

    assert not [name for name in set(BY_NAME) - {"archive"} if re.search(rf"\b{name}\b", sent)]


def test_who_works_on_one_kind_has_a_schema_of_each_action() -> None:
    everything = [permit(action.name) for action in ACTIONS]
    for agent in (*SPECIALISTS, MAIL_READER):
        tools = agent.offer(PERSON, capabilities=everything, skills=False, agents=False)
        own = [tools[one.name] for one in ACTIONS if agent.can_use(one.name)]
        assert own
        assert all(tool.offered for tool in own)


def test_who_may_act_understands_every_action() -> None:
    for agent in AGENTS:
        tools = agent.offer(PERSON, capabilities=(), skills=False, agents=False)
        assert {action.name for action in ACTIONS} | {"execute_action"} <= set(tools)
    reader = replace(MAIL_READER, acts_on=())
    assert "archive" not in reader.offer(PERSON, capabilities=(), skills=False, agents=False)


def test_a_specialist_sees_the_filters_that_it_can_use_and_no_others() -> None:
    lines = {}
    for agent in (ORCHESTRATOR, *SPECIALISTS):
        tools = agent.offer(PERSON, capabilities=[], skills=False, agents=False)
        lines[agent.name] = tools["list_items"].line if "list_items" in tools else ""
    assert "status?, issue_type?, priority?, open_only?, assignee?" in lines["orchestrator"]
    assert lines["email"] == (
        "list_items(types[]?: email|document|event|issue|message, from?, to?, since?, until?, "
        "words?, labels[]?, place?, unread?, with_files?, unanswered?, "
        "count_by?: from|place|type|source, order?: newest|oldest, limit?, page?): people by name, "
        "address, @domain or me; place: folder; unanswered: mail that waits for the user"
    )
    assert lines["document"] == (
        "list_items(types[]?: email|document|event|issue|message, from?, since?, until?, words?, "
        "place?, count_by?: from|place|type|source, order?: newest|oldest, limit?, page?): people "
        "by name, address, @domain or me; place: folder"
    )
    assert lines["task"] == ""
