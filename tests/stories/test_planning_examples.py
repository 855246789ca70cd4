"""The planning seed's three examples (section 8), over real HTTP with a scripted model: a simple
question with a clarification, several agents, recovery from an error."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from agents.models import CustomAgent, CustomAgentRun, Plan, ToolCall, TurnEvent
from integrations.exceptions import Unavailable
from integrations.models import ServiceToken
from knowledge.contracts import SearchRequest, SearchResult
from knowledge.search import retrieval
from tests.model_server import REVIEWER, Reply, Script, ScriptedModel, calls
from tests.office import Office
from tests.stories.steps import scripted

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR = "You are Remit's orchestrator."
FINE = {
    "quality_score": 0.9,
    "completeness": 0.9,
    "relevance": 0.9,
    "gaps": [],
    "suggested_actions": [],
    "recommendation": "proceed",
}
Chat = Callable[..., dict[str, Any]]


@pytest.fixture
def chat(office: Office) -> Chat:
    office.sync()
    token = ServiceToken.issue(
        organisation=office.organisation, name="web", scopes=["chat", "approvals"]
    )[1]

    def post(message: str, session: str | None = None) -> dict[str, Any]:
        answer = httpx.post(
            f"{office.origin}/api/v1/chat",
            json={"user_id": "maya", "message": message, "session_id": session},
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        )
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    return post


def plan(*goals: tuple[str, str, list[str], list[str]]) -> Reply:
    """A call that makes a plan of (goal, description, what it waits for, steps)."""
    return todo(
        action="create",
        goals=[
            {
                "id": id,
                "description": description,
                "priority": "high",
                "depends_on": after,
                "steps": [{"id": step, "description": f"Do {step}"} for step in steps],
            }
            for id, description, after, steps in goals
        ],
    )


def todo(**arguments: Any) -> Reply:
    return calls(("toDoWrite", arguments))


def search(*sources: str, query: str = "proposal", **more: Any) -> Reply:
    """Searches side by side, one a source."""
    wishes = [{"query": query, "sources": [source], **more} for source in sources]
    return calls(*[("retrieve_context", wish) for wish in wishes])


def last_results(model: ScriptedModel, index: int = -1) -> list[dict[str, Any]]:
    messages = model.chats(ORCHESTRATOR)[index]["messages"]
    asked = max(i for i, m in enumerate(messages) if m["role"] == "assistant")
    return [json.loads(m["content"]) for m in messages[asked:] if m["role"] == "tool"]


def test_a_simple_question_is_planned_clarified_and_answered_with_citations(
    office: Office, chat: Chat
) -> None:
    which = {"question": "Which John did you mean?", "options": ["John Smith", "John Doe"]}
    script: Script = {
        ORCHESTRATOR: [
            plan(
                ("who", "Which John is meant", [], ["find", "ask"]),
                ("what", "What he says about the proposal", ["who"], ["search"]),
            ),
            search("gmail", entity_filter="John"),
            todo(action="complete", ids=["find"], result="Two Johns"),
            calls(("ask_user", which)),
            todo(action="complete", ids=["ask"], result="John Smith"),
            search("gmail", "gdrive", "jira", query="customer portal", entity_filter="John Smith"),
            todo(action="complete", ids=["search"], result="His mail about the portal"),
            "John Smith proposes a customer portal [1].",
        ],
        REVIEWER: [],
    }
    with scripted(script) as model:
        asked = chat("What does John say about the proposal?")
        answered = chat("John Smith", asked["session_id"])

    assert asked["clarification"]["options"] == ["John Smith", "John Doe"]
    assert [goal["status"] for goal in asked["plan"]["goals"]] == ["in_progress", "pending"]
    resumed = model.chats(ORCHESTRATOR)[4]
    assert "[plan]" in resumed["messages"][-2]["content"], "the plan is there after the question"
    steps = ToolCall.objects.filter(name="retrieve_context").values_list("step_id", flat=True)
    assert len(set(steps)) == 2
    assert len(steps) == 4, "three independent searches in one step"
    assert answered["plan"]["finished"] is True
    assert [item["n"] for item in answered["citations"]] == [1]
    assert answered["review"] is None, "what was only read has no reviewer"
    assert office.calls() == []


def test_several_agents_gather_analyse_and_are_reviewed_where_the_model_asks_for_it(
    office: Office, chat: Chat
) -> None:
    analyst = CustomAgent.objects.create(
        organisation=office.organisation,
        name="Project analyst",
        description="Analyses the state of projects and what is to be done.",
        capabilities=["project analysis", "reporting"],
        prompt="You analyse projects.",
        tools=["retrieve_context", "find_related_tasks"],
        sources=["gmail", "jira"],
        enabled=True,
    )
    query = "project analysis: what is to be done for the customer portal"
    lacking = FINE | {
        "completeness": 0.5,
        "gaps": ["The documents were not looked at."],
        "recommendation": "gather_more",
    }
    script: Script = {
        ORCHESTRATOR: [
            plan(
                ("agents", "Find agents that can analyse", [], ["list"]),
                ("data", "Gather what mails and issues say", [], ["mails", "issues"]),
                ("analysis", "Run the analysis", ["agents", "data"], ["run"]),
            ),
            calls(
                ("list_custom_agents", {"query": query, "required_capabilities": ["reporting"]}),
                ("retrieve_context", {"query": "customer portal", "sources": ["gmail"]}),
                ("retrieve_context", {"query": "customer portal", "sources": ["jira"]}),
            ),
            todo(action="complete", ids=["list", "mails", "issues"], result="Gathered"),
            calls(
                ("run_public_agent", {"agent_id": str(analyst.id), "query": "Analyse the portal."})
            ),
            todo(action="complete", ids=["run"], result="Three tasks"),
            calls(("review_results", {"concern": "Is it complete?"})),
            search("gdrive", query="customer portal"),
            "Three tasks are to be done [1].",
        ],
        "You are Remit's custom agent Project analyst.": ["Three tasks: set up, log in, pay."],
        REVIEWER: [lacking],
    }
    with scripted(script) as model:
        answer = chat("Analyse the customer portal and summarise the action items")

    listed = last_results(model, 2)[0]["data"]["agents"]
    assert [agent["name"] for agent in listed] == ["Project analyst"]
    assert last_results(model, 6)[0]["data"]["gaps"] == ["The documents were not looked at."]
    assert answer["response"] == "Three tasks are to be done [1]."
    assert answer["plan"]["finished"] is True
    assert CustomAgentRun.objects.get().succeeded is True
    said = TurnEvent.objects.filter(type="decision", data__decision="review").order_by("sequence")
    assert [event.data["of"] for event in said] == ["request"]
    assert office.calls() == []


def test_a_search_that_fails_is_replanned_around_and_the_answer_says_so(
    office: Office, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = retrieval.search

    def search_without_mail(request: SearchRequest, **more: Any) -> SearchResult:
        if request.sources == ("gmail",):
            raise Unavailable("the mailbox does not answer")
        return real(request, **more)

    monkeypatch.setattr(retrieval, "search", search_without_mail)
    script: Script = {
        ORCHESTRATOR: [
            plan(("find", "Find what is known of the portal", [], ["mails"])),
            search("gmail", query="customer portal"),
            search("gmail", query="portal"),
            search("gmail", query="proposal portal"),
            todo(action="update", id="mails", status="failed", result="The mailbox is away"),
            todo(
                action="add",
                goal_id="find",
                step={"id": "issues", "description": "Look at issues instead"},
            ),
            calls(
                ("delegate_to_specialist", {"specialist": "task", "task": "Find portal issues."})
            ),
            todo(action="complete", ids=["issues"], result="Known issues"),
            "From the issues alone: the portal is planned. Your mail could not be searched.",
        ],
        "You are Remit's task specialist.": [
            calls(("find_related_tasks", {"query": "portal"})),
            "The portal is planned.",
        ],
        REVIEWER: [],
    }
    with scripted(script) as model:
        answer = chat("What is known of the customer portal?")

    fourth = model.chats(ORCHESTRATOR)[4]
    assert [one["error"]["code"] for one in last_results(model, 4)] == ["NETWORK_ERROR"]
    assert "retrieve_context" not in {tool["function"]["name"] for tool in fourth["tools"]}
    rested = TurnEvent.objects.filter(type="decision", data__decision="tool_rests").get()
    assert rested.data["tool"] == "retrieve_context"
    assert answer["response"].endswith("Your mail could not be searched.")
    (goal,) = answer["plan"]["goals"]
    assert [step["status"] for step in goal["steps"]] == ["failed", "completed"]
    assert Plan.objects.get().finished is False
    assert office.calls() == []
