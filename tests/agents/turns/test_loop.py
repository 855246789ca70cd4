"""Runs as a whole, over real HTTP, with a scripted model."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from agents.answer import records
from agents.context import prompts
from agents.context.prompts import LIMIT_SENTENCES
from agents.contracts import ToolResult, failure
from agents.journal import journal
from agents.models import Message, Turn, TurnEvent
from agents.tools import retrieve_context
from agents.turns import turns
from audit.ledger import selectors
from integrations.llm import metering, profiles
from integrations.llm.completions import UNREADABLE
from integrations.llm.json_protocol import SHAPE
from integrations.models import Account, Budget
from tests.model_server import (
    Cut,
    Failure,
    Message as Said,
    Reply,
    Script,
    ScriptedModel,
    calls,
    scripted_model,
)

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR = "You are Remit's orchestrator."


@pytest.fixture
def model(settings: Any, request: pytest.FixtureRequest) -> Iterator[ScriptedModel]:
    script: Script = {ORCHESTRATOR: request.param}
    with scripted_model(settings, script) as running:
        yield running


def looks(*queries: str) -> Said:
    return calls(*(("retrieve_context", {"query": query}) for query in queries))


def answers(monkeypatch: pytest.MonkeyPatch, *results: ToolResult) -> None:
    """Let searches give these results, in order."""
    left = list(results)
    monkeypatch.setitem(
        retrieve_context.TOOL.__dict__, "run", lambda *_: left.pop(0) if left else found()
    )


def found() -> ToolResult:
    return ToolResult(success=True, data={"found": 0, "items": []})


def reply(turn: Turn) -> tuple[str, str]:
    turn.refresh_from_db()
    return turn.ending, Message.objects.get(turn=turn, role="assistant").content


@pytest.mark.parametrize(
    "model", [[looks("a"), looks("b"), looks("c"), looks("d"), "Nothing there."]], indirect=True
)
def test_a_tool_called_again_and_again_is_not_run_and_the_model_may_still_answer(
    turn: Turn, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch)

    turns.run_turn(turn.id)

    assert reply(turn) == ("reply", "Nothing there.")
    given = [call.result for call in turn.calls.order_by("step_id") if call.result]
    assert [(g.get("error") or {}).get("code") for g in given] == [None] * 3 + ["TOO_MANY_CALLS"]


@pytest.mark.parametrize("model", [[looks("a"), looks("a"), looks("A ")]], indirect=True)
def test_a_model_that_goes_on_in_circles_is_stopped_with_an_answer(
    turn: Turn, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch)

    turns.run_turn(turn.id)

    assert reply(turn) == ("limit", LIMIT_SENTENCES["loop"])


@pytest.mark.parametrize(
    "model", [[looks("a"), looks("b"), looks("c"), "I could not search."]], indirect=True
)
def test_a_tool_that_fails_again_and_again_is_taken_away_and_the_model_learns_it(
    turn: Turn, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch, *[failure("NETWORK_ERROR", "Away.", recoverable=True)] * 3)

    turns.run_turn(turn.id)

    *before, last = model.chats()
    assert all("retrieve_context" in offered(body) for body in before)
    assert "retrieve_context" not in offered(last)
    assert last["messages"][-1] == {
        "role": "system",
        "content": "[tools] Failed again and again, so not here: retrieve_context",
    }
    decided = TurnEvent.objects.filter(turn=turn, type="decision").values_list("data", flat=True)
    assert list(decided) == [{"decision": "tool_rests", "tool": "retrieve_context"}]
    assert reply(turn) == ("reply", "I could not search.")


@pytest.mark.parametrize("model", [[looks("a")]], indirect=True)
@pytest.mark.parametrize(
    ("setting", "most", "limit"),
    [("TURN_MAX_TOKENS", 15, "tokens"), ("TURN_MAX_COST", Decimal("0.000075"), "cost")],
)
def test_a_turn_that_has_used_what_it_may_ends_with_an_answer(
    turn: Turn,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    setting: str,
    most: Any,
    limit: str,
) -> None:
    answers(monkeypatch)
    settings.CHAT_MODEL = "gpt-4o"  # 10 tokens asked and 5 answered cost 0.000075 dollars
    setattr(settings, setting, most)

    turns.run_turn(turn.id)

    assert reply(turn) == ("limit", LIMIT_SENTENCES[limit])
    assert len(model.chats()) == 1


DELEGATES = calls(("delegate_to_specialist", {"specialist": "task", "task": "Find tasks"}))


@pytest.mark.parametrize("most", [15, 30, 31])
def test_a_specialist_spends_from_its_turns_limits(turn: Turn, settings: Any, most: int) -> None:
    """Each answer takes 15 tokens: with 15, no specialist is asked."""
    settings.TURN_MAX_TOKENS = most
    specialist = "You are Remit's task specialist."
    script: Script = {ORCHESTRATOR: [DELEGATES, "Done."] if most == 31 else [DELEGATES]}
    asked: Script = {specialist: ["I prepared nothing."]} if most > 15 else {}
    with scripted_model(settings, {**script, **asked}) as model:
        turns.run_turn(turn.id)

    expected = ("reply", "Done.") if most == 31 else ("limit", LIMIT_SENTENCES["tokens"])
    assert reply(turn) == expected
    assert len(model.chats(specialist)) == (most > 15)


def test_a_budget_without_room_ends_the_turn_with_its_sentence(turn: Turn, settings: Any) -> None:
    Budget.objects.create(organisation_id=turn.organisation_id, max_tokens=0)
    with scripted_model(settings, {}):
        turns.run_turn(turn.id)

    assert reply(turn) == ("limit", metering.SENTENCE)
    assert turn.error_code == "budget_exhausted"


@pytest.mark.parametrize(
    ("sentence", "replies"),
    [
        (LIMIT_SENTENCES["tokens"], [looks("a")]),
        (LIMIT_SENTENCES["stopped"], None),
        (prompts.ESCALATED_SENTENCE, [calls(("escalate", {"reason": "A refund."}))]),
        (metering.SENTENCE, []),
        (turns.REFUSED_SENTENCE, [Failure(400)]),
        (turns.NO_ACCOUNT_SENTENCE, []),
    ],
    ids=["limit", "stopped", "handed over", "budget", "refused", "no account"],
)
def test_however_a_turn_ends_remit_says_so_in_the_users_language(
    turn: Turn, settings: Any, sentence: str, replies: list[Reply] | None
) -> None:
    settings.TURN_MAX_TOKENS = 15 if sentence == LIMIT_SENTENCES["tokens"] else 0
    Turn.objects.filter(id=turn.id).update(language="de")
    if sentence == metering.SENTENCE:
        Budget.objects.create(organisation_id=turn.organisation_id, max_tokens=0)
    if sentence == turns.NO_ACCOUNT_SENTENCE:
        Account.objects.filter(organisation=turn.organisation).delete()
    with scripted_model(settings, {ORCHESTRATOR: replies or []}):
        if replies is None:
            turns.stop_turn(turn.id, by="maya", now=timezone.now())
        else:
            turns.run_turn(turn.id)

    german = records.say(sentence, language="de")
    assert german != sentence
    assert reply(turn)[1] == german


def test_text_that_broke_off_is_taken_back_from_who_follows(turn: Turn, settings: Any) -> None:
    with scripted_model(settings, {ORCHESTRATOR: [Cut("Half"), "Whole."]}):
        turns.run_turn(turn.id, stream=True)

    types = TurnEvent.objects.filter(turn=turn).values_list("type", flat=True)
    assert "text.restarted" in types
    assert reply(turn) == ("reply", "Whole.")


def offered(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body["tools"]]


def decides(*queries: str, say: str = "") -> dict[str, Any]:
    """A decision as a model without tools writes it."""
    calls = [{"tool": "retrieve_context", "arguments": {"query": query}} for query in queries]
    return {"thought": "Not for the user.", "say": say, "calls": calls}


@pytest.fixture
def without_tools(settings: Any, tmp_path: Path) -> Iterator[None]:
    """The model's endpoint knows no tools."""
    settings.CHAT_MODEL, settings.MODEL_PROFILES = "simple", str(tmp_path / "profiles.yaml")
    Path(settings.MODEL_PROFILES).write_text(
        "simple: {price: 1, cached_price: 1, answer_price: 1, protocol: json}\n"
    )
    profiles._known.cache_clear()
    yield
    profiles._known.cache_clear()


def transcript(turn: Turn) -> list[tuple[str, list[tuple[str, Any, Any]]]]:
    steps = journal.load_steps([turn.id])[(turn.id, None)]
    return [
        (step.text, [(call.name, json.loads(call.arguments), call.result) for call in step.calls])
        for step in steps
    ]


@pytest.mark.parametrize(
    "model", [[decides("a", "b"), decides(say='It is "there".\nCite [1]?')]], indirect=True
)
def test_a_model_without_tools_works_as_one_with_tools(
    turn: Turn, without_tools: None, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch)

    turns.run_turn(turn.id, stream=True)

    assert reply(turn) == ("reply", 'It is "there".\nCite?')
    nothing = found().wire()
    assert transcript(turn) == [
        (
            "",
            [
                ("retrieve_context", {"query": "a"}, nothing),
                ("retrieve_context", {"query": "b"}, nothing),
            ],
        ),
        ('It is "there".\nCite [1]?', []),
    ]
    first, second = model.chats(ORCHESTRATOR)
    assert [key in body for body in (first, second) for key in ("tools", "tool_choice")] == [
        False
    ] * 4
    assert [m["role"] for m in second["messages"]] == ["system", "user", "assistant", "user"]
    assert second["messages"][0] == first["messages"][0]  # the stable part
    assert second["messages"][-1]["content"].count("[result] retrieve_context {") == 2
    shown = TurnEvent.objects.filter(turn=turn, type="text.delta").order_by("sequence")
    heard = "".join(event.data["text"] for event in shown)
    assert heard == 'It is "there".\nCite [1]?'


@pytest.mark.parametrize("model", [[looks("a"), looks(*"bcdefgh")]], indirect=True)
def test_one_step_cannot_ask_for_more_calls_than_the_turn_has_left(
    turn: Turn, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.TURN_MAX_TOOL_CALLS = 4
    answers(monkeypatch)

    turns.run_turn(turn.id)

    codes = [
        (call.result or {}).get("error", {}).get("code")
        for call in turn.calls.order_by("step__number", "position")
    ]
    assert codes == [None] * 4 + ["TOO_MANY_CALLS"] * 4
    assert reply(turn) == ("limit", LIMIT_SENTENCES["tool_calls"])


@pytest.mark.parametrize(
    "model",
    [
        [
            Said(
                text="I will look for it.",
                thoughts="He means| the roof.",
                calls=(("call_1", "retrieve_context", '{"query": "a"}'),),
            ),
            Said(text="It is there.", thoughts="Found."),
        ]
    ],
    indirect=True,
)
def test_everything_a_model_says_and_thinks_is_streamed_and_kept_and_thoughts_are_no_answer(
    turn: Turn, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch)

    turns.run_turn(turn.id, stream=True)

    events = TurnEvent.objects.filter(turn=turn).order_by("sequence")
    kinds = [event.type for event in events]
    heard = {
        kind: "".join(event.data["text"] for event in events if event.type == kind)
        for kind in ("reasoning.delta", "text.delta")
    }
    assert heard == {
        "reasoning.delta": "He means the roof.Found.",
        "text.delta": "I will look for it.It is there.",
    }
    assert kinds.index("reasoning.delta") < kinds.index("text.delta") < kinds.index("tool.started")
    assert reply(turn) == ("reply", "It is there.")
    assert [step.text for step in turn.steps.order_by("number")] == [
        "I will look for it.",
        "It is there.",
    ]
    assert "He means" not in json.dumps(model.chats())


@pytest.mark.parametrize(
    "model",
    [
        [
            "I will look.",
            '{"say": "It was he',
            decides("a"),
            "Hm.",
            {"say": "There it is."},
        ]
    ],
    indirect=True,
)
def test_an_output_that_is_no_decision_is_observed_with_the_schema_and_asked_for_again(
    turn: Turn, without_tools: None, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch)

    turns.run_turn(turn.id, stream=True)

    assert reply(turn) == ("reply", "There it is.")
    told = [(call.result or {})["error"] for call in turn.calls.filter(name=UNREADABLE)]
    assert [(error["code"], error["recoverable"]) for error in told] == [
        ("INVALID_INPUT", True)
    ] * 3
    assert all(SHAPE in error["suggested_action"] for error in told)
    again = model.chats(ORCHESTRATOR)[1]["messages"]
    assert again[-2] == {"role": "assistant", "content": "I will look."}
    assert again[-1]["content"].startswith("[result] unreadable_answer {")
    kinds = TurnEvent.objects.filter(turn=turn, type__startswith="text").order_by("sequence")
    assert "text.restarted" in [event.type for event in kinds]
    assert selectors.actions_of_run(tenant_id=turn.organisation_id, run_id=str(turn.id)) == ()


@pytest.mark.parametrize("model", [["Hm.", "Hm.", "Hm."]], indirect=True)
def test_after_two_retries_it_fails_clearly(
    turn: Turn, without_tools: None, model: ScriptedModel
) -> None:
    turns.run_turn(turn.id)
    assert reply(turn) == ("limit", LIMIT_SENTENCES["unreadable"])
