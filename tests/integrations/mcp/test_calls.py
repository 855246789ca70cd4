"""Speaking to a real MCP server: what is sent, what is tried again, what is refused."""

from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from integrations.mcp.calls import call
from integrations.mcp.conversation import Address
from integrations.mcp.listing import offered
from tests.mcp_server import Tracker, running_tracker


@pytest.fixture
def tracker(settings: Settings) -> Iterator[Tracker]:
    settings.OUTGOING_TO_PRIVATE = True
    with running_tracker() as running:
        yield running


def at(tracker: Tracker) -> Address:
    return Address(url=tracker.url, user_id="maya", token="secret-token")


def print_of(tracker: Tracker, name: str) -> str:
    return next(one for one in offered(at(tracker)) if one.name == name).fingerprint(tracker.url)


def made(tracker: Tracker, *, repeatable: bool = False, **arguments: object) -> dict[str, object]:
    return call(
        at(tracker),
        name="create_issue",
        fingerprint=print_of(tracker, "create_issue"),
        arguments=arguments or {"title": "Roof"},
        key="remit-1",
        repeatable=repeatable,
    )


def test_a_call_names_the_user_and_the_key_and_sends_the_arguments_as_they_are(
    tracker: Tracker,
) -> None:
    answer = made(tracker, title="Roof", priority=None, labels=["a"])

    assert answer == {"text": "create_issue done"}
    assert tracker.calls == [("create_issue", {"title": "Roof", "priority": None, "labels": ["a"]})]
    assert tracker.metas[0]["remit/idempotency-key"] == "remit-1"
    assert {one["x-user-id"] for one in tracker.headers} == {"maya"}
    assert {one["authorization"] for one in tracker.headers} == {"Bearer secret-token"}
    assert "secret-token" not in repr(at(tracker))
