"""“Create Jira tasks from John's proposal email”, word for word, and its neighbours."""

from collections.abc import Sequence
from typing import Any

import pytest
from openai import OpenAI

from tests.sandbox.dialogue import (
    Dialogue,
    Json,
    decision,
    execution,
    function,
    refusal,
    success,
)

READING = ("retrieve_context", "open_item", "ask_user", "use_tool")
TOOLS = (*READING, function("create_jira_task", project_key=["PROJ"]))
PROPOSAL = "Hi Maya,\n1. Setup CI/CD - Test every change.\n2. User Auth\n\nThanks,\nJohn"
SYSTEM = "You are Remit's orchestrator.\nProse."
REQUEST = "Create Jira tasks from John's proposal email"


def mail(number: int, name: str, address: str, title: str) -> Json:
    return {
        "n": number,
        "id": f"item-{number}",
        "type": "email",
        "title": title,
        "snippet": "How it begins.",
        "from": f"{name} ({address})",
        "date": "2026-11-17T09:14:00+01:00",
    }


def two_johns() -> Json:
    smith = ["Notes", "Proposal: customer portal", "Plants", "Load test", "Planning"]
    items = [mail(n, "John Doe", "johnd@client.com", "Delivery") for n in (1, 2)]
    items += [mail(n + 3, "John Smith", "john@company.com", t) for n, t in enumerate(smith)]
    items.append(mail(9, "Johnson Lee", "lee@company.com", "Proposal: lunch"))
    return success(items=items)


def only_smith(**fields: Any) -> Json:
    proposal = mail(4, "John Smith", "john@company.com", "Proposal: customer portal")
    return success(items=[proposal | fields])


def opened(text: str = PROPOSAL) -> Json:
    return success(n=1, id="item-4", text=text)


def created(summary: str) -> Json:
    return success(status="pending_confirmation", description=f"Create a task in PROJ: “{summary}”")


def creating(summary: str, **fields: Any) -> tuple[str, Json]:
    task = {"project_key": "PROJ", "summary": summary, "description": "", "type": "task"}
    return execution("create_jira_task", task | {"priority": "medium"} | fields)


def asked_which_john(client: OpenAI) -> Dialogue:
    dialogue = Dialogue(client, system=SYSTEM, tools=TOOLS)
    dialogue.user(REQUEST)
    dialogue.answers()
    dialogue.returns(two_johns())
    dialogue.answers()
    return dialogue


def read(client: OpenAI, text: str = PROPOSAL, tools: Sequence[str | Json] = TOOLS) -> Dialogue:
    """A dialogue whose mail is found and opened."""
    dialogue = Dialogue(client, system=SYSTEM, tools=tools)
    dialogue.user(REQUEST)
    dialogue.answers()
    dialogue.returns(only_smith())
    assert dialogue.calls() == [("open_item", {"item_id": "item-4"})]
    dialogue.returns(opened(text))
    return dialogue


def test_the_story_word_for_word(client: OpenAI) -> None:
    dialogue = Dialogue(client, system=SYSTEM, tools=TOOLS)
    dialogue.user(REQUEST)
    search = {"query": "proposal", "entity_filter": "John", "sources": ["gmail"], "limit": 12}
    assert dialogue.calls() == [("retrieve_context", search)]

    dialogue.returns(two_johns())
    question = {
        "question": "Which John did you mean?",
        "options": [
            "John Smith (john@company.com) - 5 recent emails",
            "John Doe (johnd@client.com) - 2 recent emails",
        ],
        "required_for": "identify correct email thread",
    }
    assert dialogue.calls() == [("ask_user", question)]
    assert dialogue.messages[-1]["content"] == (
        "I found emails from multiple Johns. Which one did you mean?"
    )

    dialogue.returns(success(answer="John Smith"))
    assert dialogue.calls() == [("open_item", {"item_id": "item-4"})]

    dialogue.returns(opened())
    assert dialogue.calls() == [
        creating("Setup CI/CD", description="Test every change."),
        creating("User Auth"),
    ]

    dialogue.returns(created("Setup CI/CD"), created("User Auth"))
    assert dialogue.says() == ("I found John Smith's proposal email. I've extracted 2 tasks:")

    dialogue.user("")
    dialogue.decided(
        decision("Setup CI/CD", "PROJ-101"),
        decision("User Auth", "PROJ-102"),
        decision("Payment Integration", "PROJ-103"),
    )
    assert dialogue.says() == (
        "Done! Created 3 tasks in Jira:\n"
        "- PROJ-101: Setup CI/CD\n- PROJ-102: User Auth\n- PROJ-103: Payment Integration"
    )


@pytest.mark.parametrize(
    ("request_text", "query", "person_asked"),
    [
        ("create tasks from John\u2019s email", "email", "John"),
        ("Please create the issues from Anna Berg's mail about the budget", "budget", "Anna Berg"),
        ("Can you make tickets from the launch plan email from Omar?", "launch plan", "Omar"),
        ("Create tasks in OPS from James' latest message", "email", "James"),
        ("Extract tasks from the proposal mail sent by Åsa Öberg.", "proposal", "Åsa Öberg"),
    ],
)
def test_the_person_and_the_topic_are_read_from_the_request(
    client: OpenAI, request_text: str, query: str, person_asked: str
) -> None:
    dialogue = Dialogue(client, system=SYSTEM, tools=TOOLS)
    dialogue.user(request_text)
    [(name, arguments)] = dialogue.calls()
    assert name == "retrieve_context"
    assert (arguments["query"], arguments["entity_filter"]) == (query, person_asked)


def test_a_mail_whose_text_was_found_is_not_opened(client: OpenAI) -> None:
    dialogue = Dialogue(client, system=SYSTEM, tools=TOOLS)
    dialogue.user(REQUEST)
    dialogue.answers()
    dialogue.returns(only_smith(text="1. User Auth"))
    assert dialogue.calls() == [creating("User Auth")]


def test_the_project_named_by_the_user_is_taken(client: OpenAI) -> None:
    dialogue = Dialogue(client, system=SYSTEM, tools=TOOLS)
    dialogue.user("Create tasks in OPS from John's proposal email")
    dialogue.answers()
    dialogue.returns(only_smith(text="1. User Auth"))
    assert dialogue.calls() == [creating("User Auth", project_key="OPS")]


def test_nobody_of_that_name_is_said(client: OpenAI) -> None:
    dialogue = Dialogue(client, system=SYSTEM, tools=TOOLS)
    dialogue.user(REQUEST)
    dialogue.answers()
    dialogue.returns(success(items=[]))
    assert dialogue.says() == "I found no proposal email from John."


def test_a_failed_search_is_said_with_its_reason(client: OpenAI) -> None:
    dialogue = Dialogue(client, system=SYSTEM, tools=TOOLS)
    dialogue.user(REQUEST)
    dialogue.answers()
    dialogue.returns(refusal("The account is paused."))
    assert dialogue.says() == "I could not search your mail. The account is paused."


@pytest.mark.parametrize(
    "answer",
    [
        "John Doe",
        "john doe.",
        "johnd@client.com",
        "Doe",
        "2",
        "the second one",
        "John Doe (johnd@client.com) - 2 recent emails",
    ],
)
def test_the_other_john_can_be_meant_in_many_ways(client: OpenAI, answer: str) -> None:
    dialogue = asked_which_john(client)
    dialogue.returns(success(answer=answer))
    assert dialogue.calls() == [("open_item", {"item_id": "item-1"})]


@pytest.mark.parametrize("answer", ["John", "", "Anna", "3", "both"])
def test_an_unclear_answer_is_not_guessed(client: OpenAI, answer: str) -> None:
    dialogue = asked_which_john(client)
    dialogue.returns(success(answer=answer))
    assert dialogue.says() == (
        "I could not tell which John you mean. Please ask again with the full name or the address."
    )


def test_an_answer_repeated_as_a_message_is_no_new_request(client: OpenAI) -> None:
    dialogue = asked_which_john(client)
    dialogue.returns(success(answer="John Smith"))
    dialogue.user("John Smith")
    assert dialogue.calls() == [("open_item", {"item_id": "item-4"})]


def test_a_new_request_after_the_story_starts_afresh(client: OpenAI) -> None:
    dialogue = read(client, "1. User Auth")
    dialogue.answers()
    dialogue.returns(created("User Auth"))
    assert dialogue.says().endswith("I've extracted 1 task:")
    dialogue.user(REQUEST.replace("John", "Omar"))
    [(name, arguments)] = dialogue.calls()
    assert (name, arguments["entity_filter"]) == ("retrieve_context", "Omar")


def test_a_mail_without_tasks_is_said_plainly(client: OpenAI) -> None:
    assert read(client, "Hello").says() == (
        "I found John Smith's proposal email, but no tasks in it."
    )


@pytest.mark.parametrize(
    ("results", "said"),
    [
        (
            [refusal("The project is closed.")] * 2,
            ", but could not create tasks from it. The project is closed.",
        ),
        (
            [created("Setup CI/CD"), refusal("The project is closed.")],
            ". I've extracted 1 task:\n1 task refused: The project is closed.",
        ),
    ],
)
def test_what_was_refused_is_said_with_its_reason(
    client: OpenAI, results: list[Json], said: str
) -> None:
    dialogue = read(client)
    dialogue.answers()
    dialogue.returns(*results)
    assert dialogue.says() == f"I found John Smith's proposal email{said}"


def test_tasks_that_no_tool_creates_are_asked_for_by_name(client: OpenAI) -> None:
    [(name, arguments), _] = read(client, tools=READING).calls()
    assert (name, arguments["name"]) == ("use_tool", "create_jira_task")
    assert arguments["arguments"]["summary"] == "Setup CI/CD"
