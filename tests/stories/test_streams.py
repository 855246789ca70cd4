"""The streaming variant of the chat: events as they happen, resumable from the last one seen."""

import json
import threading
from typing import Any
from uuid import UUID

import httpx
import pytest
from django.core import signing

from agents.turns import responses, streams
from integrations.models import ServiceToken
from tests.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def started(office: Office, message: str) -> dict[str, Any]:
    token = ServiceToken.issue(
        organisation=office.organisation, name="web", scopes=["chat", "approvals"]
    )[1]
    answer = httpx.post(
        f"{office.origin}/api/v1/chat/stream",
        json={"user_id": "maya", "message": message},
        headers={"Authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 202, answer.text
    return dict(answer.json())


def follow(office: Office, url: str, *, after: int | None = None) -> list[tuple[int, str, Any]]:
    """The events of a stream until it ends."""
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    events: list[tuple[int, str, Any]] = []
    with httpx.stream("GET", f"{office.origin}{url}", headers=headers, timeout=30) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        event: dict[str, str] = {}
        for line in response.iter_lines():
            if line.startswith(":"):
                continue
            if line:
                name, _, value = line.partition(": ")
                event[name] = value
            elif event:
                events.append((int(event["id"]), event["event"], json.loads(event["data"])))
                event = {}
    return events


def test_a_turn_is_followed_from_its_first_tool_to_its_answer(office: Office) -> None:
    office.sync("gmail")
    start = started(office, "Create Jira tasks from John's proposal email")
    with office.worker():
        events = follow(office, start["stream_url"])

    assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
    types = [type for _, type, _ in events]
    assert types[:2] == ["tool.started", "tool.finished"]
    assert types[-1] == "turn.finished"
    answer = events[-1][2]["answer"]
    assert answer["session_id"] == start["session_id"]
    assert answer["clarification"]["question"] == "Which John did you mean?"


def test_a_client_that_lost_its_connection_goes_on_from_the_last_event(office: Office) -> None:
    office.sync("gmail")
    start = started(office, "Create Jira tasks from John's proposal email")
    office.drain()

    whole = follow(office, start["stream_url"])
    rest = follow(office, start["stream_url"], after=2)

    assert rest == whole[2:]
    assert len(rest) >= 2


def test_a_stream_needs_the_token_of_its_own_turn(office: Office) -> None:
    start, other = started(office, "Hello"), started(office, "Hello")
    office.drain()
    path, _, token = start["stream_url"].partition("?")
    foreign = other["stream_url"].partition("?")[2]
    unsigned = signing.dumps([start["turn_id"], ""], salt="another")

    statuses = [
        httpx.get(f"{office.origin}{path}?{query}").status_code
        for query in (foreign, f"token={unsigned}", "token=", "", token + "x")
    ]

    assert statuses == [401] * 5
    assert httpx.post(f"{office.origin}{path}?{token}").status_code == 405


def test_a_token_grows_too_old(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    start = started(office, "Hello")
    office.drain()
    monkeypatch.setattr(streams, "TOKEN_SECONDS", -1)

    assert httpx.get(f"{office.origin}{start['stream_url']}").status_code == 401


def test_text_comes_before_the_whole_answer_is_put_together_and_holds_up_no_other_stream(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, other = started(office, "Hello"), started(office, "Hello")
    office.drain()
    heard, build = threading.Event(), responses.build_response

    def waiting(turn_id: UUID, *, by: str) -> dict[str, Any]:
        if str(turn_id) == slow["turn_id"]:
            assert heard.wait(20)
        return build(turn_id, by=by)

    monkeypatch.setattr(streams, "build_response", waiting)
    with httpx.stream("GET", f"{office.origin}{slow['stream_url']}", timeout=30) as response:
        lines = response.iter_lines()
        assert "event: text.delta" in lines
        assert follow(office, other["stream_url"])[-1][1] == "turn.finished"
        heard.set()
        assert "event: turn.finished" in lines
