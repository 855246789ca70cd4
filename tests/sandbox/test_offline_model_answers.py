"""How many, how much, who, when, which status: answered from what tools return, or said not to
stand there (FINDINGS A16)."""

import pytest
from openai import OpenAI

from tests.sandbox.dialogue import Dialogue, Json, found, item, refusal, success

SYSTEM = """You are Remit's orchestrator.
[user] {"addresses":["maya@company.com"],"name":"Maya Lindqvist","time_zone":"Europe/Stockholm"} It.
[now] Monday 2026-11-23T10:00+01:00 (Europe/Stockholm)"""
TOOLS = ("retrieve_context", "list_items", "open_item", "read_calendar")


def asking(client: OpenAI, text: str) -> Dialogue:
    dialogue = Dialogue(client, system=SYSTEM, tools=TOOLS)
    dialogue.user(text)
    return dialogue


def issue(n: int, title: str, **facts: object) -> Json:
    return item(n, title, type="issue", **{"from": "Grace Okafor"}) | facts


def listed(total: int, *items: Json) -> Json:
    return success(total=total, items=list(items))


def call(dialogue: Dialogue) -> tuple[str, Json]:
    [one] = dialogue.calls()
    return one


@pytest.mark.parametrize(
    ("question", "filters"),
    [
        (
            "How many open issues are assigned to Priya Nair?",
            {"types": ["issue"], "open_only": True, "assignee": "Priya Nair"},
        ),
        ("How many mails did Guido van Berg send?", {"types": ["email"], "from": "Guido van Berg"}),
        (
            "Wie viele offene Aufgaben hat Priya?",
            {"types": ["issue"], "open_only": True, "assignee": "Priya"},
        ),
        ("How many unread mails do I have?", {"types": ["email"], "unread": True}),
        (
            "How many issues in OPS are closed?",
            {"types": ["issue"], "status": "closed", "place": "OPS"},
        ),
        ("Which mails wait for my reply?", {"types": ["email"], "unanswered": True}),
        (
            "What is due this week?",
            {"due_from": "2026-11-23", "due_until": "2026-11-30", "order": "due"},
        ),
        ("Show my open tasks", {"types": ["issue"], "open_only": True, "assignee": "me"}),
        (
            "How many mails came from Elin last week?",
            {"types": ["email"], "from": "Elin", "since": "2026-11-16", "until": "2026-11-23"},
        ),
        (
            "How many mails did I get from John Smith?",
            {"types": ["email"], "from": "John Smith"},
        ),
        (
            "How many emails have I received this week from elin@acme.com?",
            {
                "types": ["email"],
                "from": "elin@acme.com",
                "since": "2026-11-23",
                "until": "2026-11-30",
            },
        ),
        ("How many mails from Elin did I get?", {"types": ["email"], "from": "Elin"}),
        ("Wie viele Mails habe ich von Anna bekommen?", {"types": ["email"], "from": "Anna"}),
    ],
)
def test_words_of_a_question_become_filters(client: OpenAI, question: str, filters: Json) -> None:
    assert call(asking(client, question)) == ("list_items", filters | {"limit": 5})


def test_a_count_is_that_of_all_that_fits_and_cites_the_first(client: OpenAI) -> None:
    dialogue = asking(client, "How many open issues are there in PROJ?")
    dialogue.calls()
    rows = [issue(n, f"PROJ-{n} Fix it", status="To Do") for n in range(1, 6)]
    dialogue.returns(listed(31, *rows))
    assert dialogue.says() == (
        "There are 31 issues. The first:\n"
        "- “PROJ-1 Fix it”: To Do [1]\n- “PROJ-2 Fix it”: To Do [2]\n- “PROJ-3 Fix it”: To Do [3]"
    )


def test_a_priority_is_counted_among_those_that_the_source_names(client: OpenAI) -> None:
    dialogue = asking(client, "How many critical issues does OPS have?")
    filters = {"types": ["issue"], "place": "OPS"}
    assert dialogue.calls() == [
        ("list_items", filters | {"count_by": "priority"}),
        ("list_items", filters | {"limit": 50}),
    ]
    groups = [{"value": "Critical", "count": 2}, {"value": "Low", "count": 9}]
    rows = [issue(1, "OPS-1 A", priority="Low"), issue(2, "OPS-2 B", priority="Critical")]
    dialogue.returns(success(total=11, groups=groups), listed(11, *rows))
    assert dialogue.says() == "There are 2 issues. The first:\n- “OPS-2 B” [2]"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "How many issues are there per status?",
            "There are 11 issues. [1] [2]\n- To Do: 9\n- Done: 2",
        ),
        (
            "Wie viele Aufgaben gibt es pro Status?",
            "Es gibt 11 Vorgänge. [1] [2]\n- To Do: 9\n- Done: 2",
        ),
    ],
)
def test_groups_are_counted_and_summed_up_and_cite_what_was_listed(
    client: OpenAI, question: str, said: str
) -> None:
    dialogue = asking(client, question)
    assert dialogue.calls() == [
        ("list_items", {"types": ["issue"], "count_by": "status"}),
        ("list_items", {"types": ["issue"], "limit": 50}),
    ]
    groups = [{"value": "To Do", "count": 9}, {"value": "Done", "count": 2}]
    rows = [issue(n, f"PROJ-{n} A") for n in range(1, 4)]
    dialogue.returns(success(total=11, groups=groups), listed(11, *rows))
    assert dialogue.says() == said


def test_groups_that_could_not_be_counted_are_no_answer(client: OpenAI) -> None:
    dialogue = asking(client, "How many issues are there per status?")
    dialogue.calls()
    dialogue.returns(refusal("The account is paused."), listed(1, issue(1, "PROJ-1 A")))
    assert dialogue.says() == "I could not search. The account is paused."


def test_a_name_with_an_umlaut_makes_no_question_german(client: OpenAI) -> None:
    dialogue = asking(client, "How many issues are assigned to Hans Knöchel?")
    dialogue.calls()
    dialogue.returns(listed(1, issue(1, "PROJ-1 A")))
    assert dialogue.says() == "There is 1 issue.\n- “PROJ-1 A” [1]"


def test_what_no_filter_takes_is_not_counted(client: OpenAI) -> None:
    dialogue = asking(client, "How many mails did Elin send about the budget?")
    assert call(dialogue) == ("retrieve_context", {"query": "Elin budget", "types": ["email"]})
    dialogue.returns(found(item(1, "Budget", "", date="")))
    assert dialogue.says() == (
        "There is no answer to that in your data. What comes nearest:\n"
        "- “Budget” from Acme Post [1]"
    )


def test_mail_that_came_is_not_counted_with_what_the_user_sent(client: OpenAI) -> None:
    assert call(asking(client, "How many mails did I get today?"))[0] == "retrieve_context"


FACTS = issue(
    1,
    "PROJ-7 Customer portal",
    key="PROJ-7",
    status="In Progress",
    assignee="priya@company.com",
    due_date="2026-12-01",
    date="Sun 2026-11-22T09:30+01:00",
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "What is the status of PROJ-7?",
            "The status of “PROJ-7 Customer portal” is In Progress [1].",
        ),
        (
            "Who is assigned to PROJ-7?",
            "priya@company.com is assigned to “PROJ-7 Customer portal” [1].",
        ),
        ("When is PROJ-7 due?", "“PROJ-7 Customer portal” is due on 2026-12-01 [1]."),
        ("Who reported PROJ-7?", "Grace Okafor reported “PROJ-7 Customer portal” [1]."),
        (
            "When was PROJ-7 last updated?",
            "“PROJ-7 Customer portal” was last changed on Sun 22 Nov 2026 09:30 [1].",
        ),
        (
            "Is PROJ-7 still open?",
            "Yes, “PROJ-7 Customer portal” is still open: In Progress [1].",
        ),
        (
            "What priority does PROJ-7 have?",
            "Your data names no priority for “PROJ-7 Customer portal” [1].",
        ),
        (
            "Welchen Status hat PROJ-7?",
            "Der Status von „PROJ-7 Customer portal“ ist In Progress [1].",
        ),
        (
            "Wem ist PROJ-7 zugewiesen?",
            "„PROJ-7 Customer portal“ ist priya@company.com zugewiesen [1].",
        ),
    ],
)
def test_a_fact_of_an_issue_is_said_as_its_source_gives_it(
    client: OpenAI, question: str, said: str
) -> None:
    dialogue = asking(client, question)
    assert call(dialogue) == ("open_item", {"item_id": "PROJ-7"})
    dialogue.returns(success(**FACTS))
    assert dialogue.says() == said


def test_an_issue_that_has_ended_is_not_said_to_be_open(client: OpenAI) -> None:
    dialogue = asking(client, "Is PROJ-7 still open?")
    dialogue.calls()
    dialogue.returns(success(**FACTS | {"status": "Done"}))
    assert dialogue.says() == "No, “PROJ-7 Customer portal” is not open any more: Done [1]."


def test_an_issue_that_nobody_has_is_said_to_be_nobodys(client: OpenAI) -> None:
    dialogue = asking(client, "Who is working on the customer portal?")
    assert call(dialogue) == (
        "retrieve_context",
        {"query": "working customer portal", "types": ["issue"]},
    )
    dialogue.returns(found(issue(1, "PROJ-7 Working customer portal", status="To Do")))
    assert dialogue.says() == "Nobody is assigned to “PROJ-7 Working customer portal” [1]."


def test_a_fact_of_issues_is_said_of_no_mail(client: OpenAI) -> None:
    dialogue = asking(client, "Who is working on the customer portal?")
    dialogue.calls()
    dialogue.returns(found(item(1, "Working customer portal", date="")))
    assert dialogue.says().startswith("There is no answer to that in your data.")


def test_who_wrote_something_is_each_writer_once(client: OpenAI) -> None:
    dialogue = asking(client, "Who wrote about the Red Hat upgrade?")
    dialogue.calls()
    ann = {"from": "Ann Berg", "date": "Mon 2026-11-16T08:00+01:00"}
    dialogue.returns(
        found(
            item(1, "Upgrade of RedHat", **ann),
            item(2, "Re: Upgrade of RedHat", **ann),
            item(3, "Lunch", **{"from": "Bo", "date": "Mon 2026-11-16T08:00+01:00"}),
        )
    )
    assert dialogue.says() == "Ann Berg wrote “Upgrade of RedHat”, Mon 16 Nov 2026 08:00 [1]."


def test_of_events_alike_the_next_one_is_meant(client: OpenAI) -> None:
    dialogue = asking(client, "When is the next design review?")
    dialogue.calls()
    rows = [
        item(n, "Design review", type="event", date=date, ends=ends)
        for n, date, ends in (
            (1, "Wed 2026-11-18T11:00+01:00", "Wed 2026-11-18T12:00+01:00"),
            (2, "Thu 2026-12-03T11:00+01:00", "Thu 2026-12-03T12:00+01:00"),
            (3, "Wed 2026-11-25T11:00+01:00", "Wed 2026-11-25T12:00+01:00"),
        )
    ]
    dialogue.returns(found(*rows))
    assert dialogue.says() == "“Design review” takes place on Wed 25 Nov 2026 11:00 to 12:00 [3]."


PAGE = """# Travel

## Stipends

Everybody gets a stipend of $100 a month for sport. The yearly budget for books is $300.

Requests are answered within three days. A taxi to the Oslo office is about $40."""


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "How much is the monthly stipend for sport?",
            "“Perks” says: “Everybody gets a stipend of $100 a month for sport.” [1]",
        ),
        (
            "How much is a taxi to the Oslo office?",
            "“Perks” says: “A taxi to the Oslo office is about $40.” [1]",
        ),
        (
            "Wie viel kostet das Taxi zum Büro Oslo?",
            "In „Perks“ steht: „A taxi to the Oslo office is about $40.“ [1]",
        ),
        (
            "How many days until requests are answered?",
            "“Perks” says: “Requests are answered within three days.” [1]",
        ),
    ],
)
def test_an_amount_is_the_sentence_that_holds_it(client: OpenAI, question: str, said: str) -> None:
    dialogue = asking(client, question)
    assert call(dialogue)[0] == "retrieve_context"
    dialogue.returns(found(item(1, "Perks", type="document")))
    assert call(dialogue) == ("open_item", {"item_id": "item-1"})
    dialogue.returns(success(**item(1, "Perks", type="document"), text=PAGE))
    assert dialogue.says() == said


@pytest.mark.parametrize(
    "question",
    [
        "How much is the monthly stipend for childcare?",
        "How much is a taxi to the Bergen office?",
        "How much are answered requests?",
        "How many weeks until requests are answered?",
        "When does the stipend for sport end?",
    ],
)
def test_what_the_text_does_not_say_is_not_answered(client: OpenAI, question: str) -> None:
    dialogue = asking(client, question)
    dialogue.calls()
    dialogue.returns(found(item(1, "Perks", type="document", date="")))
    dialogue.calls()
    dialogue.returns(success(**item(1, "Perks", type="document"), text=PAGE))
    assert dialogue.says().startswith("There is no answer to that in your data. What comes")


def test_two_sentences_that_fit_alike_are_both_said(client: OpenAI) -> None:
    dialogue = asking(client, "How many hours until solved tickets are closed?")
    dialogue.calls()
    dialogue.returns(found(item(1, "Support", type="document")))
    dialogue.calls()
    text = "Solved tickets are closed after 48 hours. Solved tickets are closed after 72 hours."
    dialogue.returns(success(**item(1, "Support", type="document"), text=text))
    assert dialogue.says() == (
        "I found no single answer to that. It may be one of these:\n"
        "- “Support” says: “Solved tickets are closed after 48 hours.” [1]\n"
        "- “Support” says: “Solved tickets are closed after 72 hours.” [1]"
    )


def test_a_long_document_is_opened_part_by_part(client: OpenAI) -> None:
    dialogue = asking(client, "How much is the stipend for sport?")
    dialogue.calls()
    page = item(1, "Perks", type="document")
    dialogue.returns(found(page))
    dialogue.calls()
    dialogue.returns(success(**page, text="Nothing yet.", part="1 of 2"))
    assert call(dialogue) == ("open_item", {"item_id": "item-1", "part": 2})
    dialogue.returns(success(**page, text=PAGE, part="2 of 2"))
    assert dialogue.says() == (
        "“Perks” says: “Everybody gets a stipend of $100 a month for sport.” [1]"
    )


EVENT = {
    "n": 1,
    "title": "Portal planning",
    "begins": "Tue 2026-11-24T13:30+01:00",
    "ends": "Tue 2026-11-24T15:00+01:00",
    "place": "Room Oslo",
    "attendees": ["Ann (ann@company.com): accepted"],
}


@pytest.mark.parametrize(
    ("question", "span", "said"),
    [
        (
            "What meetings do I have tomorrow?",
            {"since": "2026-11-24", "until": "2026-11-25"},
            "Tomorrow: 1 event.\n"
            "- Tue 24 Nov 2026 13:30 to 15:00: “Portal planning” (Room Oslo, 1 asked) [1]",
        ),
        (
            "Welche Termine habe ich morgen?",
            {"since": "2026-11-24", "until": "2026-11-25"},
            "Morgen: 1 Termin.\n- Di 24.11.2026, 13:30 Uhr bis 15:00: "
            "“Portal planning” (Room Oslo, 1 Eingeladene) [1]",
        ),
        (
            "When am I free on Thursday for an hour?",
            {"since": "2026-11-26", "until": "2026-11-27", "free_minutes": 60},
            "You are free for 60 minutes, on Thursday:\n- Thu 26 Nov 2026 08:00 to 09:30",
        ),
        (
            "Do any meetings collide next week?",
            {"since": "2026-11-30", "until": "2026-12-07"},
            "Nothing collides in your calendar next week.",
        ),
        *(
            (
                question,
                {"since": "2026-11-23", "until": "2026-11-24"},
                "Today: 1 event.\n"
                "- Tue 24 Nov 2026 13:30 to 15:00: “Portal planning” (Room Oslo, 1 asked) [1]",
            )
            for question in (
                "What is on today?",
                "What's on today?",
                "What do I have today?",
            )
        ),
        (
            "What is on for tomorrow?",
            {"since": "2026-11-24", "until": "2026-11-25"},
            "Tomorrow: 1 event.\n"
            "- Tue 24 Nov 2026 13:30 to 15:00: “Portal planning” (Room Oslo, 1 asked) [1]",
        ),
        (
            "Was habe ich morgen vor?",
            {"since": "2026-11-24", "until": "2026-11-25"},
            "Morgen: 1 Termin.\n- Di 24.11.2026, 13:30 Uhr bis 15:00: "
            "“Portal planning” (Room Oslo, 1 Eingeladene) [1]",
        ),
    ],
)
def test_the_calendar_is_read_for_the_days_that_are_meant(
    client: OpenAI, question: str, span: Json, said: str
) -> None:
    dialogue = asking(client, question)
    assert call(dialogue) == ("read_calendar", span)
    free = [{"begins": "Thu 2026-11-26T08:00+01:00", "ends": "Thu 2026-11-26T09:30+01:00"}]
    dialogue.returns(success(events=[EVENT], free=free))
    assert dialogue.says() == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is on today?", "Nothing is in your calendar today."),
        ("What meetings do I have Friday?", "Nothing is in your calendar on Friday."),
        ("What meetings do I have next Friday?", "Nothing is in your calendar next Friday."),
        ("What meetings do I have on 2026-12-03?", "Nothing is in your calendar on 2026-12-03."),
        ("What is my next meeting?", "Nothing is in your calendar in the next seven days."),
        ("Was habe ich morgen vor?", "In Ihrem Kalender steht morgen nichts."),
        ("Welche Termine habe ich am Freitag?", "In Ihrem Kalender steht am Freitag nichts."),
        ("When am I free today for an hour?", "You have no 60 free minutes today."),
        ("Wann bin ich morgen eine Stunde frei?", "Sie haben morgen keine 60 Minuten frei."),
        (
            "Do any meetings collide this week?",
            "Nothing collides in your calendar this week.",
        ),
    ],
)
def test_of_an_empty_calendar_it_speaks_as_people_do(
    client: OpenAI, question: str, said: str
) -> None:
    dialogue = asking(client, question)
    assert call(dialogue)[0] == "read_calendar"
    dialogue.returns(success(events=[], free=[], overlaps=[]))
    assert dialogue.says() == said


def test_what_is_on_something_is_not_looked_for_in_the_calendar(client: OpenAI) -> None:
    assert call(asking(client, "What is on the list today?"))[0] == "list_items"


def test_what_a_tool_tells_a_model_to_do_is_not_told_to_the_person(client: OpenAI) -> None:
    dialogue = asking(client, "How many issues are there in PROJ?")
    dialogue.calls()
    refused = refusal("The account is paused.")
    refused["error"]["suggested_action"] = "Do not try it again. Say that it was refused."
    dialogue.returns(refused)
    assert dialogue.says() == "I could not search. The account is paused."
