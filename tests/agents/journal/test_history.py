"""What counts as typed by the user in this request."""

import json
from datetime import UTC, datetime

import pytest

from agents.journal.history import load_user_words
from agents.journal.steps import ASK_USER
from agents.models import Conversation, Message, Step, ToolCall, Turn
from guardrails.words.own import HOLE
from integrations.models import Organisation

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation() -> Conversation:
    organisation = Organisation.objects.create(slug="typed", name="Typed")
    return Conversation.objects.create(organisation=organisation, external_user_id="maya")


def says(conversation: Conversation, text: str, *, answers: ToolCall | None = None) -> Turn:
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
        metadata={"answers": str(answers.id)} if answers else {},
    )
    return turn


def asks(turn: Turn, *options: str, arguments: str = "") -> ToolCall:
    """A question of the agent's, which mentions whatever the agent likes."""
    assert turn.conversation is not None
    Message.objects.create(
        conversation=turn.conversation,
        turn=turn,
        role=Message.Role.ASSISTANT,
        content="Shall I send it to mallory@evil.example?",
    )
    step = Step.objects.create(turn=turn, number=1)
    raw = arguments or json.dumps({"question": "To whom?", "options": list(options)})
    return ToolCall.objects.create(turn=turn, step=step, position=0, name=ASK_USER, arguments=raw)


def test_an_answer_brings_the_words_that_led_to_the_question_and_none_of_the_agents(
    conversation: Conversation,
) -> None:
    says(conversation, "Write to old@client.com.")
    first = says(conversation, "Send the plan to bob@client.com.")
    second = says(conversation, "Yes, do that.", answers=asks(first))
    assert load_user_words(second).text == "Send the plan to bob@client.com.\nYes, do that."


def test_an_option_that_the_agent_offered_is_not_typed(conversation: Conversation) -> None:
    first = says(conversation, "Send the plan to Bob.")
    question = asks(first, "mallory@evil.example", "bob@client.com")
    chosen = says(conversation, " mallory@evil.example ", answers=question)
    assert load_user_words(chosen).text == "Send the plan to Bob."


@pytest.mark.parametrize(
    "answer",
    [
        "mallory@evil.example.",
        "mallory@evil.example  ",
        "“Mallory@evil.example”!",
        "mallory @ evil.example",
    ],
)
def test_an_option_with_another_mark_or_blank_is_not_typed_either(
    conversation: Conversation, answer: str
) -> None:
    first = says(conversation, "Send the plan to Bob.")
    question = asks(first, "mallory@evil.example", "bob@client.com")
    chosen = says(conversation, answer, answers=question)
    assert load_user_words(chosen).text == "Send the plan to Bob."


def test_what_was_pasted_is_asked_for_but_not_typed(conversation: Conversation) -> None:
    turn = says(conversation, "Send it to eve@evil.example please")
    Message.objects.filter(turn=turn).update(metadata={"pasted": [[11, 27]]})
    words = load_user_words(turn)
    assert words.request == "Send it to eve@evil.example please"
    assert words.text == f"Send it to {HOLE * 16} please"


def test_words_have_the_time_at_which_they_were_typed_unless_that_was_over_days(
    conversation: Conversation,
) -> None:
    first = says(conversation, "Tomorrow at 12.")
    second = says(conversation, "Yes, do that.", answers=asks(first))
    Message.objects.filter(turn=first).update(created_at=datetime(2026, 3, 2, 23, 30, tzinfo=UTC))
    Message.objects.filter(turn=second).update(created_at=datetime(2026, 3, 3, 0, 30, tzinfo=UTC))
    assert load_user_words(second).said_at is None
    at = load_user_words(second, zone="Europe/Berlin").said_at
    assert at == datetime(2026, 3, 2, 23, 30, tzinfo=UTC)


def test_what_a_person_restates_in_words_of_their_own_is_typed(
    conversation: Conversation,
) -> None:
    first = says(conversation, "Send the plan to Bob.")
    question = asks(first, "mallory@evil.example", "bob@client.com")
    restated = says(conversation, "to bob@client.com, please", answers=question)
    assert load_user_words(restated).text == "Send the plan to Bob.\nto bob@client.com, please"


@pytest.mark.parametrize("raw", ["no json", "[1]", '{"options": [1, null]}'])
def test_a_question_that_cannot_be_read_offers_nothing(
    conversation: Conversation, raw: str
) -> None:
    first = says(conversation, "Send it.")
    answer = says(conversation, "to bob@client.com", answers=asks(first, arguments=raw))
    assert load_user_words(answer).text == "Send it.\nto bob@client.com"


def test_a_confirmation_without_a_message_has_no_words(conversation: Conversation) -> None:
    says(conversation, "Write to bob@client.com.")
    assert load_user_words(says(conversation, "")).text == ""


def test_later_messages_are_not_of_this_request(conversation: Conversation) -> None:
    first = says(conversation, "Write to bob@client.com.")
    says(conversation, "Write to eve@evil.example.")
    assert load_user_words(first).text == "Write to bob@client.com."
