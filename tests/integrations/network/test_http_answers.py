"""Answers of a data service that is broken, or not what it says it is."""

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from time import sleep
from typing import Any, ClassVar

import pytest

from integrations import exceptions
from integrations.exceptions import ProviderError
from integrations.network import http

LIMIT = 10_000


class _Service(BaseHTTPRequestHandler):
    status: ClassVar[int] = 200
    headers_sent: ClassVar[dict[str, str]] = {}
    body: ClassVar[bytes] = b"{}"
    asked: ClassVar[list[str]] = []
    pause: ClassVar[float] = 0.0  # after each byte of the body

    def do_GET(self) -> None:  # the name that the server looks for
        self.asked.append(self.path)
        self.send_response(self.status)
        for name, value in ({"Content-Length": str(len(self.body))} | self.headers_sent).items():
            self.send_header(name, value)
        self.end_headers()
        try:
            for place in range(len(self.body)) if self.pause else ():
                self.wfile.write(self.body[place : place + 1])
                sleep(self.pause)
        except OSError:
            return  # nobody waits for it any more
        if not self.pause:
            self.wfile.write(self.body)
        self.close_connection = True

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: Any) -> None:
        """Not into the test's output."""


@contextmanager
def answering(
    body: bytes, *, status: int = 200, headers: dict[str, str] | None = None, pause: float = 0.0
) -> Iterator[tuple[str, list[str]]]:
    """Where it is, and what it was asked for."""
    asked: list[str] = []
    values = {"status": status, "headers_sent": headers or {}, "body": body, "asked": asked}
    values["pause"] = pause
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Service", (_Service,), values))
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def _strict(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    settings.DATA_SERVICE_ATTEMPTS = 1
    monkeypatch.setattr(http, "MAX_ANSWER_BYTES", LIMIT)
    yield
    http.close_clients()


def failure(url: str) -> ProviderError:
    with pytest.raises(ProviderError) as found:
        http.request(http.client(url), "GET", "/emails")
    return found.value


def test_an_answer_of_the_largest_size_is_read() -> None:
    body = b'"' + b"x" * (LIMIT - 2) + b'"'
    with answering(body) as (url, _):
        assert http.request(http.client(url), "GET", "/emails") == "x" * (LIMIT - 2)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b'"' + b"x" * LIMIT + b'"', {}),
        (gzip.compress(b" " * 50_000_000), {"Content-Encoding": "gzip"}),
        (b"<html>", {}),
        (b"", {}),
        (b"[" * 9_000, {}),
        (b"\xff\xfe", {}),
    ],
    ids=["long", "bomb", "markup", "nothing", "deep", "no text"],
)
def test_what_is_no_answer_is_malformed_and_asking_again_does_not_help(
    body: bytes, headers: dict[str, str]
) -> None:
    with answering(body, headers=headers) as (url, asked):
        error = failure(url)

    assert (type(error), error.code, error.retryable) == (
        exceptions.Malformed,
        "malformed_answer",
        False,
    )
    assert asked == ["/emails"]


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (302, "rejected", False),
        (400, "rejected", False),
        (401, "not_permitted", False),
        (403, "not_permitted", False),
        (404, "not_found", False),
        (408, "unavailable", True),
        (412, "changed", False),
        (422, "rejected", False),
        (429, "rate_limited", True),
        (500, "unavailable", True),
        (503, "unavailable", True),
    ],
)
def test_every_refusal_says_whether_asking_again_helps(
    status: int, code: str, retryable: bool
) -> None:
    headers = {"Location": "http://127.0.0.1:1/", "Retry-After": "7"}
    with answering(b"x" * (LIMIT - 1), status=status, headers=headers) as (url, asked):
        error = failure(url)

    assert (error.code, error.retryable, error.retry_after) == (code, retryable, 7.0)
    assert asked == ["/emails"]
    assert len(str(error)) < 600


def test_an_answer_that_breaks_off_may_be_whole_the_next_time() -> None:
    with answering(b'{"items": [', headers={"Content-Length": "5000"}) as (url, _):
        error = failure(url)

    assert (error.code, error.retryable) == ("unavailable", True)


TRICKLED = [
    (200, b'"' + b"x" * 1_000 + b'"', {}),
    (503, b"x" * 1_000, {}),
    # Its head has a name of a thousand bytes: nothing comes of it for as long as that takes.
    (200, b"\x1f\x8b\x08\x08" + b"\0" * 6 + b"n" * 1_000, {"Content-Encoding": "gzip"}),
]


@pytest.mark.parametrize(("status", "body", "headers"), TRICKLED, ids=["text", "error", "packed"])
def test_an_answer_in_drops_is_not_waited_for_and_not_asked_for_again_at_once(
    status: int, body: bytes, headers: dict[str, str], settings: Any
) -> None:
    settings.DATA_SERVICE_ATTEMPTS = 4
    settings.DATA_SERVICE_ANSWER_SECONDS = 0.5
    with answering(body, status=status, headers=headers, pause=0.01) as (url, asked):
        error = failure(url)

    assert (type(error), error.code, error.retryable) == (exceptions.TooSlow, "too_slow", True)
    assert asked == ["/emails"]


def fetch(url: str) -> None:
    http.download(http.client(url), "/files/f1", into=BytesIO(), most_bytes=LIMIT)


def send(url: str) -> None:
    http.request(http.client(url), "POST", "/emails/send", body={}, idempotency_key="k")


@pytest.mark.parametrize(("ask", "path"), [(fetch, "/files/f1"), (send, "/emails/send")])
def test_a_file_or_a_writes_answer_in_drops_is_not_waited_for_and_what_was_done_is_unknown(
    ask: Callable[[str], None], path: str, settings: Any
) -> None:
    settings.DATA_SERVICE_ATTEMPTS = 4
    settings.DATA_SERVICE_ANSWER_SECONDS = 0.5
    with (
        answering(b"x" * 1_000, pause=0.01) as (url, asked),
        pytest.raises(exceptions.TooSlow) as found,
    ):
        ask(url)

    assert found.value.outcome_unknown is True
    assert asked == [path]


def test_a_callback_that_is_answered_in_drops_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http, "POST_SECONDS", 0.5)
    with (
        answering(b"x" * 1_000, pause=0.01) as (url, _),
        pytest.raises(exceptions.TooSlow),
    ):
        http.post(url, body=b"{}", headers={}, most_bytes=LIMIT)


def test_an_answer_in_drops_that_ends_in_time_is_read() -> None:
    with answering(b'{"items": []}', pause=0.001) as (url, _):
        assert http.request(http.client(url), "GET", "/emails") == {"items": []}
