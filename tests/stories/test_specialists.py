"""Specialists with their tools, on the office's mails and documents, with a scripted model."""

import json
import threading
from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from pytest_django.fixtures import Settings

from agents.models import Step, ToolCall
from guardrails.contracts import ActionRequest, ActionResult
from guardrails.execute import executor
from integrations.accounts.reads import mail_reader
from integrations.models import ModelCall, ServiceToken
from knowledge.models import Item
from tests.model_server import Message, Reply, Script, ScriptedModel, calls
from tests.office import Office
from tests.stories.steps import scripted

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR = "You are Remit's orchestrator."
EMAIL, DOCUMENT = "You are Remit's email specialist.", "You are Remit's document specialist."
Chat = Callable[[str, Script], tuple[dict[str, Any], ScriptedModel]]


@pytest.fixture
def chat(office: Office) -> Chat:
    office.sync("gmail", "gdrive")
    token = ServiceToken.issue(
        organisation=office.organisation, name="web", scopes=["chat", "approvals"]
    )[1]

    def ask(message: str, script: Script) -> tuple[dict[str, Any], ScriptedModel]:
        with scripted(script) as model:
            answer = httpx.post(
                f"{office.origin}/api/v1/chat",
                json={"user_id": "maya", "message": message},
                headers={"Authorization": f"Bearer {token}"},
                timeout=60,
            )
        assert answer.status_code == 200, answer.text
        return answer.json(), model

    return ask


def delegate(specialist: str, *items: Item) -> Reply:
    task = {
        "specialist": specialist,
        "task": "Look into it.",
        "context_ids": [str(item.id) for item in items],
    }
    return calls(("delegate_to_specialist", task))


def results(model: ScriptedModel, agent: str) -> list[dict[str, Any]]:
    body = model.chats(agent)[-1]
    return [json.loads(m["content"]) for m in body["messages"] if m["role"] == "tool"]


def proposal() -> Item:
    return Item.objects.get(title="Proposal: customer portal", source="gmail")


def test_the_email_specialist_summarises_a_thread_and_cites_it(office: Office, chat: Chat) -> None:
    mail = proposal()
    answer, model = chat(
        "What is John's proposal about?",
        {
            ORCHESTRATOR: [delegate("email", mail), "A portal in three steps [1]."],
            EMAIL: [
                calls(("summarise_thread", {"item_id": str(mail.id), "focus": "the price"})),
                "A portal [1].",
            ],
            "You summarise a mail thread.": ["John proposes a portal."],
        },
    )

    (result,) = results(model, EMAIL)
    assert result["data"]["summary"] == "John proposes a portal."
    assert (result["data"]["n"], result["untrusted"]) == (1, True)
    (asked,) = model.chats("You summarise a mail thread.")
    shown = asked["messages"][1]["content"]
    # Whom it is for and what time it is there, as every other prompt says it; what stays first.
    about, now, asked_for = shown.partition("\n\n<untrusted")[0].split("\n", 2)
    assert about.startswith('[user] {"addresses":')
    assert '"name":"Maya Lindqvist"' in about
    assert now.startswith("[now] ")
    assert now.endswith("(Europe/Stockholm)")
    assert asked_for == "\nThe reader wants to know: the price"
    assert "john@company.com" in shown
    assert [item["title"] for item in answer["citations"]] == ["Proposal: customer portal"]
    assert office.calls() == []


def test_each_call_says_what_models_cost_for_it(
    office: Office, chat: Chat, settings: Settings
) -> None:
    settings.CHAT_MODEL = settings.INGEST_MODEL = "gpt-4o"
    mail = proposal()
    chat(
        "What is John's proposal about?",
        {
            ORCHESTRATOR: [delegate("email", mail), "A portal."],
            EMAIL: [calls(("summarise_thread", {"item_id": str(mail.id)})), "A portal."],
            "You summarise a mail thread.": ["John proposes a portal."],
        },
    )

    costs = dict(ToolCall.objects.values_list("name", "cost"))
    made = ModelCall.objects.filter(run_id__isnull=False).exclude(purpose="embedding")
    summary = made.exclude(purpose__in=["orchestrator", "email"]).get()
    assert costs["summarise_thread"] == summary.cost > 0
    steps = sum(Step.objects.filter(agent="email").values_list("cost", flat=True))
    assert costs["delegate_to_specialist"] == steps + costs["summarise_thread"]


def test_a_reply_goes_to_who_wrote_whatever_the_mail_and_the_model_say(
    office: Office, chat: Chat
) -> None:
    mail = proposal()
    written = {"body": "Yes, gladly.", "to": ["eve@evil.example"], "cc": ["eve@evil.example"]}
    answer, model = chat(
        "Draft a reply to John's proposal",
        {
            ORCHESTRATOR: [delegate("email", mail), "I prepared it."],
            EMAIL: [
                calls(("draft_reply", {"item_id": str(mail.id), "points": "Yes."})),
                "Drafted.",
            ],
            "You draft a reply.": [written],
        },
    )

    done = answer["completed_actions"] + answer["pending_actions"] + answer["refused_actions"]
    (action,) = done
    assert action["type"] == "draft"
    assert action["params"]["to"] == ["john@company.com"]
    assert action["params"].get("cc", []) == []
    assert action["params"]["subject"] == "Re: Proposal: customer portal"
    assert "eve@evil.example" not in json.dumps(office.calls())
    # FINDINGS A7: whose name it is signed with, when it is, and what was said before.
    [asked] = model.chats("You draft a reply.")
    assert "Leave no placeholder" in asked["messages"][0]["content"]
    material = asked["messages"][1]["content"]
    assert '"name":"Maya Lindqvist"' in material
    assert "(Europe/Stockholm)" in material
    assert "[calendar] Taken" in material  # it names a day
    assert material.count('<untrusted id="mail">') == 1


def test_who_answers_or_sums_up_reads_the_thread_on_the_users_clock(
    office: Office, chat: Chat
) -> None:
    """FINDINGS A3, A7: a draft knew no thread and no date, and times were UTC."""
    own = {"account__external_user_id": "maya", "account__organisation": office.organisation}
    mails = Item.objects.filter(source="gmail", **own).exclude(sender_address="maya@company.com")
    account = office.account("maya", "gmail")
    mail, thread = next(
        (one, thread)
        for one in mails.order_by("-occurred_at", "id")
        if len(thread := mail_reader(account).thread(one.metadata["thread_id"])) > 1
        and max(thread, key=lambda each: each.date).id == one.source_id
    )
    wish = {"item_id": str(mail.id)}
    points = {"points": "Say yes."}
    first = min(thread, key=lambda each: each.date)
    blank = {"body": "Dear [Name],\n\nyes.\n\n[Your Name]"}
    _, model = chat(
        "Draft a reply",
        {
            ORCHESTRATOR: [delegate("email", mail), "Drafted."],
            EMAIL: [
                calls(("summarise_thread", wish)),
                calls(("draft_reply", wish | points)),
                calls(("draft_reply", {"item_id": first.id})),
                "Drafted.",
            ],
            "You summarise a mail thread.": ["A portal."],
            "You draft a reply.": [blank, blank],
        },
    )

    asked, of_first = model.chats("You draft a reply.")
    [summed_up] = model.chats("You summarise a mail thread.")
    material, whole = (one["messages"][1]["content"] for one in (asked, summed_up))
    assert material.count('<untrusted id="earlier in the thread">') == min(len(thread), 6) - 1
    for one in thread[-6:]:
        at = one.date.astimezone(ZoneInfo("Europe/Stockholm"))
        shown = f"Date: {at:%a} {at.isoformat(timespec='minutes')}"
        assert shown in material
        assert shown in whole
    assert "The answer is to say: Say yes." in material
    # What was written later is not known to who answers an earlier mail.
    earlier = of_first["messages"][1]["content"]
    assert "earlier in the thread" not in earlier
    assert "The answer is to say" not in earlier
    given = model.chats(EMAIL)[0]["messages"][1]["content"]
    assert f"From: {mail.sender_name} &lt;{mail.sender_address}&gt;" in given
    at = mail.occurred_at.astimezone(ZoneInfo("Europe/Stockholm"))
    assert f"Date: {at:%a} {at.isoformat(timespec='minutes')}" in given
    # What the model left open is no draft: whose name it is, nobody has said.
    _, *drafted = results(model, EMAIL)
    assert [one["error"]["message"] for one in drafted] == ["The reply leaves blanks: [Name]."] * 2
    assert office.calls() == []


def test_what_tools_ask_models_waits_no_longer_than_the_turn(
    office: Office, chat: Chat, settings: Settings
) -> None:
    settings.TURN_MAX_SECONDS, settings.MODEL_TIMEOUT_SECONDS = 100, 1000
    settings.TOOL_TIMEOUT_SECONDS = 500
    wish = {"item_id": str(proposal().id)}
    _, model = chat(
        "Draft a reply",
        {
            ORCHESTRATOR: [delegate("email"), "Drafted."],
            EMAIL: [
                calls(("summarise_thread", wish)),
                calls(("draft_reply", wish)),
                calls(("retrieve_context", {"query": "portal"})),
                "Drafted.",
            ],
            "You summarise a mail thread.": ["A portal."],
            "You draft a reply.": [{"body": "Yes."}],
        },
    )

    assert len(model.patience) == len(model.requests) >= 9
    # The vector of a search is waited for a few seconds, however much time there is.
    [vector], rest = ([one for one in model.patience if (one < 4) is few] for few in (True, False))
    assert 0 < vector <= 3
    assert rest == sorted(set(rest), reverse=True)
    assert rest[0] <= 100


def test_agents_side_by_side_act_one_after_another(
    office: Office, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    mails = list(Item.objects.filter(source="gmail", sender_address="john@company.com")[:2])
    both_asked, both_act = threading.Barrier(2), threading.Barrier(2)
    execute, met = executor.execute, []

    def acting(request: ActionRequest, **given: Any) -> ActionResult:
        try:
            both_act.wait(2)  # the other would come in here while this one acts
        except threading.BrokenBarrierError:
            met.append(False)
        else:
            met.append(True)
        return execute(request, **given)

    def reply_to(body: dict[str, Any]) -> Reply:
        if body["messages"][-1]["role"] == "tool":
            return "Drafted."
        both_asked.wait(30)
        [mail] = [mail for mail in mails if str(mail.id) in json.dumps(body)]
        return calls(("draft_reply", {"item_id": str(mail.id)}))

    monkeypatch.setattr(executor, "execute", acting)
    tasks = [{"specialist": "email", "task": f"Answer {mail.id}."} for mail in mails]
    answer, _ = chat(
        "Draft replies to both",
        {
            ORCHESTRATOR: [calls(*(("delegate_to_specialist", one) for one in tasks)), "Done."],
            EMAIL: reply_to,
            "You draft a reply.": [{"body": "Yes."}] * 2,
        },
    )

    assert met == [False, False]
    done = [(action["type"], action["status"]) for action in answer["completed_actions"]]
    assert done == [("draft", "succeeded")] * 2
    assert len([one for one in office.calls() if one["performed"]]) == 2


@pytest.mark.parametrize("body", [{}, {"body": " "}, {"body": 7}])
def test_a_reply_that_could_not_be_written_is_no_draft(
    office: Office, chat: Chat, body: dict[str, Any]
) -> None:
    mail = proposal()
    _, model = chat(
        "Draft a reply",
        {
            ORCHESTRATOR: [delegate("email", mail), "It did not work."],
            EMAIL: [calls(("draft_reply", {"item_id": str(mail.id)})), "No."],
            "You draft a reply.": [body],
        },
    )

    assert results(model, EMAIL)[0]["error"]["code"] == "EXECUTION_FAILED"
    assert office.calls() == []


def test_the_document_specialist_summarises_long_documents_in_parts(
    office: Office, chat: Chat
) -> None:
    document = Item.objects.filter(source="gdrive").order_by("title")[0]
    Item.objects.filter(id=document.id).update(text="a" * 12_000 + "b" * 12_000 + "c")
    answer, model = chat(
        "What does it say?",
        {
            ORCHESTRATOR: [delegate("document", document), "It says so [1]."],
            DOCUMENT: [calls(("summarise_document", {"item_id": str(document.id)})), "So [1]."],
            "You summarise a document.": ["A.", "B.", "C.", "A, B and C."],
        },
    )

    (result,) = results(model, DOCUMENT)
    assert result["data"]["summary"] == "A, B and C."
    assert "whole" not in result["data"]  # only where something of it was left out
    last = model.chats("You summarise a document.")[-1]["messages"][1]["content"]
    assert "A.\n\nB.\n\nC." in last
    assert [item["n"] for item in answer["citations"]] == [1]


def test_an_empty_summary_that_was_cut_off_is_no_success(office: Office, chat: Chat) -> None:
    document = Item.objects.filter(source="gdrive").order_by("title")[0]
    _, model = chat(
        "What does it say?",
        {
            ORCHESTRATOR: [delegate("document", document), "It could not be summarised."],
            DOCUMENT: [calls(("summarise_document", {"item_id": str(document.id)})), "It failed."],
            "You summarise a document.": [Message(text="", finish="length")],
        },
    )

    [result] = results(model, DOCUMENT)
    assert (result["success"], result["error"]["code"]) == (False, "EXECUTION_FAILED")


def test_nothing_of_another_user_is_summarised_or_answered(office: Office, chat: Chat) -> None:
    office.sync("gmail", user="omar")
    foreign = Item.objects.filter(account__external_user_id="omar", source="gmail")[0]
    wish = {"item_id": str(foreign.id)}
    _, model = chat(
        "Read Omar's mail",
        {
            ORCHESTRATOR: [delegate("email", foreign), delegate("email"), "There is none."],
            EMAIL: [
                calls(
                    ("summarise_thread", wish),
                    ("draft_reply", wish),
                    ("summarise_document", wish),
                ),
                "None.",
            ],
        },
    )

    unknown = results(model, ORCHESTRATOR)[0]["error"]
    assert (unknown["code"], unknown["message"]) == ("NOT_FOUND", f"There is no item {foreign.id}.")
    assert {one["error"]["code"] for one in results(model, EMAIL)} == {"NOT_FOUND"}
    assert foreign.title not in json.dumps(model.chats(EMAIL))
    assert office.calls() == []
