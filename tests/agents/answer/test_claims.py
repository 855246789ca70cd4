"""Claims of an answer against the records: nothing that was not done passes as done."""

from typing import Any

import pytest

from agents.answer import claims, verbs


def action(type: str, status: str, sentence: str = "", description: str = "") -> dict[str, Any]:
    return {
        "type": type,
        "status": status,
        "sentence": sentence,
        "description": description or type,
    }


@pytest.mark.parametrize(
    "text",
    [
        "I sent the mail to Anna.",
        "I've sent “The budget” to Anna [1].",
        "I have just sent it, as you asked",
        "Your mail has been sent to Anna.",
        "Sent the mail to Anna.",
        "Done. Sent it.",
        "I could not archive it, but I sent the mail.",
        "Ich habe die Mail an Anna gesendet.",
        "J\u2019ai envoyé le courriel à Anna.",
        "He enviado el correo.",
        "Ho inviato il messaggio.",
        "Ik heb de mail aan Anna gestuurd.",
        "Die Mail wurde an Anna verschickt.",
    ],
)
def test_a_claim_without_its_action_is_found(text: str) -> None:
    assert claims.has_unsupported(text, ())
    assert claims.has_unsupported(text, {"archive"})
    assert not claims.has_unsupported(text, {"send_email"})


@pytest.mark.parametrize(
    "text",
    [
        "I have not sent the mail.",
        "I will send it once you confirm.",
        "The mail is ready: it waits to be sent.",
        "Anna sent you the budget.",
        "The report was sent by John on Monday.",
        "The invoice has been sent on 3 May [1].",
        "She wrote “I sent the mail”.",
        "Ich habe die Mail nicht gesendet.",
        "Nothing was sent.",
        "I've opened the document and read it.",
        "AC-101 is assigned to Ben and scheduled for Friday.",
        "The meeting is moved to Thursday.",
        "Assigned to Ben, due on Friday.",
        "Scheduled for 10:00 on Wednesday.",
        "Updated yesterday.",
        "The document is shared with Omar.",
        "Created on 3 May by Ann.",
        "Termin am Mittwoch um 10 Uhr, verschoben auf Donnerstag.",
        "Changed:\n- Single sign-on: it waits for your confirmation as you changed it.",
        "Your yes counts:\n- Single sign-on: it waits for one more person's yes.",
        "",
    ],
)
def test_what_is_denied_awaited_or_told_of_others_is_no_claim(text: str) -> None:
    assert not claims.has_unsupported(text, ())


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("I archived it.", "archive"),
        ("I labelled it as Invoices.", "classify"),
        ("Created 3 tasks in Jira:", "create_jira_task"),
        ("I scheduled the meeting.", "create_calendar_event"),
        ("I've cancelled the meeting.", "cancel_calendar_event"),
        ("I shared the document with Anna.", "share_document"),
        ("I drafted a reply.", "draft"),
        ("I updated the issue.", "update_jira_task"),
    ],
)
def test_each_kind_of_action_has_its_words(text: str, type: str) -> None:
    assert claims.has_unsupported(text, ())
    assert not claims.has_unsupported(text, {type})


def test_what_a_tool_of_an_mcp_server_did_may_be_said_in_any_word() -> None:
    assert not claims.has_unsupported("I created the ticket and sent it.", {"call_mcp_tool"})
    assert claims.has_unsupported("I created the ticket.", {"archive"})


def test_every_action_type_that_an_answer_may_be_about_supports_some_claim() -> None:
    from guardrails.actions.registry import ACTIONS, UNDOING

    names = {action.name for action in (*ACTIONS, *UNDOING)}
    assert names <= {type for kind in verbs.KINDS for type in kind.types}


def test_refusals_and_failures_must_be_said_in_the_words_of_the_record() -> None:
    done, refused = action("archive", "succeeded"), action("draft", "refused", "No such receiver.")

    assert claims.omits_refusals("All is well.", [done, refused])
    assert claims.omits_refusals("Alles erledigt.", [done, refused])
    assert not claims.omits_refusals("Refused: draft. No such *receiver*.", [done, refused])
    assert claims.omits_refusals("All is well.", [action("draft", "failed")])
    assert not claims.omits_refusals("All is well.", [done, action("draft", "pending", "Waits.")])


def test_a_corrected_attempt_is_no_gap() -> None:
    task = {"project_key": "PROJ", "summary": "Write the rota", "labels": ["x"]}
    refused = action("create_jira_task", "refused", "Not listed.") | {"params": task}
    again = action("create_jira_task", "pending") | {"params": task | {"labels": []}}
    other = action("create_jira_task", "pending") | {
        "params": {"project_key": "OPS", "summary": "Order paper"}
    }

    assert not claims.omits_refusals("It waits for you.", [refused, again])
    assert claims.omits_refusals("It waits for you.", [again, refused])
    assert claims.omits_refusals("It waits for you.", [refused, other])
    assert claims.omits_refusals("It waits for you.", [refused, again | {"type": "archive"}])
    assert claims.omits_refusals("It waits for you.", [refused, again | {"status": "failed"}])
    assert claims.list_not_done([refused, again, refused]) == (refused,)
    assert claims.list_not_done([refused, refused]) == (refused, refused)


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("Nothing was done: you rejected it.", "create_jira_task"),
        ("Nothing has been created.", "create_jira_task"),
        ("Es wurde nichts gesendet.", "send_email"),
        ("Rien n\u2019a été envoyé.", "send_email"),
        ("No se ha enviado nada.", "forward_email"),
        ("Non è stato inviato nulla.", "send_email"),
        ("Er is niets verstuurd.", "send_email"),
    ],
)
def test_a_false_denial_is_found_as_a_false_claim_is(text: str, type: str) -> None:
    assert claims.denies(text, [action(type, "succeeded")])
    assert not claims.denies(text, [action(type, "refused")])
    assert not claims.denies(f"She wrote “{text}”", [action(type, "succeeded")])
    copied = "Nothing was changed in the original. I created a copy."
    assert not claims.denies(copied, [action("create_document", "succeeded")])
    assert not claims.denies("The task is there.", [action("create_jira_task", "succeeded")])


@pytest.mark.parametrize(
    "text",
    [
        "Nothing is left to do: the task was created.",
        "There was nothing at 14:00: the task was created for then.",
        "Nichts fehlt mehr: die Aufgabe wurde erstellt.",
        "Rien ne manque : la tâche a été créée.",
    ],
)
def test_what_is_denied_before_a_colon_is_not_what_stands_behind_it(text: str) -> None:
    assert not claims.denies(text, [action("create_jira_task", "succeeded")])


@pytest.mark.parametrize(
    "text",
    [
        "What I created: nothing.",
        "Nothing: no task was created.",
        "I looked at the board: nothing was created.",
        "Nothing was created: you did not want it.",
    ],
)
def test_a_denial_with_a_colon_is_found(text: str) -> None:
    assert claims.denies(text, [action("create_jira_task", "succeeded")])


@pytest.mark.parametrize(
    ("text", "is_claim"),
    [
        ("I created the task: nothing else was needed.", True),
        ("I've sent the mail: Bob should have it now.", True),
        ("Ich habe die Mail gesendet: mehr war nicht nötig.", True),
        ("Not done yet: created the task in PROJ.", False),
        ("I created the following: nothing.", False),
        ("Nothing yet: I sent the mail to nobody.", False),
    ],
)
def test_what_stands_behind_a_colon_takes_back_no_claim(text: str, is_claim: bool) -> None:
    assert claims.has_unsupported(text, ()) is is_claim


def test_that_nothing_of_one_kind_was_done_is_true_where_another_was() -> None:
    assert not claims.denies("Nothing was sent.", [action("create_jira_task", "succeeded")])
    assert claims.denies("Nothing was sent.", [action("send_email", "succeeded")])
