import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from asgiref.sync import SyncToAsync

from config.door.handler import get_application


def ask(path: str) -> int:
    """The status of an answer to a GET."""
    answers: list[Mapping[str, Any]] = []
    asked = iter([{"type": "http.request", "body": b""}])

    async def receive() -> Mapping[str, Any]:
        for message in asked:
            return message
        return await asyncio.Future()

    async def send(message: Mapping[str, Any]) -> None:
        answers.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }
    asyncio.run(get_application()(scope, receive, send))
    return int(answers[0]["status"])


def test_a_request_changes_threads_for_its_beginning_its_answer_and_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changes: list[object] = []
    change = SyncToAsync.__call__

    async def count(self: SyncToAsync[..., Any], *given: Any, **named: Any) -> Any:
        changes.append(self.func)
        return await change(self, *given, **named)

    monkeypatch.setattr(SyncToAsync, "__call__", count)

    assert ask("/api/v1/accounts") == 401
    assert len(changes) == 3
