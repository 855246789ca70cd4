"""What a visitor of the demo sees the agent do (FINDINGS A15, A16): it plans, follows a skill, asks
a custom agent, proposes a pattern, and answers how many, who and when, all through the API with the
real offline model."""

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from django.utils import timezone

from agents.models import CustomAgent, ToolCall
from guardrails.models import LearnedPattern
from integrations.models import ServiceToken
from knowledge.models import Item
from knowledge.search.listing import ENDED
from tests.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
STOCKHOLM = ZoneInfo("Europe/Stockholm")


class Visitor:
    def __init__(self, office: Office) -> None:
        self.office = office
        issued = ServiceToken.issue(
            organisation=office.organisation, name="web", scopes=["chat", "approvals"]
        )
        self.token = issued[1]

    def asks(self, message: str) -> dict[str, Any]:
        answer = httpx.post(
            f"{self.office.origin}/api/v1/chat",
            json={"user_id": "maya", "message": message},
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=60,
        )
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


def called(answer: dict[str, Any]) -> list[str]:
    rows = ToolCall.objects.filter(turn_id=answer["turn_id"], step__parent_call=None)
    return list(rows.order_by("created_at", "position").values_list("name", flat=True))


def first_line(answer: dict[str, Any]) -> str:
    return str(answer["response"]).split("\n", 1)[0]


def test_how_many_who_and_when_are_answered_from_the_facts(office: Office) -> None:
    office.sync("gmail", "jira", "calendar")
    visitor = Visitor(office)
    mine = Item.objects.filter(account__external_user_id="maya")
    issues = mine.filter(content_type="issue")
    of_priya = issues.filter(metadata__assignee="priya@company.com")
    unfinished = [one for one in of_priya if one.metadata["status"].lower() not in ENDED]
    from_elin = mine.filter(content_type="email", sender_address="elin@company.com")

    many = visitor.asks("How many open issues are assigned to Priya?")
    german = visitor.asks("Wie viele Mails hat Elin geschickt?")
    who = visitor.asks("Who is assigned to PROJ-99?")
    status = visitor.asks("Welchen Status hat PROJ-99?")
    wrote = visitor.asks("Who wrote about the contract with the card provider?")
    when = visitor.asks("When is the next portal planning?")

    assert first_line(many).startswith(f"There are {len(unfinished)} issues.")
    assert len(unfinished) > 3
    assert first_line(german).startswith(f"Es gibt {from_elin.count()} Mails.")
    assert (
        who["response"] == "priya@company.com is assigned to “PROJ-99 Words for empty states” [1]."
    )
    assert status["response"] == (
        "Der Status von „PROJ-99 Words for empty states“ ist In Progress [1]."
    )
    assert first_line(wrote).startswith("Lucas Ferreira wrote “Contract with the card provider”")
    planning = mine.get(title="Portal planning").occurred_at.astimezone(STOCKHOLM)
    assert f"takes place on {planning:%a} {planning.day} {planning:%b %Y %H:%M}" in when["response"]
    for answer in (many, german, who, status, wrote, when):
        assert answer["citations"], answer["response"]
        assert answer["needs_clarification"] is False
    assert office.calls() == []


def test_the_calendar_answers_in_the_users_time(office: Office) -> None:
    office.sync("calendar")
    day = timezone.now().astimezone(STOCKHOLM).date() + timedelta(days=1)
    while day.weekday() > 4:
        day += timedelta(days=1)
    visitor = Visitor(office)

    agenda = visitor.asks(f"What meetings do I have on {day:%A}?")
    free = visitor.asks(f"Wann habe ich am {day.isoformat()} eine Stunde Zeit?")

    shown = f"{day:%a} {day.day} {day:%b %Y} 09:30 to 10:00: “Weekly product meeting”"
    events = Item.objects.filter(title="Weekly product meeting", content_type="event")
    if any(one.occurred_at.astimezone(STOCKHOLM).date() == day for one in events):
        assert agenda["response"].count(shown) == 1
    assert called(agenda) == called(free) == ["read_calendar"]
    assert first_line(free).startswith("Sie haben 60 Minuten Zeit")


def test_a_request_of_several_steps_is_planned_and_each_step_done(office: Office) -> None:
    office.sync("gmail", "jira")
    answer = Visitor(office).asks(
        "Find mails about the ParcelPoint pilot, then show my open issues and create a task in "
        "PROJ: Prepare the pilot"
    )

    assert answer["plan"]["finished"] is True
    [goal] = answer["plan"]["goals"]
    assert [step["status"] for step in goal["steps"]] == ["completed"] * 3
    assert called(answer) == [
        *("toDoWrite", "retrieve_context", "toDoWrite", "list_items", "toDoWrite"),
        *("create_jira_task", "toDoWrite", "review_results"),
    ]
    assert [one["description"] for one in answer["pending_actions"]] == [
        "Create a task in PROJ: “Prepare the pilot”"
    ]
    assert (
        "Waiting for your confirmation: Create a task in PROJ: “Prepare the pilot”."
        in answer["response"]
    )
    assert office.calls() == []


def test_a_mail_is_dealt_with_as_its_skill_says(office: Office) -> None:
    office.sync("gmail", "calendar")
    answer = Visitor(office).asks("Deal with the meeting request from Dana Levi")

    assert called(answer) == [
        *("retrieve_context", "load_skill", "open_item", "read_calendar", "draft", "classify")
    ]
    assert first_line(answer).startswith("I followed the skill “meeting-requests” for “Re: Pilot")
    draft, label = answer["completed_actions"]
    assert draft["type"] == "draft"
    assert draft["params"]["body"].endswith("(Europe/Stockholm)?\n\nMaya Lindqvist")
    assert label["description"].startswith("Label as Awaiting Reply: ")


def test_a_custom_agent_is_asked_and_a_pattern_is_proposed(office: Office) -> None:
    office.sync("gmail", "gdrive")
    CustomAgent.objects.create(
        organisation=office.organisation,
        name="Research",
        description="Finds out what documents and mails say about a topic.",
        capabilities=["research"],
        prompt="Answer from documents.",
        tools=["retrieve_context", "open_item", "list_items"],
        sources=["gdrive", "gmail"],
        enabled=True,
    )
    visitor = Visitor(office)

    research = visitor.asks("Ask the research agent which documents describe the launch plan")
    always = visitor.asks("Always archive mail like the support summary from Elin")
    once = visitor.asks("Always archive mail like the Design Digest")

    assert called(research) == ["list_custom_agents", "run_public_agent"]
    assert first_line(research) == "The agent “Research” says:"
    assert "“Launch plan for the portal”" in research["response"]
    assert research["citations"]
    proposed = LearnedPattern.objects.get(sender_address="elin@company.com")
    assert proposed.state == LearnedPattern.State.PROPOSED
    assert "An operator approves it; until then nothing changes." in always["response"]
    assert "needs 3 like mails that a person treated so: here it is 1." in once["response"]
    assert LearnedPattern.objects.filter(proposed_by="chat").count() == 1
    assert office.calls() == []


def test_what_the_data_does_not_hold_is_said_not_to_be_there(office: Office) -> None:
    office.sync("gmail", "gdrive", "jira")
    visitor = Visitor(office)

    for question in ("What is the wifi password of the office?", "How much is the launch party?"):
        assert first_line(visitor.asks(question)).startswith(
            "There is no answer to that in your data."
        )
    due = visitor.asks("When is PROJ-99 due?")["response"]
    assert due == "Your data names no due date for “PROJ-99 Words for empty states” [1]."
