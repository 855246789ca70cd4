"""Requests of several steps, skills, custom agents, patterns, and other agents (FINDINGS A15)."""

import json

import pytest
from openai import OpenAI

from tests.sandbox.dialogue import Dialogue, Json, action, found, function, item, refusal, success

TOOLS = (
    *("retrieve_context", "list_items", "open_item", "read_calendar", "toDoWrite"),
    *("review_results", "load_skill", "list_custom_agents", "run_public_agent"),
    *("propose_pattern", "draft", "archive"),
    function("classify", label_id=["Invoices", "Awaiting Reply"]),
    function("create_jira_task", project_key=["PROJ"]),
)
SKILLS: list[Json] = [
    {"name": "invoices", "description": "What to do with a mail that holds an invoice."},
    {"name": "meeting-requests", "description": "A mail that asks for a meeting."},
]
SYSTEM = f"""You are Remit's orchestrator.
[skills] Read one with load_skill when it fits. {json.dumps(SKILLS)}
[user] {{"name":"Maya Lindqvist","time_zone":"Europe/Stockholm"}} Times are the user's.
[now] Monday 2026-11-23T10:00+01:00 (Europe/Stockholm)"""


def asking(client: OpenAI, text: str) -> Dialogue:
    dialogue = Dialogue(client, system=SYSTEM, tools=TOOLS)
    dialogue.user(text)
    return dialogue


def test_a_request_of_several_steps_is_planned_worked_through_and_reviewed(
    client: OpenAI,
) -> None:
    dialogue = asking(
        client,
        "Find mails about the pilot, then show my open issues and create a task in PROJ: Call Dana",
    )
    [(tool, plan)] = dialogue.calls()
    assert (tool, plan["action"]) == ("toDoWrite", "create")
    assert [
        (step["id"], step["description"], step.get("depends_on"))
        for step in plan["goals"][0]["steps"]
    ] == [
        ("s1", "Find mails about the pilot", None),
        ("s2", "show my open issues", ["s1"]),
        ("s3", "create a task in PROJ: Call Dana", ["s2"]),
    ]
    dialogue.returns(success(progress="0 of 3"))
    assert [name for name, _ in dialogue.calls()] == ["retrieve_context"]
    dialogue.returns(found(item(1, "Pilot", "", date="")))
    assert dialogue.calls() == [
        (
            "toDoWrite",
            {
                "action": "complete",
                "ids": ["s1"],
                "result": "I found 1 item. - “Pilot” from Acme Post [1]",
            },
        )
    ]
    dialogue.returns(success(progress="1 of 3"))
    assert [name for name, _ in dialogue.calls()] == ["list_items"]
    dialogue.returns(success(total=0, items=[]))
    dialogue.calls()
    dialogue.returns(success(progress="2 of 3"))
    assert [name for name, _ in dialogue.calls()] == ["create_jira_task"]
    dialogue.returns(action("Create a task in PROJ: “Call Dana”", "pending_confirmation"))
    dialogue.calls()
    dialogue.returns(success(progress="3 of 3"))
    assert [name for name, _ in dialogue.calls()] == ["review_results"]
    dialogue.returns(success(recommendation="proceed"))
    assert dialogue.says() == (
        "1. Find mails about the pilot\nI found 1 item.\n- “Pilot” from Acme Post [1]\n\n"
        "2. Show my open issues\nThere are no issues.\n\n"
        "3. Create a task in PROJ: Call Dana\n"
        "Waiting for your confirmation: Create a task in PROJ: “Call Dana”."
    )


@pytest.mark.parametrize(
    "text",
    [
        "Which mails and issues mention the portal?",
        "Send a mail about lunch to ann@company.com saying: bring bread, then call me and send it.",
        "Create a task in PROJ: Write the report and send it to Anna",
        "Find the mail from John and Priya",
    ],
)
def test_one_request_needs_no_plan(client: OpenAI, text: str) -> None:
    assert all(name != "toDoWrite" for name, _ in asking(client, text).calls())


def test_the_skill_that_fits_a_mail_is_loaded_and_followed(client: OpenAI) -> None:
    dialogue = asking(client, "Deal with the CloudNest invoice")
    dialogue.calls()
    dialogue.returns(found(item(1, "Your CloudNest invoice CN-88412", "", date="")))
    assert dialogue.calls() == [
        ("load_skill", {"name": "invoices"}),
        ("open_item", {"item_id": "item-1"}),
    ]
    content = """When a mail holds an invoice:
1. Label it “Invoices”.
2. Note who sends it, the number, the amount with its currency and the date it is due.
4. Never pay, confirm or label it “Paid”."""
    text = "Amount: EUR 1,302.40. It is due on 5 December."
    dialogue.returns(
        success(name="invoices", version=1, content=content),
        success(**item(1, "Your CloudNest invoice CN-88412"), text=text),
    )
    label = {"email_id": "item-1", "label_id": "Invoices", "reason": "The skill says so."}
    assert dialogue.calls() == [("classify", label)]
    dialogue.returns(action("Label it as Invoices", "executed"))
    assert dialogue.says() == (
        "I followed the skill “invoices” for “Your CloudNest invoice CN-88412” [1]:\n"
        "- Done: Label it as Invoices.\n"
        "- Noted: from Acme Post, number CN-88412, amount EUR 1,302.40, due 5 December."
    )


def test_a_skill_that_says_to_look_in_the_calendar_offers_times_that_are_free(
    client: OpenAI,
) -> None:
    dialogue = asking(client, "Handle the meeting request from Acme")
    dialogue.calls()
    mail = item(1, "Could we meet at Acme?", "", date="")
    dialogue.returns(found(mail))
    dialogue.calls()
    content = """1. Look in the calendar for the next five working days, between 09:00 and 16:30.
2. Draft a reply that offers two times on different days.
3. Label the thread “Awaiting Reply”. Never send the reply yourself."""
    dialogue.returns(
        success(name="meeting-requests", version=1, content=content), success(**mail, text="Hi")
    )
    assert dialogue.calls() == [
        (
            "read_calendar",
            {
                "since": "2026-11-24",
                "until": "2026-12-01",
                "free_minutes": 30,
                "day_begins": "09:00",
                "day_ends": "16:30",
            },
        )
    ]
    free = [
        {"begins": f"Tue 2026-11-{day}T{hour}:00+01:00", "ends": f"Tue 2026-11-{day}T15:00+01:00"}
        for day, hour in ((24, "09"), (24, "14"), (25, "10"))
    ]
    dialogue.returns(success(events=[], free=free))
    [(tool, draft)] = dialogue.calls()
    assert (tool, draft["to"]) == ("draft", ["post@acme.example"])
    assert draft["body"] == (
        "Thank you for your message. Would one of these times suit you: "
        "Tue 24 Nov 2026 09:00 to 15:00 or Wed 25 Nov 2026 10:00 to 15:00 (Europe/Stockholm)?"
        "\n\nMaya Lindqvist"
    )
    dialogue.returns(action("Draft a reply", "executed"))
    assert [name for name, _ in dialogue.calls()] == ["classify"]


def test_a_mail_that_no_skill_is_about_is_left_alone(client: OpenAI) -> None:
    dialogue = asking(client, "Deal with the mail from Elin about plants")
    dialogue.calls()
    dialogue.returns(found(item(1, "Office plants", "", date="", **{"from": "Elin"})))
    assert dialogue.says() == "I found “Office plants” [1], but no skill says what to do with it."


def test_a_custom_agent_that_is_named_is_found_and_run(client: OpenAI) -> None:
    dialogue = asking(client, "Ask the research agent what the launch plan says")
    assert dialogue.calls() == [
        ("list_custom_agents", {"query": "research: what the launch plan says"})
    ]
    dialogue.returns(
        success(
            agents=[{"agent_id": "a1", "name": "Planner"}, {"agent_id": "a2", "name": "Research"}]
        )
    )
    run = {"agent_id": "a2", "query": "what the launch plan says"}
    assert dialogue.calls() == [("run_public_agent", run)]
    dialogue.returns(success(agent="Research", result="It says week one [4]."))
    assert dialogue.says() == "The agent “Research” says:\nIt says week one [4]."


def test_an_agent_that_is_none_of_those_offered_is_not_run(client: OpenAI) -> None:
    dialogue = asking(client, "Ask the research agent to sum it up")
    dialogue.calls()
    dialogue.returns(success(agents=[{"agent_id": "a1", "name": "Planner"}]))
    assert dialogue.says() == "I found no custom agent “research”. There are: “Planner”."


def test_what_is_always_to_be_done_is_proposed_as_a_pattern(client: OpenAI) -> None:
    dialogue = asking(client, "Always archive mail like the weekly summary from Acme")
    dialogue.calls()
    dialogue.returns(found(item(1, "Weekly summary", "", date="")))
    assert dialogue.calls() == [
        (
            "propose_pattern",
            {
                "email_id": "item-1",
                "match": "sender",
                "actions": [{"action_type": "archive"}],
                "reason": "The user asked for it.",
            },
        )
    ]
    without = asking(client, "Always archive mail like the weekly summary from Acme")
    without.calls()
    without.returns(found(item(1, "Weekly summary", "", date="")))
    without.calls()
    sentence = "A learned pattern needs 3 like mails that a person treated so: here it is 1."
    without.returns(refusal(sentence, code="TOO_LITTLE_EVIDENCE"))
    assert without.says() == f"I could not propose a pattern like “Weekly summary” [1]. {sentence}"

    dialogue.returns(success(status="proposed"))
    assert dialogue.says() == (
        "I proposed a pattern: mail from the sender of “Weekly summary” [1] is always archived. "
        "An operator approves it; until then nothing changes."
    )


GIVEN = """[now] Monday 2026-11-23T10:00+01:00 (Europe/Stockholm)
Task: {task}

Available context:
<untrusted id="item-9">
[GMAIL] Pilot
Cite as: [9]
Content: The pilot begins on Monday with two depots. Six drivers take part in it. Lunch is at noon.
</untrusted>"""


def test_the_email_specialist_drafts_a_reply_to_the_mail_it_was_given(client: OpenAI) -> None:
    dialogue = Dialogue(client, system="You are Remit's email specialist.", tools=["draft_reply"])
    dialogue.user(GIVEN.format(task="Draft a reply saying that we agree"))
    assert dialogue.calls() == [("draft_reply", {"item_id": "item-9", "points": "we agree"})]


def test_a_custom_agent_answers_by_the_same_rules(client: OpenAI) -> None:
    tools = ["retrieve_context", "list_items", "open_item"]
    dialogue = Dialogue(client, system="You are Remit's custom agent Research.", tools=tools)
    dialogue.user(GIVEN.format(task="How many open issues are there in PROJ?"))
    [(tool, filters)] = dialogue.calls()
    assert (tool, filters["place"]) == ("list_items", "PROJ")


def test_a_summary_says_first_what_the_reader_wants_to_know(client: OpenAI) -> None:
    dialogue = Dialogue(client, system="You summarise a document.")
    sentences = [f"Sentence number {n} is about nothing much." for n in range(12)]
    text = " ".join([*sentences, "The drivers of the depots begin on Monday."])
    dialogue.user(
        f'The reader wants to know: drivers\n\n<untrusted id="text">\n{text}\n</untrusted>'
    )
    assert "The drivers of the depots begin on Monday." in dialogue.says()


def test_a_reply_is_drafted_in_the_language_of_the_mail_and_signed(client: OpenAI) -> None:
    dialogue = Dialogue(client, system="You draft a reply.")
    dialogue.user(
        '[user] {"name":"Maya Lindqvist"} Times are the user\'s.\n\n<untrusted id="mail">\n'
        "Subject: Termin\nFrom: Jens Vogt &lt;jens@kunde.example&gt;\nDate: 2026-11-20\n"
        "Können wir uns nächste Woche treffen? Das wäre schön.\n</untrusted>"
    )
    assert json.loads(dialogue.says())["body"] == (
        "Hallo Jens,\n\ndanke für Ihre Nachricht zu „Termin“. Ich sehe es mir an und melde mich."
        "\n\nMaya Lindqvist"
    )
