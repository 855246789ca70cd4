"""Answers of a data service that is broken, or not what it says it is."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from integrations import exceptions, http
from integrations.exceptions import ProviderError

LIMIT = 10_000


class _Service(BaseHTTPRequestHandler):
    status: ClassVar[int] = 200
    headers_sent: ClassVar[dict[str, str]] = {}
    body: ClassVar[bytes] = b"{}"
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:  # the name that the server looks for
        self.asked.append(self.path)
        self.send_response(self.status)
        for name, value in ({"Content-Length": str(len(self.body))} | self.headers_sent).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(self.body)
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Not into the test's output."""


@contextmanager
def answering(
    body: bytes, *, status: int = 200, headers: dict[str, str] | None = None
) -> Iterator[tuple[str, list[str]]]:
    """Where it is, and what it was asked for."""
    asked: list[str] = []
    values = {"status": status, "headers_sent": headers or {}, "body": body, "asked": asked}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Service", (_Service,), values))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
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
