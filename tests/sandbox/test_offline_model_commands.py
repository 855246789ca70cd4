"""Commands on issues, the calendar, documents and mail: what is found, asked, proposed and told."""

from collections.abc import Sequence

import pytest
from openai import OpenAI

from tests.sandbox.dialogue import Dialogue, Json, action, execution, found, function, item, success

SYSTEM = "You are Remit's orchestrator.\n[now] Wednesday 2026-03-11T09:00+01:00 (Europe/Stockholm)"
TOOLS = (
    *("retrieve_context", "read_calendar", "ask_user", "use_tool"),
    *("archive", "mark_read", "trash_email", "draft", "send_email", "forward_email"),
    *("create_calendar_event", "update_calendar_event", "cancel_calendar_event"),
    *("comment_jira_task", "create_document", "move_document", "share_document"),
    *("append_document", "trash_document"),
    function("create_jira_task", project_key=["PROJ"]),
    function("update_jira_task", status=["In Progress", "Done"], assignee=["tomasz@company.com"]),
    function("move_email", folder_id=["Clients", "Receipts"]),
)
EVENT = {
    "type": "event",
    "date": "Mon 2026-03-16T10:00+01:00",
    "ends": "Mon 2026-03-16T11:00+01:00",
}
JOHNS = (
    item(1, "Planning", "Le plan de la semaine", **{"from": "John Smith (john@company.com)"}),
    item(
        2, "Delivery", **{"from": "John Doe (johnd@client.com)", "date": "2026-03-01T09:00+01:00"}
    ),
)


def asking(client: OpenAI, text: str) -> Dialogue:
    dialogue = Dialogue(client, system=SYSTEM, tools=TOOLS)
    dialogue.user(text)
    return dialogue


def task(summary: str, **fields: str) -> tuple[str, Json]:
    made = {"project_key": "PROJ", "summary": summary, "type": "task"}
    return execution("create_jira_task", made | fields)


def event(title: str, start: str, end: str, **fields: Sequence[str]) -> tuple[str, Json]:
    made = {"title": title, "start": f"2026-03-{start}", "end": f"2026-03-{end}"}
    return execution("create_calendar_event", made | fields)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (
            "Create a task in PROJ: “Record a video”, for Elin (elin@company.com).",
            [task("Record a video", assignee="elin@company.com")],
        ),
        (
            "File a bug in PROJ with the summary “Menu opens twice” and high priority.",
            [task("Menu opens twice", type="bug", priority="high")],
        ),
        (
            "Create two tasks in OPS: “A” and “B”.",
            [task("A", project_key="OPS"), task("B", project_key="OPS")],
        ),
        ("Lege in PROJ eine Aufgabe an: „Druck prüfen“.", [task("Druck prüfen")]),
        (
            "Crée un ticket dans PROJ, de type bug : « Accents perdus ».",
            [task("Accents perdus", type="bug")],
        ),
        (
            "Set PROJ-98 to In Progress.",
            [execution("update_jira_task", {"issue_key": "PROJ-98", "status": "In Progress"})],
        ),
        (
            "Setze OPS-1 auf Erledigt.",
            [execution("update_jira_task", {"issue_key": "OPS-1", "status": "Erledigt"})],
        ),
        (
            "Give PROJ-93 high priority.",
            [execution("update_jira_task", {"issue_key": "PROJ-93", "priority": "high"})],
        ),
        (
            "Assign PROJ-9 to Tomasz.",
            [
                execution(
                    "update_jira_task", {"issue_key": "PROJ-9", "assignee": "tomasz@company.com"}
                )
            ],
        ),
        (
            "Comment “Please check” on PROJ-98 and on PROJ-89.",
            [
                execution("comment_jira_task", {"issue_key": key, "body": "Please check"})
                for key in ("PROJ-98", "PROJ-89")
            ],
        ),
        (
            "Schreibe unter PROJ-94 den Kommentar: Sieht gut aus.",
            [execution("comment_jira_task", {"issue_key": "PROJ-94", "body": "Sieht gut aus."})],
        ),
        (
            "Put “Dentist” into my calendar on Monday 16 March from 14:00 to 15:00.",
            [event("Dentist", "16T14:00", "16T15:00")],
        ),
        (
            "Trage mir am Mittwoch, den 18. März, von 8:00 bis 9:00 Uhr „Zahnarzt“ ein.",
            [event("Zahnarzt", "18T08:00", "18T09:00")],
        ),
        (
            "Ajoute « Déjeuner » à mon agenda le jeudi 19 mars de 12 h à 13 h.",
            [event("Déjeuner", "19T12:00", "19T13:00")],
        ),
        (
            "Invite priya@company.com to “Words” tomorrow from 14:00 to 14:30.",
            [event("Words", "12T14:00", "12T14:30", attendees=["priya@company.com"])],
        ),
        (
            "Make a document “Notes” in /Meetings that says: Dana wants both.",
            [
                execution(
                    "create_document",
                    {"name": "Notes", "folder_id": "/Meetings", "content": "Dana wants both."},
                )
            ],
        ),
        (
            "Send a@b.example a mail that says I will be late.",
            [
                execution(
                    "send_email",
                    {
                        "to": ["a@b.example"],
                        "subject": "I will be late.",
                        "body": "I will be late.",
                    },
                )
            ],
        ),
    ],
)
def test_what_is_said_whole_is_proposed_at_once(
    client: OpenAI, text: str, calls: list[tuple[str, Json]]
) -> None:
    assert asking(client, text).calls() == calls


@pytest.mark.parametrize(
    ("text", "kind", "name", "params"),
    [
        (
            "Take “Lunch” out of my calendar.",
            "event",
            "cancel_calendar_event",
            {"event_id": "item-1"},
        ),
        (
            "Move the lunch with Ben to 11:30.",
            "event",
            "update_calendar_event",
            {"event_id": "item-1", "start": "2026-03-16T11:30", "end": "2026-03-16T12:30"},
        ),
        (
            "Move “Lunch” to /Product.",
            "document",
            "move_document",
            {"document_id": "item-1", "folder_id": "/Product"},
        ),
        (
            "Teile „Lunch“ mit elin@company.com.",
            "document",
            "share_document",
            {"document_id": "item-1", "email": "elin@company.com"},
        ),
        (
            "Add the line “More?” at the end of “Lunch”.",
            "document",
            "append_document",
            {"document_id": "item-1", "content": "More?"},
        ),
        ("Borra el documento «Lunch».", "document", "trash_document", {"document_id": "item-1"}),
        ("Mark Acme's mail about lunch as read.", "email", "mark_read", {"email_id": "item-1"}),
        ("Archiviere die Mail von Acme über Lunch.", "email", "archive", {"email_id": "item-1"}),
        (
            "Move the lunch invoice to the folder receipts.",
            "email",
            "move_email",
            {"email_id": "item-1", "folder_id": "Receipts"},
        ),
        (
            "Forward the lunch mail to ben@company.com.",
            "email",
            "forward_email",
            {"to": ["ben@company.com"], "email_id": "item-1"},
        ),
        ("Delete the lunch mail for good.", "email", "trash_email", {"email_id": "item-1"}),
    ],
)
def test_an_item_is_found_by_its_words_and_then_acted_on(
    client: OpenAI, text: str, kind: str, name: str, params: Json
) -> None:
    dialogue = asking(client, text)
    [(tool, _)] = dialogue.calls()
    assert tool == "retrieve_context"
    fields = EVENT if kind == "event" else {"type": kind}
    dialogue.returns(found(item(1, "Lunch", **fields), item(2, "Supper", **fields)))

    assert dialogue.calls() == [execution(name, params)]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Archive John's latest mail.", "John Doe"),
        ("Archiviere die Mail von John.", "johnd@client.com"),
        ("Archive le courriel de John.", "1"),
        ("Archiva el correo de John.", "Doe, please"),
    ],
)
def test_of_several_people_of_a_name_the_user_is_asked_which(
    client: OpenAI, text: str, answer: str
) -> None:
    dialogue = asking(client, text)
    dialogue.answers()
    dialogue.returns(found(*JOHNS))
    [(name, asked)] = dialogue.calls()
    assert (name, asked["question"]) == ("ask_user", "Which John did you mean?")
    assert len(asked["options"]) == 2

    dialogue.returns(success(answer=answer))

    [(name, asked)] = dialogue.calls()
    assert (name, asked["email_id"]) == ("archive", "item-2")


def test_what_a_mail_is_about_may_tell_which_person_is_meant(client: OpenAI) -> None:
    dialogue = asking(client, "Archive John's mail about the delivery.")
    dialogue.answers()
    dialogue.returns(found(*JOHNS))

    [(name, asked)] = dialogue.calls()
    assert (name, asked["email_id"]) == ("archive", "item-2")


def test_of_two_issues_alike_the_user_is_asked_which(client: OpenAI) -> None:
    dialogue = asking(client, "Set the printing bug to Done.")
    dialogue.answers()
    issues = [
        item(n, f"Printing is {how}", type="issue", key=f"PROJ-{n}")
        for n, how in ((1, "slow"), (2, "blurred"))
    ]
    dialogue.returns(found(*issues))
    [(_, asked)] = dialogue.calls()
    assert asked["options"] == ["PROJ-1 Printing is slow", "PROJ-2 Printing is blurred"]
    dialogue.returns(success(answer="the blurred one"))

    assert dialogue.calls() == [
        execution("update_jira_task", {"issue_key": "PROJ-2", "status": "Done"})
    ]


BUSY = {"begins": "Fri 2026-03-13T11:00+01:00", "ends": "Fri 2026-03-13T12:00+01:00"}


def test_what_is_only_to_be_entered_where_it_is_free_is_not_beside_another(client: OpenAI) -> None:
    wish = "Put “Bank” into my calendar on Friday 13 March from 11:30 to 12:30, but only if free."
    dialogue = asking(client, wish)
    span = {"since": "2026-03-13T11:30", "until": "2026-03-13T12:30"}
    assert dialogue.calls() == [("read_calendar", span)]
    dialogue.returns(success(events=[{"n": 1, "title": "Design review", **BUSY}]))
    said = dialogue.says()
    assert said.startswith("Nothing was entered.")
    assert "“Design review”" in said

    free = asking(client, wish)
    free.answers()
    free.returns(success(events=[]))
    assert free.calls() == [event("Bank", "13T11:30", "13T12:30")]


@pytest.mark.parametrize(
    "text",
    [
        "Draft an answer to Dana's mail: yes. Say a word about the meeting if it takes place.",
        "Draft an answer to Dana's last mail with the price Lucas wants now.",
        "Send a@b.example a mail that says thanks. Mention the price.",
    ],
)
def test_what_only_a_reader_could_write_is_neither_drafted_nor_sent(
    client: OpenAI, text: str
) -> None:
    assert "I write only what is dictated to me" in asking(client, text).says()


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("Draft an answer to Acme's mail about lunch: yes, I can.", "Yes, I can."),
        ("Entwirf eine Antwort an Acme: Dienstag passt.", "Dienstag passt."),
        ("Prépare un brouillon de réponse à Acme : oui.", "Oui."),
        ("Responde con un borrador a Acme: gracias.", "Gracias."),
    ],
)
def test_a_reply_says_what_is_dictated(client: OpenAI, text: str, body: str) -> None:
    dialogue = asking(client, text)
    dialogue.answers()
    dialogue.returns(found(item(1, "Lunch")))

    [(name, made)] = dialogue.calls()
    assert (name, made["to"], made["body"]) == ("draft", ["post@acme.example"], body)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Put “Gym” into my calendar.", "When? Please name the day, and from when to when."),
        ("Create a task in PROJ: “X”, for Elin.", "For whom? Please give the whole address"),
        ("Make a document “Notes”.", "In which folder? Please name it, such as /Meetings."),
        ("Forward the lunch mail to the lawyers.", "To whom? Please give the whole address"),
        ("Leite die Mail von Lucas an das Büro weiter.", "An wen? Bitte geben Sie die ganze"),
        ("Assign PROJ-9 to Zoe.", "To whom? Nobody listed is called Zoe"),
        ("Put “Gym” into my calendar on 31 February from 9:00 to 10:00.", "When?"),
        ("Put “Gym” into my calendar on 16 March from 25:00 to 26:00.", "When?"),
    ],
)
def test_what_is_missing_is_asked_for(client: OpenAI, text: str, said: str) -> None:
    assert asking(client, text).says().startswith(said)


def test_what_came_of_it_is_said(client: OpenAI) -> None:
    dialogue = asking(client, "Set PROJ-98 to Done.")
    dialogue.answers()
    dialogue.returns(action("Change PROJ-98: status Done", "pending_confirmation"))
    assert dialogue.says() == "Waiting for your confirmation: Change PROJ-98: status Done."
