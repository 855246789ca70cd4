import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Thread, current_thread
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import override_settings
from django.urls import path

from config.door.handler import get_application

Message = Mapping[str, Any]
ended: list[str] = []
views: list[Thread] = []


def look(request: HttpRequest) -> HttpResponse:
    views.append(current_thread())
    return HttpResponse(request.body)


def follow(_: HttpRequest) -> StreamingHttpResponse:
    async def chunks() -> AsyncIterator[bytes]:
        try:
            yield b"first"
            await asyncio.Future()
        finally:
            ended.append("chunks")

    return StreamingHttpResponse(chunks())


urlpatterns = [path("look", look), path("follow", follow)]


def ask(path: str, *, stay_for: int) -> list[Message]:
    """What is sent to somebody who hangs up after so many messages."""
    sent: list[Message] = []

    async def get() -> None:
        heard = iter([{"type": "http.request", "body": b"a body"}])
        left = asyncio.Event()

        async def receive() -> Message:
            for message in heard:
                return message
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)
            if len(sent) == stay_for:
                left.set()

        scope = {"type": "http", "method": "GET", "path": path, "query_string": b""}
        scope["headers"] = [(b"host", b"localhost")]
        await asyncio.wait_for(get_application()(scope, receive, send), timeout=20)

    asyncio.run(get())
    return sent


@pytest.fixture
def at_signals() -> Iterator[list[Thread]]:
    """The thread in which a request begins, and the one in which it ends."""
    threads: list[Thread] = []

    def note(**_: object) -> None:
        threads.append(current_thread())

    request_started.connect(note)
    request_finished.connect(note)
    yield threads
    request_started.disconnect(note)
    request_finished.disconnect(note)


@override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[])
def test_a_request_begins_is_answered_and_ends_in_one_change_of_threads(
    at_signals: list[Thread], monkeypatch: pytest.MonkeyPatch
) -> None:
    views.clear()
    changes: list[object] = []
    submit = ThreadPoolExecutor.submit

    def count(self: ThreadPoolExecutor, work: Any, *given: Any) -> Any:
        changes.append(work)
        return submit(self, work, *given)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", count)

    head, body = ask("/look", stay_for=2)

    assert (head["status"], body["body"]) == (200, b"a body")
    [view] = views
    assert view is not current_thread()
    assert at_signals == [view, view]
    assert len(changes) == 1


@override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[])
def test_a_stream_ends_with_who_follows_it(at_signals: list[Thread]) -> None:
    ended.clear()

    head, first = ask("/follow", stay_for=2)

    assert (head["status"], first["body"]) == (200, b"first")
    assert ended == ["chunks"]
    assert len(at_signals) == 2
