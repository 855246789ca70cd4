"""“Create Jira tasks from John's proposal email”, word for word, and its neighbours."""

import pytest
from openai import OpenAI

from tests.sandbox.dialogue import (
    Dialogue,
    Json,
    decision,
    function,
    refusal,
    success,
)

TOOLS = (
    *("retrieve_context", "delegate_to_specialist", "ask_user"),
    function("create_jira_task", project_key=["PROJ"]),
)
SYSTEM = "You are Remit's orchestrator.\nProse."
REQUEST = "Create Jira tasks from John's proposal email"


def mail(number: int, name: str, address: str, title: str) -> Json:
    return {
        "n": number,
        "id": f"item-{number}",
        "source": "gmail",
        "type": "email",
        "title": title,
        "summary": "A summary.",
        "from": {"name": name, "address": address},
        "relevance": 1 / number,
        "date": "2026-11-17T09:14:00+01:00",
    }


def person(name: str, address: str | None, mentions: int) -> Json:
    return {"type": "person", "name": name, "email": address, "mentions": mentions}


def two_johns() -> Json:
    smith = ["Notes", "Proposal: customer portal", "Plants", "Load test", "Planning"]
    items = [mail(n, "John Doe", "johnd@client.com", "Delivery") for n in (1, 2)]
    items += [mail(n + 3, "John Smith", "john@company.com", t) for n, t in enumerate(smith)]
    people = [
        person("John Doe", "johnd@client.com", 2),
        person("John Smith", "John@company.com", 9),
        person("John Nobody", None, 3),
        person("Johnson Lee", "lee@company.com", 4),
    ]
    return success(found=len(items), items=items, entities_found=people)


def only_smith() -> Json:
    items = [mail(4, "John Smith", "john@company.com", "Proposal: customer portal")]
    people = [person("John Smith", "john@company.com", 5)]
    return success(found=1, items=items, entities_found=people)


def pending(count: int) -> Json:
    actions = [{"id": f"act_{n}", "type": "create_jira_task"} for n in range(count)]
    said = "Prepared 1 task." if count == 1 else f"Prepared {count} tasks."
    return success(specialist="task", result=said, pending_actions=actions)


def asked_which_john(client: OpenAI) -> Dialogue:
    dialogue = Dialogue(client, system=SYSTEM, tools=TOOLS)
    dialogue.user(REQUEST)
    dialogue.answers()
    dialogue.returns(two_johns())
    dialogue.answers()
    return dialogue


def delegated(client: OpenAI) -> Dialogue:
    dialogue = Dialogue(client, system=SYSTEM, tools=TOOLS)
    dialogue.user(REQUEST)
    dialogue.answers()
    dialogue.returns(only_smith())
    dialogue.answers()
    return dialogue


def test_the_story_word_for_word(client: OpenAI) -> None:
    dialogue = Dialogue(client, system=SYSTEM, tools=TOOLS)
    dialogue.user(REQUEST)
    search = {"query": "proposal", "entity_filter": "John", "sources": ["gmail"], "limit": 20}
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
    assert dialogue.calls() == [("retrieve_context", search | {"entity_filter": "John Smith"})]

    dialogue.returns(only_smith())
    task = {
        "specialist": "task",
        "task": "Extract the tasks from John Smith's proposal email "
        "and prepare them in project PROJ.",
        "context_ids": ["item-4"],
    }
    assert dialogue.calls() == [("delegate_to_specialist", task)]

    dialogue.returns(pending(3))
    assert dialogue.says() == ("I found John Smith's proposal email. I've extracted 3 tasks:")

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


def test_one_person_of_that_name_needs_no_question(client: OpenAI) -> None:
    dialogue = delegated(client)
    assert dialogue.messages[-1]["tool_calls"][0]["function"]["name"] == "delegate_to_specialist"


def test_the_project_named_by_the_user_is_passed_on(client: OpenAI) -> None:
    dialogue = Dialogue(client, system=SYSTEM, tools=TOOLS)
    dialogue.user("Create tasks in OPS from John's proposal email")
    dialogue.answers()
    dialogue.returns(only_smith())
    [(_, arguments)] = dialogue.calls()
    assert arguments["task"].endswith("prepare them in project OPS.")


def test_nobody_of_that_name_is_said(client: OpenAI) -> None:
    dialogue = Dialogue(client, system=SYSTEM, tools=TOOLS)
    dialogue.user(REQUEST)
    dialogue.answers()
    dialogue.returns(success(found=0, items=[], entities_found=[]))
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
    [(name, arguments)] = dialogue.calls()
    assert (name, arguments["entity_filter"]) == ("retrieve_context", "John Doe")


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
    [(name, arguments)] = dialogue.calls()
    assert (name, arguments["entity_filter"]) == ("retrieve_context", "John Smith")


def test_a_new_request_after_the_story_starts_afresh(client: OpenAI) -> None:
    dialogue = delegated(client)
    dialogue.returns(pending(1))
    assert dialogue.says().endswith("I've extracted 1 task:")
    dialogue.user(REQUEST.replace("John", "Omar"))
    [(name, arguments)] = dialogue.calls()
    assert (name, arguments["entity_filter"]) == ("retrieve_context", "Omar")


def test_a_specialist_that_fails_is_said_plainly(client: OpenAI) -> None:
    dialogue = delegated(client)
    dialogue.returns(refusal("No issues may be created here."))
    assert dialogue.says() == (
        "I found John Smith's proposal email, but could not prepare tasks from it. "
        "No issues may be created here."
    )


def test_a_mail_without_tasks_is_said_plainly(client: OpenAI) -> None:
    dialogue = delegated(client)
    result = success(specialist="task", result="I found no tasks in the text.", pending_actions=[])
    dialogue.returns(result)
    assert dialogue.says() == ("I found John Smith's proposal email. I found no tasks in the text.")


def test_what_the_specialist_was_refused_is_passed_on(client: OpenAI) -> None:
    dialogue = delegated(client)
    said = "Prepared 2 tasks. 1 task refused: The project is closed."
    result = pending(2)
    result["data"]["result"] = said
    dialogue.returns(result)
    assert dialogue.says() == (
        f"I found John Smith's proposal email. I've extracted 2 tasks:\n{said}"
    )
