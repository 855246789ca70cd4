"""Questions: searched where their words point, answered with citations."""

import pytest
from openai import OpenAI

from tests.sandbox.dialogue import (
    NO_SENDER,
    Dialogue,
    Json,
    found,
    item,
    refusal,
)

SYSTEM = "You are Remit's orchestrator."
MAIL = ["gmail", "outlook", "mailbox"]
ISSUES = ["jira", "github"]

TOOLS = ("retrieve_context", "delegate_to_specialist", "ask_user", "use_tool", "escalate")


def asking(client: OpenAI, text: str, *, system: str = SYSTEM) -> Dialogue:
    dialogue = Dialogue(client, system=system, tools=TOOLS)
    dialogue.user(text)
    return dialogue


@pytest.mark.parametrize(
    ("question", "searches"),
    [
        ("What did John write about payments?", [{"query": "John payments"}]),
        (
            "Which documents describe the launch plan?",
            [{"query": "describe launch plan", "sources": ["gdrive"]}],
        ),
        (
            "What meetings do I have today?",
            [
                {
                    "query": "meetings",
                    "time_filter": "today",
                    "sources": ["calendar", "calendar_file"],
                }
            ],
        ),
        (
            "Find emails from Elin of last week",
            [{"query": "Elin", "time_filter": "last_week", "sources": MAIL}],
        ),
        (
            "Show me the bugs from last month",
            [{"query": "bugs", "time_filter": "last_month", "sources": ISSUES}],
        ),
        (
            "Which mails and issues mention the portal?",
            [
                {"query": "portal", "sources": MAIL},
                {"query": "portal", "sources": ISSUES},
            ],
        ),
        (
            "Which issues did the meeting with Elin raise?",
            [{"query": "Elin raise", "sources": [*ISSUES, "calendar", "calendar_file"]}],
        ),
        ("PROJ-97?", [{"query": "PROJ-97"}]),
        ("what is it", [{"query": "what is it"}]),
    ],
)
def test_a_question_is_searched_where_its_words_point(
    client: OpenAI, question: str, searches: list[Json]
) -> None:
    expected = [("retrieve_context", arguments) for arguments in searches]
    assert asking(client, question).calls() == expected


def test_up_to_three_items_are_quoted_with_citations(client: OpenAI) -> None:
    dialogue = asking(client, "Which mails mention the budget?")
    dialogue.answers()
    dialogue.returns(
        found(
            item(1, "Travel budget", "The budget is 4,000 euros. More follows."),
            item(2, "Re: budget", "", date="yesterday"),
            item(3, "Budget", "Third.", **NO_SENDER),
            item(4, "Budget again", "Fourth."),
        )
    )
    assert dialogue.says() == (
        "I found 4 items. The first three:\n"
        "- “Travel budget” from Acme Post, 17 Nov 2026 09:14 UTC+01:00: "
        "The budget is 4,000 euros. [1]\n"
        "- “Re: budget” from Acme Post [2]\n"
        "- “Budget”, 17 Nov 2026 09:14 UTC+01:00: Third. [3]"
    )


def test_two_searches_are_answered_together_best_first_each_item_once(client: OpenAI) -> None:
    dialogue = asking(client, "Which mails and documents mention the budget?")
    assert len(dialogue.calls()) == 2
    dialogue.returns(
        found(item(1, "A", date=""), item(2, "B", date="")),
        found(item(3, "C", date=""), item(1, "A", date="")),
    )
    assert dialogue.says() == (
        "I found 3 items.\n"
        "- “A” from Acme Post [1]\n- “C” from Acme Post [3]\n- “B” from Acme Post [2]"
    )


def test_one_failed_search_of_two_is_said_beside_what_was_found(client: OpenAI) -> None:
    dialogue = asking(client, "Which mails and documents mention the budget?")
    dialogue.answers()
    dialogue.returns(refusal("The account is paused."), found(item(1, "A", date="")))
    assert dialogue.says() == (
        "I could not search your mail. The account is paused.\n"
        "I found 1 item.\n- “A” from Acme Post [1]"
    )


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Which mails mention unicorns?", "I found nothing about “unicorns” in your mail."),
        ("Who likes unicorns?", "I found nothing about “likes unicorns”."),
    ],
)
def test_nothing_found_is_said_plainly(client: OpenAI, question: str, said: str) -> None:
    dialogue = asking(client, question)
    dialogue.answers()
    dialogue.returns(found())
    assert dialogue.says() == said


def test_quoted_text_can_pass_for_no_citation_link_or_line(client: OpenAI) -> None:
    dialogue = asking(client, "Which mails mention the budget?")
    dialogue.answers()
    hostile = "Budget [7]\n- ![x](http://evil.example)\u202e<b>\x00"
    dialogue.returns(found(item(1, hostile, "", date="", **NO_SENDER)))
    assert dialogue.says() == (
        "I found 1 item.\n- “Budget (7) - !(x)(http://evil.example) (b)” [1]"
    )


@pytest.mark.parametrize("text", ["Hello", "help", "What can you do?", "Sing a song", ""])
def test_what_it_cannot_do_is_answered_with_what_it_can(client: OpenAI, text: str) -> None:
    said = asking(client, text).says()
    assert said.startswith("I am the offline stand-in: I follow fixed rules")


@pytest.mark.parametrize(
    "request_text",
    ["I want to talk to a person", "Please escalate this to someone!", "Put me through to support"],
)
def test_who_wants_a_person_is_handed_over(client: OpenAI, request_text: str) -> None:
    dialogue = asking(client, request_text)
    (call,) = dialogue.calls()
    assert call == ("escalate", {"reason": f"The user asked for a person: {request_text}"})
