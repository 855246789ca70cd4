import threading
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from time import monotonic
from typing import Any

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from integrations.exceptions import (
    CircuitOpen,
    NotFound,
    NotPermitted,
    ProviderError,
    RateLimited,
    Unavailable,
)
from integrations.models import Upstream
from integrations.network import gate
from integrations.network.gate import CIRCUIT_FAILURES, Gate

pytestmark = pytest.mark.django_db


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long callers were made to wait, instead of waiting."""
    waited: list[float] = []
    monkeypatch.setattr(gate, "sleep", waited.append)
    return waited


def send(error: ProviderError | None = None) -> None:
    with Gate("acme").slot():
        if error is not None:
            raise error


def fail(count: int, error: Callable[[], ProviderError] = Unavailable) -> None:
    for _ in range(count):
        with pytest.raises(ProviderError):
            send(error())


def row() -> Upstream:
    return Upstream.objects.get(name="acme")


def closed_again() -> None:
    """As if the time of the open circuit had passed."""
    Upstream.objects.update(opened_until=row().next_at)


def test_a_burst_goes_through_and_then_requests_are_spaced(
    settings: Any, waits: list[float]
) -> None:
    settings.DATA_SERVICE_RATE, settings.DATA_SERVICE_BURST = 0.5, 3

    for _ in range(5):
        send()

    assert [round(wait) for wait in waits] == [2, 4]


def test_who_would_wait_too_long_learns_when_to_come_back_and_nothing_is_sent(
    settings: Any, waits: list[float]
) -> None:
    settings.DATA_SERVICE_RATE, settings.DATA_SERVICE_BURST = 0.01, 1
    send()
    sent: list[str] = []

    with pytest.raises(RateLimited) as caught, Gate("acme").slot():
        sent.append("request")

    assert sent == []
    assert caught.value.retryable is True
    assert caught.value.outcome_unknown is False
    assert caught.value.retry_after is not None
    assert 90 < caught.value.retry_after <= 100


def test_one_service_does_not_slow_another(settings: Any, waits: list[float]) -> None:
    settings.DATA_SERVICE_RATE, settings.DATA_SERVICE_BURST = 0.01, 1
    for name in ("acme", "other"):
        with Gate(name).slot():
            pass

    assert waits == []


def test_when_it_asks_to_be_left_alone_everybody_leaves_it_alone(waits: list[float]) -> None:
    fail(1, lambda: RateLimited("429", retry_after=7))
    send()

    [wait] = waits
    assert 6 < wait <= 7
    assert row().last_error == "rate_limited"


def test_a_long_rest_is_kept_to_the_end(waits: list[float]) -> None:
    fail(1, lambda: RateLimited("429", retry_after=600))

    with pytest.raises(RateLimited) as caught:
        send()

    assert waits == []
    assert 590 < (caught.value.retry_after or 0) <= 600


def test_the_circuit_opens_after_failures_in_a_row_and_nothing_is_sent() -> None:
    fail(CIRCUIT_FAILURES)
    sent: list[str] = []

    with pytest.raises(CircuitOpen) as caught, Gate("acme").slot():
        sent.append("request")

    assert sent == []
    assert (caught.value.retryable, caught.value.outcome_unknown) == (True, False)
    assert 0 < (caught.value.retry_after or 0) <= gate.OPEN_SECONDS
    assert row().failures == CIRCUIT_FAILURES


@pytest.mark.parametrize("between", [None, NotFound("404"), NotPermitted("403")])
def test_an_answer_in_between_keeps_the_circuit_closed(between: ProviderError | None) -> None:
    fail(CIRCUIT_FAILURES - 1)
    if between is None:
        send()
    else:
        fail(1, lambda: between)
    fail(CIRCUIT_FAILURES - 1)

    send()
    assert row().failures == 0


def test_after_a_while_one_request_tries_and_its_answer_closes_the_circuit() -> None:
    fail(CIRCUIT_FAILURES)
    closed_again()

    with Gate("acme").slot(), pytest.raises(CircuitOpen):
        send()  # another one, while the first is under way

    send()
    assert (row().failures, row().opened_until) == (0, None)


def test_a_try_that_fails_opens_the_circuit_again_for_longer() -> None:
    fail(CIRCUIT_FAILURES)
    for _ in range(20):
        closed_again()
        fail(1)

    with pytest.raises(CircuitOpen) as caught:
        send()

    assert gate.OPEN_SECONDS < (caught.value.retry_after or 0) <= gate.MAX_OPEN_SECONDS


def test_requests_that_were_under_way_when_it_opened_keep_it_shut_no_longer() -> None:
    def send_many() -> None:
        with ExitStack() as under_way:
            for _ in range(CIRCUIT_FAILURES * 3):
                under_way.enter_context(Gate("acme").slot())
            raise Unavailable

    with pytest.raises(Unavailable):
        send_many()

    assert row().failures == CIRCUIT_FAILURES
    with pytest.raises(CircuitOpen) as caught:
        send()
    assert (caught.value.retry_after or 0) <= gate.OPEN_SECONDS


@pytest.mark.django_db(transaction=True)
def test_the_pace_is_one_for_many_connections(settings: Any, waits: list[float]) -> None:
    settings.DATA_SERVICE_RATE, settings.DATA_SERVICE_BURST = 1, 1
    begin = threading.Barrier(8)

    def caller() -> None:
        try:
            begin.wait()
            send()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=caller) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(round(wait) for wait in waits) == [1, 2, 3, 4, 5, 6, 7]


def test_slots_are_taken_by_the_handful_while_there_is_room(settings: Any) -> None:
    settings.DATA_SERVICE_RATE, settings.DATA_SERVICE_BURST = 0.01, 1_000
    takes = 0
    with CaptureQueriesContext(connection) as found:
        for _ in range(1 + 2 * gate.HANDFUL):
            send()
        takes = len(found)

    assert takes == 3  # one, a handful and a handful
    left = (timezone.now() - row().next_at).total_seconds()
    assert round(1_000 - left * 0.01) == 1 + 2 * gate.HANDFUL


@pytest.mark.django_db(transaction=True)
def test_threads_side_by_side_use_what_one_of_them_takes(settings: Any) -> None:
    settings.DATA_SERVICE_RATE, settings.DATA_SERVICE_BURST = 0.01, 1_000
    send()
    begin = threading.Barrier(gate.HANDFUL)

    def caller() -> None:
        try:
            begin.wait()
            send()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=caller) for _ in range(gate.HANDFUL)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    left = (timezone.now() - row().next_at).total_seconds()
    assert round(1_000 - left * 0.01) == 1 + gate.HANDFUL


def test_slots_in_hand_are_dropped_at_the_first_trouble(waits: list[float]) -> None:
    for _ in range(3):
        send()
    fail(1, lambda: RateLimited("429", retry_after=7))

    send()

    assert [round(wait) for wait in waits] == [7]


def test_slots_in_hand_do_not_keep(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        send()
    fail_elsewhere = {"opened_until": timezone.now() + timedelta(minutes=1), "failures": 8}
    Upstream.objects.filter(name="acme").update(**fail_elsewhere)
    later = monotonic() + gate.HAND_SECONDS + 0.1
    monkeypatch.setattr(gate, "monotonic", lambda: later)

    with pytest.raises(CircuitOpen):
        send()
