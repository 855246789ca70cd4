"""What a prompt keeps of a long conversation, over real HTTP with a scripted model."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from agents.context import memory, results, truncation
from agents.context.messages import Wire, to_wire
from agents.contracts import CallRecord, StepRecord, TurnRecord
from agents.journal import history
from agents.models import Conversation, Message, Step, ToolCall, Turn
from agents.turns import roster, turns
from integrations.models import Account, Organisation
from tests.agents.context.test_conversation_summary import past_of
from tests.agents.context.test_messages import conversations
from tests.agents.waiting import turn_of
from tests.model_server import scripted_model

database = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR = "You are Remit's orchestrator."
CITED, ELSE = str(uuid.uuid4()), str(uuid.uuid4())
LONG: Mapping[str, Any] = {
    "success": True,
    "untrusted": True,
    "data": {
        "found": 10,
        "items": [
            {"n": n, "id": CITED if n == 2 else ELSE, "title": f"Item {n}", "text": "word " * 300}
            for n in range(1, 11)
        ],
    },
}


@pytest.fixture
def conversation() -> Conversation:
    organisation = Organisation.objects.create(slug="default", name="Default")
    Account.objects.create(organisation=organisation, external_user_id="maya", source="gmail")
    return Conversation.objects.create(organisation=organisation, external_user_id="maya")


def spoke(conversation: Conversation, count: int) -> None:
    """So many finished turns, each with a long result."""
    for number in range(count):
        turn = Turn.objects.create(
            organisation=conversation.organisation,
            external_user_id="maya",
            kind=Turn.Kind.CHAT,
            conversation=conversation,
            state=Turn.State.FINISHED,
            ending=Turn.Ending.REPLY,
        )
        said = {"conversation": conversation, "turn": turn}
        Message.objects.create(role="user", content=f"Fact {number}: " + "more " * 20, **said)
        Message.objects.create(role="assistant", content=f"Noted {number} [2].", **said)
        looked = Step.objects.create(turn=turn, agent="orchestrator", number=1)
        ToolCall.objects.create(
            turn=turn,
            step=looked,
            position=0,
            name="retrieve_context",
            arguments='{"query":"facts"}',
            result=dict(LONG),
        )
        Step.objects.create(turn=turn, agent="orchestrator", number=2, text=f"Noted {number} [2].")


def next_request(conversation: Conversation, settings: Any) -> list[Wire]:
    started = turn_of(conversation.organisation, message="What was it?", session=conversation.id)
    with scripted_model(settings, {ORCHESTRATOR: ["So."]}) as model:
        turns.run_turn(started)
    [body] = model.chats(ORCHESTRATOR)
    messages: list[Wire] = body["messages"]
    return messages


def size(messages: list[Wire]) -> int:
    """Tokens with the tools' schemas, as Remit counts them: rather too many."""
    tools = roster.ORCHESTRATOR.toolbox.values()
    return truncation.count_tokens(messages) + sum(tool.schema_tokens for tool in tools)


def facts(messages: list[Wire]) -> list[int]:
    said = [m["content"] for m in messages if m["role"] == "user"]
    return [int(text.split(":")[0][5:]) for text in said if text.startswith("Fact")]


@database
def test_turn_15_of_a_conversation_with_long_results_is_asked_in_less_than_10000_tokens(
    conversation: Conversation, settings: Any
) -> None:
    spoke(conversation, 14)
    messages = next_request(conversation, settings)

    assert size(messages) < 10_000
    assert facts(messages) == [*range(14)]
    last = json.loads([m for m in messages if m["role"] == "tool"][-1]["content"])
    assert last["untrusted"] is True
    assert last["data"]["shortened"] == memory.SHORTENED
    shown = last["data"]["items"]
    assert [(one["n"], one["id"], "passage" in one) for one in shown] == [
        (n, CITED if n == 2 else ELSE, n == 2) for n in range(1, 11)
    ]


@database
def test_turn_60_still_knows_what_was_said_in_the_first_and_that_it_sees_less_of_it(
    conversation: Conversation, settings: Any
) -> None:
    spoke(conversation, 59)
    messages = next_request(conversation, settings)

    assert facts(messages) == [*range(59)]
    assert messages[1] == memory.NOTE
    assert messages[2]["content"].startswith("Fact 0: more")
    assert messages[3] == {"role": "assistant", "content": "Noted 0 [2]."}
    assert size(messages) < 15_000


@database
def test_of_turns_long_ago_no_result_is_read(conversation: Conversation, settings: Any) -> None:
    spoke(conversation, 65)
    newest = Turn.objects.order_by("-created_at")[0]
    found = history.load_history(newest)[0]
    assert [turn.is_whole for turn in found] == [False] * 30 + [True] * 35
    assert [bool(turn.steps) for turn in found] == [turn.is_whole for turn in found]
    assert found[0].reply == "Noted 0 [2]."


def past(number: int, tokens: int = 200) -> TurnRecord:
    looked = CallRecord(
        id=uuid.uuid4(), name="look", arguments="{}", action_id=uuid.uuid4(), result=LONG
    )
    steps = (
        StepRecord(number=1, text="", finish_reason="tool_calls", calls=(looked,)),
        StepRecord(number=2, text="x" * 3 * tokens, finish_reason="stop", calls=()),
    )
    return TurnRecord(user_text=f"Fact {number}", decisions=(), steps=steps, reply=None)


def test_what_is_sent_only_grows_but_when_the_border_moves() -> None:
    said = [past(number) for number in range(60)]
    before: tuple[list[TurnRecord], list[TurnRecord]] = ([], [])
    moves = 0
    for count in range(1, len(said) + 1):
        older, newest = memory.keep(said[:count])
        if len(older) == len(before[0]):
            sent = to_wire([*before[0], *before[1]])
            assert to_wire([*older, *newest])[: len(sent)] == sent
        else:
            moves += 1
        before = older, newest
    assert 0 < moves <= 15


def test_a_question_and_its_answer_are_kept_as_they_were_said() -> None:
    asked = CallRecord(
        id=uuid.uuid4(),
        name="ask_user",
        arguments='{"question": "To whom?"}',
        action_id=uuid.uuid4(),
        result={"success": True, "data": {"answer": "To Bob."}},
    )
    step = StepRecord(number=1, text="", finish_reason="tool_calls", calls=(asked,))
    question = TurnRecord(user_text="Send it", decisions=(), steps=(step,), reply=None)
    answer = TurnRecord(user_text=None, decisions=(), steps=(), reply="Sent.")
    asking = replace(past(0), steps=(*past(0).steps[:1], step))
    assert memory.keep([asking], continues=True) == ([], [asking])
    older, _ = memory.keep([question, answer, past(1, tokens=5_000)])
    assert [(turn.user_text, turn.reply) for turn in older] == [
        ("Send it", "To whom?"),
        ("To Bob.", "Sent."),
    ]


def test_what_has_no_room_at_all_is_said_to_be_left_out() -> None:
    said = [past(number, tokens=10) for number in range(100)]
    messages = past_of(said).messages("You work.", past(100, tokens=1), max_tokens=4_000)
    assert [m for m in messages if m["role"] == "system"][1:] == [memory.NOTE, memory.LEFT_OUT]
    assert truncation.count_tokens(messages) <= 4_000


def test_a_last_turn_that_is_long_is_shown_whole() -> None:
    older, newest = memory.keep([past(0), past(1, tokens=20_000)])
    assert [len(older), len(newest)] == [1, 1]
    assert newest[0].steps[-1].text == "x" * 60_000


@given(turns=conversations())
def test_nothing_is_said_by_nobody_and_answers_stay_with_questions(
    turns: list[TurnRecord],
) -> None:
    older, newest = memory.keep(turns)
    assert len(older) + len(newest) == len(turns)
    assert all(turn.user_text is not None and turn.reply and not turn.steps for turn in older)
    assert not newest or not older or newest[0].user_text is not None


def test_long_arguments_and_other_results_are_cut_and_stay_json() -> None:
    call = CallRecord(
        id=uuid.uuid4(),
        name="send_email",
        arguments=json.dumps({"to": ["a@b.example"], "body": "x" * 5000}),
        action_id=uuid.uuid4(),
        result={"success": True, "data": {"result": "y" * 5000}},
    )
    step = StepRecord(number=1, text="", finish_reason="tool_calls", calls=(call,))
    turn = TurnRecord(user_text="Send it", decisions=(), steps=(step,), reply="Sent.")
    _, [kept] = memory.keep([turn])
    [shorter] = kept.steps[0].calls
    given, got = json.loads(shorter.arguments), dict(shorter.result or {})
    assert given["to"] == ["a@b.example"]
    assert len(shorter.arguments) <= memory.LONG_BYTES
    assert got["success"] is True
    assert len(json.dumps(got)) <= memory.LONG_BYTES + 50


def test_events_of_an_earlier_turn_are_still_known_by_number_and_id() -> None:
    events = [
        {"n": n, "id": CITED, "title": f"Meeting {n}", "begins": "Fri 11:00", "place": "x" * 400}
        for n in (1, 2, 2)
    ]
    data = {"events": events, "free": [{"begins": "Fri 13:00", "ends": "Fri 14:00"}]}

    kept = memory.shorten_result({"success": True, "data": data}, frozenset({1}))

    assert kept["data"] == {
        "items": [
            {"n": 1, "id": CITED, "title": "Meeting 1", "begins": "Fri 11:00"},
            {"n": 2, "id": CITED, "title": "Meeting 2"},
        ],
        "shortened": memory.SHORTENED,
    }
    assert results.shrink_result({"success": True, "data": data})["data"]["items"] == [
        {"n": 1, "title": "Meeting 1"},
        {"n": 2, "title": "Meeting 2"},
    ]
