"""The task specialist and the extractor: marked lines become prepared tasks."""

import html
import json

from openai import OpenAI

from tests.sandbox.dialogue import (
    MODEL,
    Dialogue,
    Json,
    success,
)

SPECIALIST_TOOLS = ("extract_tasks", "find_related_tasks", "prepare_task_creation")


PROPOSAL = (
    "Hi Maya,\n\nI would start with these three pieces of work:\n\n"
    "1. Setup CI/CD - Build a pipeline that tests every change & deploys it.\n"
    "2. User Auth - Let customers sign in with a one-time link.\n"
    "3. Payment Integration - Connect the card provider.\n\n"
    "Could you put these into the PROJ project?\n\nThanks,\nJohn\n"
)


def test_the_specialists_part_of_the_story(client: OpenAI) -> None:
    specialist = Dialogue(
        client, system="You are Remit's task specialist.\nProse.", tools=SPECIALIST_TOOLS
    )
    escaped = html.escape(PROPOSAL, quote=False)
    specialist.user(
        "Task: Extract the tasks from John Smith's proposal email and prepare them in project "
        'PROJ.\n\nAvailable context:\n<untrusted id="item-4">\n[GMAIL] Proposal: customer portal\n'
        f"From: John Smith <john@company.com>\nDate: today\nContent: {escaped}\n</untrusted>"
    )
    [(name, arguments)] = specialist.calls()
    assert (name, arguments) == (
        "prepare_task_creation",
        {"tasks": extracted(client, PROPOSAL), "project_key": "PROJ"},
    )
    assert [task["summary"] for task in arguments["tasks"]] == [
        "Setup CI/CD",
        "User Auth",
        "Payment Integration",
    ]

    specialist.returns(success(prepared=3, actions=[], refused=[]))
    assert specialist.says() == "Prepared 3 tasks."


def extracted(client: OpenAI, text: str) -> list[Json]:
    answer = client.chat.completions.create(
        model=MODEL,
        messages=[
            {"role": "system", "content": "You extract tasks.\nAnswer in JSON."},
            {"role": "user", "content": text},
        ],
        response_format={"type": "json_object"},
    )
    tasks: list[Json] = json.loads(answer.choices[0].message.content or "")["tasks"]
    return tasks


def test_the_prepared_tasks_are_reported_with_refusals(client: OpenAI) -> None:
    specialist = Dialogue(client, system="You are Remit's task specialist.", tools=SPECIALIST_TOOLS)
    specialist.user('Task: x\n\nAvailable context:\n<untrusted id="1">\n1. A - b\n</untrusted>')
    specialist.answers()
    actions = [{"id": "1", "type": "create_jira_task", "description": "A", "status": "executed"}]
    refused = [{"message": "The project is closed."}]
    specialist.returns(success(prepared=1, actions=actions, refused=refused))
    assert specialist.says() == "Created 1 task. 1 task refused: The project is closed."


def test_without_tasks_nothing_is_prepared(client: OpenAI) -> None:
    specialist = Dialogue(client, system="You are Remit's task specialist.", tools=SPECIALIST_TOOLS)
    specialist.user('Task: x\n\nAvailable context:\n<untrusted id="1">\nHello\n</untrusted>')
    assert specialist.says() == "I found no tasks in the text."


def test_without_context_nothing_is_extracted(client: OpenAI) -> None:
    specialist = Dialogue(client, system="You are Remit's task specialist.", tools=SPECIALIST_TOOLS)
    specialist.user("Task: x\n\nAvailable context:\n")
    assert specialist.says() == "I was given no text to extract tasks from."


def test_marked_lines_become_tasks(client: OpenAI) -> None:
    text = (
        "Hello, ten-minute list: not this line\n"
        "1. Set up CI/CD - sign-in - first\n"
        "2) **User Auth** — asap\n"
        "(3) Payments \N{EN DASH} card provider\n"
        "* Docs: write 10-12 pages\n"
        "- [ ] Call Bob\n- [x] Buy milk\n"
        "TODO: Urgent: fix sign-in\n"
        "- call bob\n"
        "- - -\n"
        "> 4. Quoted - old\n"
    )
    assert [(t["summary"], t["description"], t["priority"]) for t in extracted(client, text)] == [
        ("Set up CI/CD", "sign-in - first", "medium"),
        ("User Auth", "asap", "high"),
        ("Payments", "card provider", "medium"),
        ("Docs", "write 10-12 pages", "medium"),
        ("Call Bob", "", "medium"),
        ("Urgent", "fix sign-in", "high"),
    ]
    assert {t["type"] for t in extracted(client, text)} == {"task"}


def test_a_text_without_marked_lines_has_no_tasks(client: OpenAI) -> None:
    assert extracted(client, "Hi\n\nSee you in 2026. It will be great.\n-- \nJohn") == []
