"""Which agent has which tools."""

from dataclasses import replace

from agents.turns.roster import (
    AGENTS,
    CUSTOM_TOOLS,
    MAIL_READER,
    ORCHESTRATOR,
    SPECIALISTS,
    Agent,
)
from guardrails.actions.registry import ACTIONS, BY_NAME
from tests.agents.tools.test_actions import PERSON, permit

EVERY = {
    "retrieve_context",
    "delegate_to_specialist",
    "ask_user",
    "escalate",
    "execute_action",
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
    assert {tool.name for agent in AGENTS for tool in agent.tools} == EVERY


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


def offered(agent: Agent, *permitted: str, skills: bool = False, agents: bool = False) -> set[str]:
    tools = agent.offer(
        PERSON,
        capabilities=[permit(name) for name in permitted],
        skills=skills,
        agents=agents,
    )
    return {tool.name for tool in tools.values() if tool.offered}


def test_what_there_is_nothing_for_costs_no_tokens() -> None:
    everything = offered(ORCHESTRATOR, skills=True, agents=True)
    assert everything == set(ORCHESTRATOR.toolbox)
    assert everything - offered(ORCHESTRATOR) == {
        *("load_skill", "list_custom_agents", "run_public_agent")
    }


def test_an_agent_is_shown_the_permitted_actions_that_are_its_work() -> None:
    permitted = ("archive", "forward_email", "create_jira_task", "move_document")
    shown = {agent.name: offered(agent, *permitted) & set(BY_NAME) for agent in AGENTS}

    assert shown == {
        "orchestrator": set(permitted),
        "email": {"archive", "forward_email"},
        "document": {"move_document"},
        "task": {"create_jira_task"},
        "mail_reader": {"archive"},  # no mail may have itself forwarded
    }


def test_who_may_act_understands_every_action() -> None:
    for agent in AGENTS:
        tools = agent.offer(PERSON, capabilities=(), skills=False, agents=False)
        assert {action.name for action in ACTIONS} | {"execute_action"} <= set(tools)
    reader = replace(MAIL_READER, acts_on=())
    assert "archive" not in reader.offer(PERSON, capabilities=(), skills=False, agents=False)
