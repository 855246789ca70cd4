"""Static files of the web process."""

import asyncio
import gc
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.test import Client

from config.asgi import django

ICON = "remit/icon.svg"


def get_and_leave(path: str) -> None:
    """One request of a client that goes away while it is handled."""

    async def ask() -> None:
        heard: Iterator[dict[str, Any]] = iter([{"type": "http.request", "body": b""}])

        async def receive() -> dict[str, Any]:
            return next(heard, {"type": "http.disconnect"})

        async def send(message: Mapping[str, Any]) -> None:
            pass

        scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}
        await django(scope, receive, send)

    asyncio.run(ask())


def test_a_client_that_goes_away_leaves_no_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer is dropped by Django, which closes no more what is in it."""
    left: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: left.append(one.exc_value))

    for _ in range(20):
        get_and_leave(static(ICON))
        gc.collect()

    assert left == []


def test_a_file_is_answered_whole_in_part_or_not_where_it_is_unchanged(client: Client) -> None:
    path = static(ICON)
    content = Path(str(finders.find(ICON))).read_bytes()

    whole, head = client.get(path), client.head(path)
    part = client.get(path, headers={"Range": "bytes=0-9"})
    same = client.get(path, headers={"If-None-Match": whole.headers["ETag"]})

    assert (whole.status_code, whole.content) == (200, content)
    assert whole.headers["Content-Type"] == "image/svg+xml"
    assert (head.status_code, head.content) == (200, b"")
    assert (part.status_code, part.content) == (206, content[:10])
    assert (same.status_code, same.content) == (304, b"")
    assert "Content-Type" not in same.headers
    assert {one.headers.get("Content-Length") for one in (whole, head)} == {str(len(content))}
    assert client.post(path).status_code == 405
