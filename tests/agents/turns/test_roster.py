"""Which agent has which tools."""

from dataclasses import replace

from agents.turns.roster import (
    AGENTS,
    CUSTOM_TOOLS,
    MAIL_READER,
    ORCHESTRATOR,
    SPECIALISTS,
)

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
    ):
        assert other.version != ORCHESTRATOR.version


def test_what_there_is_nothing_for_costs_no_tokens() -> None:
    everything = ORCHESTRATOR.offer(skills=True, agents=True)
    assert everything == ORCHESTRATOR.toolbox
    without = ORCHESTRATOR.offer(skills=False, agents=False)
    assert set(everything) - set(without) == {
        *("load_skill", "list_custom_agents", "run_public_agent")
    }
