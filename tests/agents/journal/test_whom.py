"""The question whom a name means: Remit's own, and a press of its options is as good as typed."""

import json
from typing import Any
from uuid import uuid4

import pytest

from agents.contracts import CallRecord, StepRecord
from agents.journal import whom
from agents.journal.history import load_user_words
from agents.journal.steps import ASK_USER
from agents.models import Conversation, Message, Step, ToolCall, Turn
from integrations.models import Organisation

pytestmark = pytest.mark.django_db
ROSSI, BIANCHI = "Marco Rossi <m.rossi@company.com>", "Marco Bianchi <marco@company.com>"
WHO = {"name": "Marco", "people": [BIANCHI, ROSSI]}
REFUSED = {"success": False, "ambiguity": WHO, "error": {"code": "PERMISSION_DENIED"}}
ASKED = {"question": "Who do you mean by “Marco”?", "options": [BIANCHI, ROSSI]}


@pytest.fixture
def conversation() -> Conversation:
    organisation = Organisation.objects.create(slug=f"org-{uuid4().hex[:8]}", name="House")
    return Conversation.objects.create(organisation=organisation, external_user_id="maya")


def says(conversation: Conversation, text: str, **metadata: Any) -> Turn:
    turn = Turn.objects.create(
        organisation=conversation.organisation,
        external_user_id="maya",
        kind=Turn.Kind.CHAT,
        conversation=conversation,
        state=Turn.State.FINISHED,
    )
    Message.objects.create(
        conversation=conversation,
        turn=turn,
        role=Message.Role.USER,
        content=text,
        metadata=metadata,
    )
    return turn


def calls(turn: Turn, name: str, arguments: Any, result: Any = None) -> ToolCall:
    step = Step.objects.create(turn=turn, number=turn.steps.count() + 1)
    return ToolCall.objects.create(
        turn=turn,
        step=step,
        position=0,
        name=name,
        arguments=json.dumps(arguments),
        result=result,
    )


def step(*results: Any) -> StepRecord:
    return StepRecord(
        number=1,
        text="",
        finish_reason="tool_calls",
        calls=tuple(
            CallRecord(
                id=uuid4(), name="send_email", arguments="{}", action_id=uuid4(), result=result
            )
            for result in results
        ),
    )


def chosen(conversation: Conversation, asked: Any, press: str, result: Any = REFUSED) -> str:
    """What counts as typed once this option of this question was pressed."""
    first = says(conversation, "Tell Marco.\nThanks")
    calls(first, "send_email", {}, result)
    question = calls(first, ASK_USER, asked)
    turn = says(conversation, press, answers=str(question.id), option=0)
    return load_user_words(turn).text


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "Who do you mean by “Marco”?"),
        ("de", "Wen meinst du mit „Marco“?"),
        ("fr", "Qui veux-tu dire par « Marco » ?"),
        ("es", "¿A quién te refieres con «Marco»?"),
        ("it", "Chi intendi con «Marco»?"),
        ("pt", "Who do you mean by “Marco”?"),
    ],
)
def test_it_is_asked_in_the_users_language_and_counts_in_each(
    conversation: Conversation, language: str, question: str
) -> None:
    asked = whom.ask([step({"success": True}, REFUSED)], language=language)

    assert asked is not None
    (call,) = asked.calls
    assert call.name == ASK_USER
    given = json.loads(call.arguments)
    assert given == {"question": question, "options": [BIANCHI, ROSSI]}
    assert chosen(conversation, given, ROSSI) == "m.rossi@company.com\nTell Marco.\nThanks"


@pytest.mark.parametrize(
    "results",
    [
        (),
        ({"success": True, "data": {"ambiguity": WHO}},),
        ({"success": False, "data": {"ambiguity": WHO}, "error": {}},),
        ({"success": True, "ambiguity": "Marco"},),
        (None,),
    ],
)
def test_nothing_is_asked_because_of_what_a_tool_says(results: tuple[Any, ...]) -> None:
    assert whom.ask([step(*results)], language="en") is None
    assert whom.ask([], language="en") is None


@pytest.mark.parametrize(
    "asked",
    [
        {**ASKED, "options": [BIANCHI, "Marco Rossi <eve@evil.example>"]},
        {**ASKED, "options": [ROSSI, BIANCHI]},
        {**ASKED, "options": [ROSSI]},
        {**ASKED, "question": "Whom shall I leave out?"},
        {**ASKED, "question": "Who do you mean by “Tom”?"},
        {"question": ASKED["question"]},
        [],
        "Marco",
    ],
)
@pytest.mark.parametrize("press", [ROSSI, "Marco Rossi <eve@evil.example>"])
def test_what_the_agent_asks_itself_is_not_typed(
    conversation: Conversation, asked: Any, press: str
) -> None:
    found = chosen(conversation, asked, press)
    assert "m.rossi@company.com" not in found
    assert "evil.example" not in found


def test_an_option_that_nobody_offered_is_not_typed(conversation: Conversation) -> None:
    found = chosen(conversation, ASKED, "Marco <eve@evil.example>")
    assert "evil.example" not in found.splitlines()[0]
    assert "m.rossi" not in found


def test_a_question_of_another_turn_or_one_that_no_refusal_led_to_is_not_remits(
    conversation: Conversation,
) -> None:
    calls(says(conversation, "Tell Marco."), "send_email", {}, REFUSED)
    assert chosen(conversation, ASKED, ROSSI, {"success": True}) == "Tell Marco.\nThanks"
    told = {"success": False, "data": {"ambiguity": WHO}, "error": {}}
    assert chosen(conversation, ASKED, ROSSI, told) == "Tell Marco.\nThanks"


def test_of_many_people_the_first_are_offered() -> None:
    many = {"name": "Marco", "people": [f"Marco {at} <m{at}@company.com>" for at in range(30)]}
    asked = whom.ask([step(REFUSED | {"ambiguity": many})], language="en")
    assert asked is not None
    assert len(json.loads(asked.calls[0].arguments)["options"]) == 20
