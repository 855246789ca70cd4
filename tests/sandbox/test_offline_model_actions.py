"""Single actions asked for in words: search, propose, tell the outcome."""

from collections.abc import Sequence

import pytest
from openai import OpenAI

from tests.sandbox.dialogue import (
    NO_SENDER,
    Dialogue,
    Json,
    action,
    execution,
    found,
    function,
    item,
    refusal,
)

SYSTEM = "You are Remit's orchestrator."
READING = ("retrieve_context", "delegate_to_specialist", "ask_user", "use_tool")
ACTING = (
    "archive",
    function("classify", label_id=["Invoices", "Team"]),
    "draft",
    "send_email",
    function("create_jira_task", project_key=["PROJ", "OPS"]),
)


def asking(client: OpenAI, text: str, *, acting: Sequence[str | Json] = ACTING) -> Dialogue:
    dialogue = Dialogue(client, system=SYSTEM, tools=[*READING, *acting])
    dialogue.user(text)
    return dialogue


def test_a_mail_is_searched_then_archived_then_told(client: OpenAI) -> None:
    dialogue = asking(client, "Please archive the newsletter from Acme.")
    search = {"query": "newsletter Acme", "sources": ["gmail"], "limit": 10}
    assert dialogue.calls() == [("retrieve_context", search | {"entity_filter": "Acme"})]
    dialogue.returns(found(item(1, "Lunch"), item(2, "Acme newsletter"), item(3, "Newsletter")))
    assert dialogue.calls() == [execution("archive", {"email_id": "item-2"})]
    dialogue.returns(action("Archive: “Acme newsletter”", "executed"))
    assert dialogue.says() == "Done: Archive: “Acme newsletter”."


def test_all_matching_mails_are_archived_side_by_side(client: OpenAI) -> None:
    dialogue = asking(client, "archive all newsletters")
    dialogue.answers()
    dialogue.returns(
        found(
            item(1, "Newsletter 1", **NO_SENDER),
            item(2, "Lunch", **NO_SENDER),
            item(3, "A newsletter", **NO_SENDER),
            item(4, "Newsletter", type="document"),
        )
    )
    assert dialogue.calls() == [
        execution("archive", {"email_id": "item-1"}),
        execution("archive", {"email_id": "item-3"}),
    ]
    dialogue.returns(action("Archive 1", "already_so"), refusal("It is an alert."))
    assert dialogue.says() == (
        "It was already like that: Archive 1.\nRefused: archive the mail. It is an alert."
    )


def test_the_item_id_serves_where_there_is_no_source_id(client: OpenAI) -> None:
    dialogue = asking(client, "archive the newsletter")
    dialogue.answers()
    dialogue.returns(found(item(1, "Newsletter", source_id="")))
    assert dialogue.calls() == [execution("archive", {"email_id": "item-1"})]


def test_a_label_is_looked_up_by_name(client: OpenAI) -> None:
    dialogue = asking(client, "Label the mail from Acme as “invoices”")
    dialogue.answers()
    dialogue.returns(found(item(1, "Your bill")))
    assert dialogue.calls() == [
        execution("classify", {"email_id": "item-1", "label_id": "Invoices"})
    ]
    dialogue.returns(action("Label as Invoices: “Your bill”", "pending_confirmation"))
    assert dialogue.says() == ("Waiting for your confirmation: Label as Invoices: “Your bill”.")


def test_an_unknown_label_is_not_made_up(client: OpenAI) -> None:
    assert asking(client, "label the mail from Acme as Secret").says() == (
        "There is no label “Secret” that I may use. I may use Invoices and Team."
    )


def test_a_reply_is_drafted_to_the_sender(client: OpenAI) -> None:
    dialogue = asking(client, "Draft a reply to Acme's mail about the budget")
    dialogue.answers()
    dialogue.returns(found(item(1, "Re: Budget")))
    params = {
        "reply_to_id": "item-1",
        "to": ["post@acme.example"],
        "subject": "Re: Budget",
        "body": "Thanks for your message about “Budget”. I will look into it and get back to you.",
    }
    assert dialogue.calls() == [execution("draft", params)]


def test_a_reply_can_be_dictated(client: OpenAI) -> None:
    dialogue = asking(client, "draft a short reply to the Acme mail saying that we agree.")
    dialogue.answers()
    dialogue.returns(found(item(1, "Budget")))
    [(_, arguments)] = dialogue.calls()
    assert arguments["body"] == "We agree."


def test_a_mail_is_sent_to_the_addresses_given(client: OpenAI) -> None:
    dialogue = asking(
        client,
        "Send a mail about the budget to anna@company.com and bo@client.com saying it is fine.",
    )
    params = {
        "to": ["anna@company.com", "bo@client.com"],
        "subject": "The budget",
        "body": "It is fine.",
    }
    assert dialogue.calls() == [execution("send_email", params)]
    dialogue.returns(refusal("evil is not a receiver that is allowed."))
    assert dialogue.says() == (
        "Refused: send a mail to anna@company.com and bo@client.com. "
        "evil is not a receiver that is allowed."
    )


def test_a_mail_without_an_address_is_not_sent(client: OpenAI) -> None:
    dialogue = asking(client, "send a mail to Anna saying hello")
    dialogue.answers()
    dialogue.returns(found(item(1, "Lunch")))
    assert dialogue.says() == "I found no mail of Anna. Please give the whole address."


@pytest.mark.parametrize(
    ("text", "params"),
    [
        (
            "Create a task in OPS: Renew the certificate",
            {"project_key": "OPS", "summary": "Renew the certificate", "type": "task"},
        ),
        (
            "please open a new bug in project secret: It leaks\nBadly.",
            {"project_key": "SECRET", "summary": "It leaks", "type": "bug"}
            | {"description": "Badly."},
        ),
        (
            "Create a Jira issue: Write the page",
            {"project_key": "PROJ", "summary": "Write the page", "type": "task"},
        ),
    ],
)
def test_an_issue_is_created_as_asked(client: OpenAI, text: str, params: Json) -> None:
    assert asking(client, text).calls() == [execution("create_jira_task", params)]


@pytest.mark.parametrize(
    ("text", "action_type", "params"),
    [
        ("archive the newsletter", "archive", {"email_id": "item-1"}),
        (
            "label the newsletter as Secret",
            "classify",
            {"email_id": "item-1", "label_id": "Secret"},
        ),
        (
            "send a mail to a@b.example saying hi",
            "send_email",
            {"to": ["a@b.example"], "subject": "Hi", "body": "Hi"},
        ),
        (
            "create a task in OPS: x",
            "create_jira_task",
            {"project_key": "OPS", "summary": "x", "type": "task"},
        ),
    ],
)
def test_what_has_no_schema_is_called_through_the_door(
    client: OpenAI, text: str, action_type: str, params: Json
) -> None:
    dialogue = asking(client, text, acting=())
    calls = dialogue.calls()
    if calls[0][0] == "retrieve_context":
        dialogue.returns(found(item(1, "Newsletter")))
        calls = dialogue.calls()
    given = params | {"reason": "The user asked for it."}
    assert calls == [("use_tool", {"name": action_type, "arguments": given})]
    dialogue.returns(refusal("It is not permitted."))
    assert dialogue.says().startswith("Refused: ")
    assert dialogue.says().endswith(" It is not permitted.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "archive the mail",
            "Which mail do you mean? Please name its subject or its sender.",
        ),
        ("archive the unicorn mail", "I found no mail that matches “unicorn”."),
    ],
)
def test_no_mail_is_guessed(client: OpenAI, text: str, said: str) -> None:
    dialogue = asking(client, text)
    if dialogue.answers().tool_calls:
        dialogue.returns(found(item(1, "Lunch")))
        dialogue.answers()
    assert dialogue.messages[-1]["content"] == said
