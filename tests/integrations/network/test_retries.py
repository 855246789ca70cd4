"""When a request is made once more."""

from contextlib import nullcontext

import pytest

from integrations import exceptions
from integrations.network import retries


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        *[("3", 3.0), ("-1", 0.0), ("soon", None), ("", None), ("nan", None)],
        *[("inf", 86_400.0), ("1e400", 86_400.0), ("9" * 400, 86_400.0)],
    ],
)
def test_retry_after_is_read_in_seconds(header: str, seconds: float | None) -> None:
    assert retries.retry_after(header) == seconds


def test_retry_after_is_read_as_a_date() -> None:
    assert retries.retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert retries.retry_after("Fri, 31 Dec 9999 23:59:59 -2359") == 86_400.0


def test_what_the_service_asks_for_is_waited_with_some_more_each_time_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("tenacity.nap.time.sleep", waited.append)

    def busy() -> None:
        raise exceptions.RateLimited("429", retry_after=7.0)

    for _ in range(5):
        with pytest.raises(exceptions.RateLimited):
            retries.tried(busy, attempts=4, slot=nullcontext)

    assert len(waited) == 15
    assert all(7.0 <= seconds <= 7.0 + retries.MAX_WAIT_SECONDS for seconds in waited)
    assert len(set(waited)) == 15, "who heard the same must not come back as one"


def test_each_wait_may_be_twice_as_long_as_the_one_before_up_to_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("tenacity.nap.time.sleep", waited.append)
    monkeypatch.setattr("random.uniform", lambda least, most: most)

    def away() -> None:
        raise exceptions.Unavailable("503")

    with pytest.raises(exceptions.Unavailable):
        retries.tried(away, attempts=10, slot=nullcontext)

    assert waited == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 20.0])


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (exceptions.RateLimited("429"), 3),
        (exceptions.Unavailable("503"), 3),
        (exceptions.RateLimited("429", retry_after=retries.MAX_WAIT_SECONDS + 1), 1),
        (exceptions.Rejected("400"), 1),
        (exceptions.NotFound("404"), 1),
        (exceptions.NotPermitted("401"), 1),
        (exceptions.Malformed("no JSON"), 1),
        (exceptions.TooSlow("drops"), 1),
    ],
)
def test_only_what_may_pass_soon_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, error: exceptions.ProviderError, tries: int
) -> None:
    monkeypatch.setattr("tenacity.nap.time.sleep", lambda _: None)
    asked: list[int] = []

    def fails() -> None:
        asked.append(1)
        raise error

    with pytest.raises(type(error)):
        retries.tried(fails, attempts=3, slot=nullcontext)
    assert len(asked) == tries
