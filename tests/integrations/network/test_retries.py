"""When a request is made once more."""

import pytest

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
