"""New mail that is dictated: sent, drafted where none may be sent, and only so."""

from typing import Any

import pytest
from openai import OpenAI

from agents.tools.acting import DRAFT_INSTEAD as SUGGESTED
from sandbox.offline_model.rules.sending import DRAFT_INSTEAD
from tests.sandbox.dialogue import Dialogue, Json, action, execution, refusal, success

SYSTEM = "You are Remit's orchestrator."
ONLY_DRAFTS = "Nothing may be sent. A mail may be drafted, and the user sends it."
MAIL = {"to": ["ada@client.com"], "subject": "The budget", "body": "We agree."}
ASKED = "Write to ada@client.com about the budget: we agree."


def asking(client: OpenAI, text: str, *tools: str) -> Dialogue:
    dialogue = Dialogue(client, system=SYSTEM, tools=tools or ("send_email", "draft"))
    dialogue.user(text)
    return dialogue


def only_drafts() -> Json:
    """The refusal, with what Remit suggests to a model."""
    assert DRAFT_INSTEAD in SUGGESTED
    found: dict[str, Any] = refusal(ONLY_DRAFTS)
    found["error"]["suggested_action"] = f"Do not try it again. {SUGGESTED}"
    return found


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        (ASKED, "The budget"),
        ("Write to ada@client.com saying that we agree.", "We agree."),
        ("Send a mail about the budget to ada@client.com saying we agree.", "The budget"),
    ],
)
def test_new_mail_is_sent_where_it_may_be(client: OpenAI, text: str, subject: str) -> None:
    dialogue = asking(client, text)
    assert dialogue.calls() == [execution("send_email", MAIL | {"subject": subject})]
    dialogue.returns(action("Send to ada@client.com: “The budget”", "executed"))
    assert dialogue.says() == "Done: Send to ada@client.com: “The budget”."


@pytest.mark.parametrize(
    "text",
    [
        "Draft a mail to ada@client.com about the budget: we agree.",
        "Entwirf eine Mail an ada@client.com wegen the budget: we agree.",
    ],
)
def test_what_is_to_be_drafted_is_not_sent(client: OpenAI, text: str) -> None:
    assert asking(client, text).calls() == [execution("draft", MAIL)]


@pytest.mark.parametrize(
    ("text", "subject", "body", "says"),
    [
        (
            ASKED,
            "The budget",
            "We agree.",
            "I sent nothing. Here mail may only be drafted. The mail to ada@client.com waits in "
            "your drafts, and you can send it from there.",
        ),
        (
            "Schreibe an ada@client.com über das Budget: wir sind einverstanden.",
            "Das Budget",
            "Wir sind einverstanden.",
            "Gesendet habe ich nichts. Hier dürfen Mails nur entworfen werden. Die Mail an "
            "ada@client.com wartet in Ihren Entwürfen, und Sie können sie von dort senden.",
        ),
    ],
)
def test_what_may_not_be_sent_is_drafted_and_said_so(
    client: OpenAI, text: str, subject: str, body: str, says: str
) -> None:
    wish = {"to": ["ada@client.com"], "subject": subject, "body": body}
    dialogue = asking(client, text)
    assert dialogue.calls() == [execution("send_email", wish)]
    dialogue.returns(only_drafts())
    assert dialogue.calls() == [("draft", wish | {"reason": "It may not be sent."})]
    dialogue.returns(action("Draft a mail to ada@client.com", "executed"))
    assert dialogue.says() == says


def test_whom_the_draft_leaves_out_is_said(client: OpenAI) -> None:
    dialogue = asking(client, ASKED)
    dialogue.answers()
    dialogue.returns(only_drafts())
    dialogue.answers()
    dialogue.returns(success(status="executed", id="a", sentence="Its first line says more."))
    assert dialogue.says().endswith("from there. Its first line says more.")


@pytest.mark.parametrize(
    ("drafted", "says"),
    [
        (refusal("A target is not listed."), "Refused: draft a mail to ada@client.com. A target "),
        (
            action("Draft a mail to ada@client.com", "pending_confirmation"),
            "Waiting for your confirmation: Draft a mail to ada@client.com.",
        ),
    ],
)
def test_a_draft_that_came_to_nothing_yet_is_not_said_to_wait(
    client: OpenAI, drafted: Json, says: str
) -> None:
    dialogue = asking(client, ASKED)
    dialogue.answers()
    dialogue.returns(only_drafts())
    dialogue.answers()
    dialogue.returns(drafted)
    first, second = dialogue.says().split("\n")
    assert first == f"Refused: send a mail to ada@client.com. {ONLY_DRAFTS}"
    assert second.startswith(says)


def test_nothing_is_drafted_for_another_refusal_or_without_the_tool(client: OpenAI) -> None:
    for refused, tools in (
        (refusal("Actions of this account are paused."), ("send_email", "draft")),
        (only_drafts(), ("send_email",)),
    ):
        dialogue = asking(client, ASKED, *tools)
        dialogue.answers()
        dialogue.returns(refused)
        assert dialogue.says().startswith("Refused: send a mail to ada@client.com. ")


def test_what_is_not_dictated_is_neither_sent_nor_drafted(client: OpenAI) -> None:
    for verb, says in (("Write", "I sent nothing."), ("Draft a mail", "I drafted nothing.")):
        assert asking(client, f"{verb} to a@b.example: Explain it.").says().startswith(says)
