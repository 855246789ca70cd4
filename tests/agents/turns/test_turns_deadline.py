"""Turns against the clock, over real HTTP: what the user reads, and what was asked for it."""

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import tenacity
from django.utils import timezone

from agents.context.prompts import LIMIT_SENTENCES
from agents.models import Message, ToolCall, Turn, TurnEvent
from agents.turns import turns
from agents.turns.turns import ERROR_SENTENCE
from integrations.llm import attempts, deadline
from integrations.models import Account, ModelCall
from knowledge.models import Item
from tests.model_server import (
    Dribble,
    Failure,
    Hang,
    Reply,
    Script,
    ScriptedModel,
    calls,
    scripted_model,
)

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR, TASK = "You are Remit's orchestrator.", "You are Remit's task specialist."
EXTRACTION, REVIEWER = "You extract tasks.", "You are Remit's reviewer."
LOOK = calls(("retrieve_context", {"query": "contract"}))
DELEGATE = calls(("delegate_to_specialist", {"specialist": "task", "task": "Extract tasks."}))
EXTRACT = calls(("extract_tasks", {"item_id": "fence"}))
LEFT = 3  # seconds for what hangs, on a busy machine too


@pytest.fixture(autouse=True)
def fence(turn: Turn) -> None:
    Item.objects.create(
        account=Account.objects.get(),
        source="gmail",
        source_id="fence",
        content_type="email",
        text="Paint the fence.",
        identifiers=["fence"],
        occurred_at=timezone.now(),
        ingested_at=timezone.now(),
    )


def run(turn: Turn, settings: Any, script: Script, *, stream: bool = False) -> ScriptedModel:
    with scripted_model(settings, script) as model:
        turns.run_turn(turn.id, stream=stream)
    turn.refresh_from_db()
    return model


def said(turn: Turn) -> str:
    return Message.objects.get(turn=turn, role="assistant").content


class Clock:
    """The clock of deadlines. A model can let time pass on it."""

    def __init__(self, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        settings.TURN_MAX_SECONDS, self.ahead = 100 + LEFT, 0
        monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=self.monotonic))

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead

    def after_long(self, *replies: Reply) -> Callable[[dict[str, Any]], Reply]:
        """The first of these replies takes nearly all the time that a turn has."""
        given = iter(replies)

        def answer(_: dict[str, Any]) -> Reply:
            self.ahead = 100
            return next(given)

        return answer


@pytest.fixture
def clock(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(settings, monkeypatch)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("reply", [Hang(), Dribble()])
def test_a_turn_whose_model_does_not_come_to_an_end_says_that_it_took_too_long(
    turn: Turn, settings: Any, reply: Reply, stream: bool
) -> None:
    settings.TURN_MAX_SECONDS = LEFT
    model = run(turn, settings, {ORCHESTRATOR: [reply]}, stream=stream)

    assert (turn.state, turn.ending) == (Turn.State.FINISHED, Turn.Ending.LIMIT)
    assert said(turn) == LIMIT_SENTENCES["seconds"]
    assert len(model.chats()) == 1


def test_a_turn_whose_model_is_away_says_so_and_does_not_wait_beyond_its_time(
    turn: Turn, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "_backoff", tenacity.wait_fixed(1000))
    model = run(turn, settings, {ORCHESTRATOR: lambda _: Failure(503, pass_by=True)})

    assert (turn.state, said(turn)) == (Turn.State.FAILED, ERROR_SENTENCE)
    assert len(model.chats()) == 1


def test_what_was_done_before_time_ran_out_stays(turn: Turn, settings: Any, clock: Clock) -> None:
    model = run(turn, settings, {ORCHESTRATOR: clock.after_long(LOOK, Hang())}, stream=True)

    assert (turn.ending, len(model.chats())) == (Turn.Ending.LIMIT, 2)
    call = ToolCall.objects.get(turn=turn)
    assert call.result is not None
    assert call.result["success"] is True
    events = TurnEvent.objects.filter(turn=turn).order_by("sequence")
    assert list(events.values_list("type", flat=True))[-2:] == ["tool.finished", "turn.finished"]
    assert set(ModelCall.objects.values_list("purpose", "error_code")) == {
        ("orchestrator", ""),
        ("embedding", ""),
        ("orchestrator", "timeout"),
    }


@pytest.mark.parametrize("below", [{TASK: [Hang()]}, {TASK: [EXTRACT], EXTRACTION: [Dribble()]}])
def test_a_specialist_and_its_tools_have_no_more_time_than_their_turn(
    turn: Turn, settings: Any, clock: Clock, below: Script
) -> None:
    model = run(turn, settings, {ORCHESTRATOR: clock.after_long(DELEGATE), **below})

    assert (turn.ending, said(turn)) == (Turn.Ending.LIMIT, LIMIT_SENTENCES["seconds"])
    assert len(model.chats()) == 1 + len(below)
    assert not ToolCall.objects.filter(turn=turn, result=None).exists()


def test_every_call_below_a_turn_is_given_what_is_left_of_it(turn: Turn, settings: Any) -> None:
    settings.TURN_MAX_SECONDS, settings.MODEL_TIMEOUT_SECONDS = 100, 1000
    settings.TOOL_TIMEOUT_SECONDS = 500
    settings.REVIEW_MIN_CALLS = 1
    model = run(
        turn,
        settings,
        {
            ORCHESTRATOR: [LOOK, DELEGATE, "I sent the mail.", "Nothing was sent."],
            TASK: [EXTRACT, "One task."],
            EXTRACTION: [{"tasks": []}],
        },
    )

    # Look, its vector, delegate, extract, the extraction, the task's last word, the turn's, the
    # review of what it claims, and the turn's again.
    assert len(model.patience) == len(model.requests) == 9
    vector, others = model.patience[1], [model.patience[0], *model.patience[2:]]
    assert vector <= 3  # a search without one finds by words
    assert others == sorted(set(others), reverse=True)
    assert others[0] <= 100


def test_a_call_of_a_tool_that_reads_ends_with_the_tool(turn: Turn, settings: Any) -> None:
    settings.TURN_MAX_SECONDS, settings.TOOL_TIMEOUT_SECONDS = 100, 30
    settings.MODEL_TIMEOUT_SECONDS = 1000
    model = run(turn, settings, {ORCHESTRATOR: [LOOK, "Nothing."]})
    first, vector, last = model.patience
    assert vector <= 30 < last < first
