"""An endpoint that does not answer is left alone by all but one request."""

import pytest

from integrations.llm.circuit import FAILURES, LONGEST_SECONDS, Circuit
from integrations.llm.completions import ModelError


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def opened(clock: Clock) -> Circuit:
    circuit = Circuit("m", clock=clock)
    for code in ("unreachable", "timeout", "status_500", "status_503") * (FAILURES // 4):
        circuit.enter(seconds=60)
        circuit.note(code)
    return circuit


def is_open(circuit: Circuit) -> bool:
    try:
        circuit.enter(seconds=60)
    except ModelError as error:
        return (error.code, error.retryable) == ("endpoint_away", True)
    return False


def test_nothing_is_sent_after_failures_in_a_row_and_then_one_request_tries(clock: Clock) -> None:
    circuit = opened(clock)

    assert is_open(circuit)
    clock.now += 15
    assert not is_open(circuit)
    assert is_open(circuit)  # the others wait for that one
    circuit.note()
    assert not is_open(circuit)
    assert not is_open(circuit)


def test_each_try_that_fails_leaves_it_alone_for_longer_and_never_for_long(clock: Clock) -> None:
    circuit, pauses = opened(clock), []
    for _ in range(5):
        before = clock.now
        while is_open(circuit):
            clock.now += 1
        pauses.append(clock.now - before)
        circuit.note("timeout")

    assert pauses == [15, 15, 30, LONGEST_SECONDS, LONGEST_SECONDS]


def test_one_that_tries_and_never_comes_back_keeps_the_others_out_only_so_long(
    clock: Clock,
) -> None:
    circuit = opened(clock)
    clock.now += 15
    assert not is_open(circuit)
    clock.now += 60

    assert not is_open(circuit)


@pytest.mark.parametrize("answer", ["", "status_400", "status_401", "status_429", "stream_cut"])
def test_a_refusal_is_an_answer(clock: Clock, answer: str) -> None:
    circuit = Circuit("m", clock=clock)
    for _ in range(3):
        for _ in range(FAILURES - 1):
            circuit.note("status_502")
        circuit.note(answer)

    assert not is_open(circuit)
