import uuid
from dataclasses import replace

from hypothesis import given, strategies as st

from agents.context.prompts import LIMIT_SENTENCES
from agents.contracts import CallRecord, StepRecord, failure
from agents.journal.steps import (
    ASK_USER,
    CallModel,
    Limits,
    Question,
    Reply,
    RunCalls,
    Stop,
    next_step,
)
from integrations.llm.deadline import Deadline

SOON, PAST = Deadline.after(3600), Deadline.after(0)
LIMITS = Limits(max_steps=3, max_tool_calls=5)
DONE = {"success": True, "data": {}}


def call(name: str = "retrieve_context", *, done: bool = False) -> CallRecord:
    return CallRecord(
        id=uuid.uuid4(),
        name=name,
        arguments="{}",
        action_id=uuid.uuid4(),
        result=DONE if done else None,
    )


def step(*calls: CallRecord, text: str = "") -> StepRecord:
    return StepRecord(number=1, text=text, finish_reason="stop", calls=calls)


def test_a_new_run_asks_the_model() -> None:
    assert next_step(steps=[], deadline=SOON, limits=LIMITS) == CallModel()


def test_a_text_without_calls_is_the_reply() -> None:
    found = next_step(steps=[step(text="Hello")], deadline=SOON, limits=LIMITS)

    assert found == Reply(text="Hello")


def test_open_calls_are_run_before_anything_else_whatever_the_limits_say() -> None:
    left, right = call(), call()

    found = next_step(steps=[step(left, right)] * 3, deadline=PAST, limits=LIMITS)

    assert found == RunCalls(calls=(left, right))


def test_too_many_questions_to_people_suspend_the_run() -> None:
    full = failure("TOO_MANY_ASKS", "Too many actions are already waiting for a person.")
    refused = replace(call(), result=replace(full, suspends=True).wire())

    found = next_step(steps=[step(call(done=True), refused)], deadline=SOON, limits=LIMITS)

    assert found == Stop(limit="asks")
    assert LIMIT_SENTENCES["asks"].startswith("I stopped because too many actions wait")


def test_a_question_waits_until_the_calls_beside_it_have_results() -> None:
    question, other = call(ASK_USER), call()

    first = next_step(steps=[step(question, other)], deadline=SOON, limits=LIMITS)
    then = next_step(
        steps=[step(question, call(done=True), text="Who?")], deadline=SOON, limits=LIMITS
    )

    assert first == RunCalls(calls=(other,))
    assert then == Question(call=question, text="Who?")


def test_a_second_question_in_one_step_is_not_asked() -> None:
    first, second = call(ASK_USER), call(ASK_USER)

    found = next_step(steps=[step(first, second)], deadline=SOON, limits=LIMITS)

    assert found == RunCalls(calls=(second,))


def test_each_limit_ends_the_run_by_its_name() -> None:
    done = step(call(done=True))

    assert next_step(steps=[done] * 3, deadline=SOON, limits=LIMITS) == Stop(limit="steps")
    assert next_step(steps=[done], deadline=PAST, limits=LIMITS) == Stop(limit="seconds")
    many = step(*(call(done=True) for _ in range(5)))
    assert next_step(steps=[many], deadline=SOON, limits=LIMITS) == Stop(limit="tool_calls")


@given(
    done=st.lists(st.lists(st.booleans(), max_size=4), max_size=6),
    deadline=st.sampled_from([SOON, PAST]),
)
def test_the_model_is_never_asked_while_a_call_is_open(
    done: list[list[bool]], deadline: Deadline
) -> None:
    steps = [step(*(call(done=flag) for flag in flags)) for flags in done]

    found = next_step(steps=steps, deadline=deadline, limits=LIMITS)

    if steps and not all(done[-1]):
        assert isinstance(found, RunCalls)
    if isinstance(found, CallModel):
        assert len(steps) < LIMITS.max_steps
        assert deadline is SOON
