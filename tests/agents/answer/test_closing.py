"""The last word of a model becomes the answer: over the chat API, with a scripted model."""

import json
from typing import Any

import pytest

from agents.answer.closing import CUT_SENTENCE, EMPTY_SENTENCE
from agents.models import Message, Step
from integrations.models import Account, ServiceToken
from knowledge.ingest.ingest import ingest
from tests.agents.api.test_views import ORCHESTRATOR, say
from tests.knowledge.answers import READER, summarised
from tests.knowledge.office import NOW, account, email
from tests.model_server import Message as Said, Reply, calls, scripted_model

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
TASK = "You are Remit's task specialist."
SEARCH = calls(("retrieve_context", {"query": "proposal lunch"}))


@pytest.fixture
def token(settings: Any) -> str:
    """Maya's mailbox with two mails, and a token to chat as her."""
    owner = account()
    with scripted_model(settings, {READER: summarised}):
        for id, subject in (("proposal", "Proposal"), ("lunch", "Lunch")):
            mail = email(id=id, subject=subject, body_text=f"The {subject.lower()} for Maya.")
            ingest(account=owner, source_id=id, item=mail, now=NOW)
    organisation = Account.objects.get(id=owner.id).organisation
    return ServiceToken.issue(organisation=organisation, name="web", scopes=["chat", "approvals"])[
        1
    ]


def shown(body: dict[str, Any]) -> dict[str, int]:
    """The numbers of the items in the newest tool result of a request, by title."""
    result = next(m for m in reversed(body["messages"]) if m["role"] == "tool")
    return {item["title"]: item["n"] for item in json.loads(result["content"])["data"]["items"]}


def test_citations_are_bound_kept_and_told(token: str, settings: Any) -> None:
    script: list[Reply] = [SEARCH, "John proposes a portal [1], lunch [2] and gold [7]."]
    with scripted_model(settings, {ORCHESTRATOR: script}) as model:
        answer = say(token, "What does John want?")

    numbers = shown(model.chats(ORCHESTRATOR)[1])
    assert sorted(numbers.values()) == [1, 2]
    assert answer["response"] == "John proposes a portal [1], lunch [2] and gold."
    assert {item["title"]: item["n"] for item in answer["citations"]} == numbers
    message = Message.objects.get(role="assistant")
    assert message.metadata["citations"] == answer["citations"]
    assert message.metadata["unknown_citations"] == [7]
    assert Step.objects.last().text.endswith("gold [7].")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("", EMPTY_SENTENCE),
        (" \n", EMPTY_SENTENCE),
        (Said(text=None, finish="content_filter"), EMPTY_SENTENCE),
        (Said(text="He wants", finish="length"), f"He wants\n\n{CUT_SENTENCE}"),
    ],
    ids=["empty", "blank", "filtered", "cut"],
)
def test_an_answer_that_is_none_or_was_cut_off_says_so(
    token: str, settings: Any, said: Reply, told: str
) -> None:
    with scripted_model(settings, {ORCHESTRATOR: [said]}):
        assert say(token, "What does John want?")["response"] == told


def test_an_item_keeps_its_number_through_the_session_and_is_cited_later(
    token: str, settings: Any
) -> None:
    script: list[Reply] = [
        calls(("retrieve_context", {"query": "lunch", "limit": 1})),
        "Lunch [1].",
        calls(("retrieve_context", {"query": "proposal", "limit": 1})),
        "The proposal [2], after lunch [1].",
        "As I said [2].",
    ]
    with scripted_model(settings, {ORCHESTRATOR: script}) as model:
        first = say(token, "Lunch?")
        second = say(token, "And the proposal?", first["session_id"])
        third = say(token, "Again?", first["session_id"])

    assert shown(model.chats(ORCHESTRATOR)[3]) == {"Proposal": 2}
    assert [(one["n"], one["title"]) for one in second["citations"]] == [
        (1, "Lunch"),
        (2, "Proposal"),
    ]
    assert [one["title"] for one in third["citations"]] == ["Proposal"]


def test_nothing_of_another_session_can_be_cited(token: str, settings: Any) -> None:
    script: list[Reply] = [SEARCH, "Both [1][2].", "Still [1]."]
    with scripted_model(settings, {ORCHESTRATOR: script}):
        say(token, "Hello")
        answer = say(token, "Hello again")

    assert (answer["response"], answer["citations"]) == ("Still.", [])


def test_a_specialist_cites_by_the_same_numbers_and_only_what_it_was_shown(
    token: str, settings: Any
) -> None:
    def orchestrator(body: dict[str, Any]) -> Reply:
        results = [m for m in body["messages"] if m["role"] == "tool"]
        if not results:
            return SEARCH
        if len(results) == 1:
            items = json.loads(results[0]["content"])["data"]["items"]
            (second,) = [item for item in items if item["n"] == 2]
            task = {"specialist": "task", "task": "Look", "context_ids": [second["id"]]}
            return calls(("delegate_to_specialist", task))
        return "It says so [2], not [1]."

    with scripted_model(
        settings, {ORCHESTRATOR: orchestrator, TASK: ["Found [2], guessed [1] and [5]."]}
    ) as model:
        answer = say(token, "What is to be done?")

    assert "Cite as: [2]" in model.chats(TASK)[0]["messages"][1]["content"]
    results = [m for m in model.chats(ORCHESTRATOR)[2]["messages"] if m["role"] == "tool"]
    data = json.loads(results[1]["content"])["data"]
    assert data["result"] == "Found [2], guessed."
    assert [item["n"] for item in data["citations"]] == [2]
    assert [item["n"] for item in answer["citations"]] == [1, 2]


def refused() -> Reply:
    """A call of an action that no rule permits."""
    params = {"to": ["anna@client.com"], "subject": "Hi", "body": "Hello"}
    return calls(("execute_action", {"action_type": "send_email", "params": params}))


def test_a_claim_that_the_ledger_lacks_is_corrected_for_user_and_model(
    token: str, settings: Any
) -> None:
    script: list[Reply] = ["I sent the mail to Anna.", "Sorry."]
    with scripted_model(settings, {ORCHESTRATOR: script}) as model:
        answer = say(token, "Send it")
        say(token, "Really?", answer["session_id"])

    corrected = (
        "I sent the mail to Anna.\n\n"
        "Correction from the records: nothing was sent, created or changed in this turn."
    )
    assert answer["response"] == corrected
    assert answer["record"] == "No action was carried out."
    assert Message.objects.filter(metadata__contradicted=True).count() == 1
    assert model.chats(ORCHESTRATOR)[1]["messages"][2]["content"] == corrected


@pytest.mark.parametrize("said", ["All done!", "Alles erledigt.", "完了しました。", ""])
def test_a_refusal_is_reported_whatever_the_model_says_in_whatever_language(
    token: str, settings: Any, said: str
) -> None:
    with scripted_model(settings, {ORCHESTRATOR: [refused(), said]}):
        answer = say(token, "Send it")

    (action,) = answer["refused_actions"]
    assert answer["response"].startswith(said)
    assert answer["response"].endswith(f"refused, not done. {action['sentence']}")
    assert answer["record"] == "Actions: 1 refused."


def test_a_refusal_in_the_words_of_the_record_is_reported_once(token: str, settings: Any) -> None:
    def orchestrator(body: dict[str, Any]) -> Reply:
        results = [m for m in body["messages"] if m["role"] == "tool"]
        if not results:
            return refused()
        return f"I could not: {json.loads(results[0]['content'])['error']['message']}"

    with scripted_model(settings, {ORCHESTRATOR: orchestrator}):
        answer = say(token, "Send it")

    assert answer["response"] == f"I could not: {answer['refused_actions'][0]['sentence']}"
