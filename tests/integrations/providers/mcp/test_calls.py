"""Speaking to a real MCP server: what is sent, what is tried again, what is refused."""

from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from integrations import exceptions
from integrations.network import outgoing
from integrations.providers.mcp.calls import call
from integrations.providers.mcp.conversation import Address
from integrations.providers.mcp.listing import offered
from tests.mcp_server import Tracker, running_tracker, said, tool


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


@pytest.mark.parametrize("stateful", [True, False])
def test_servers_with_and_without_sessions_are_spoken_to(
    settings: Settings, stateful: bool
) -> None:
    settings.OUTGOING_TO_PRIVATE = True
    with running_tracker(stateful=stateful) as tracker:
        assert made(tracker) == {"text": "create_issue done"}


def test_a_list_is_asked_for_again_and_then_given_up(tracker: Tracker, settings: Settings) -> None:
    tracker.refusals = {"tools/list": [503, 502, 500]}
    assert len(offered(at(tracker))) == 2

    tracker.refusals = {"tools/list": [503] * 9}
    with pytest.raises(exceptions.Unavailable):
        offered(at(tracker))
    assert len(tracker.refusals["tools/list"]) == 9 - 1 - settings.MCP_RETRIES


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, exceptions.NotPermitted),
        (403, exceptions.NotPermitted),
        (307, outgoing.Forbidden),
        (302, outgoing.Forbidden),
    ],
)
def test_what_will_not_pass_is_not_tried_again(
    tracker: Tracker, status: int, error: type[exceptions.ProviderError]
) -> None:
    tracker.elsewhere = tracker.url
    tracker.refusals = {"tools/list": [status] * 5}

    with pytest.raises(error):
        offered(at(tracker))

    assert len(tracker.refusals["tools/list"]) == 4


def test_a_server_that_hangs_is_left(tracker: Tracker, settings: Settings) -> None:
    settings.MCP_TIMEOUT_SECONDS, settings.MCP_RETRIES = 0.3, 1
    tracker.stuck = "tools/list"

    with pytest.raises(exceptions.Unavailable):
        offered(at(tracker))

    assert tracker.lists == 2


@pytest.mark.parametrize("user_id", ["ma\r\nya", "maya\u00e9", " maya", "\x00"])
def test_an_id_that_is_no_header_is_not_sent(tracker: Tracker, user_id: str) -> None:
    with pytest.raises(exceptions.Rejected):
        offered(Address(url=tracker.url, user_id=user_id))

    assert tracker.headers == []


def test_a_call_that_nobody_got_may_be_repeated_and_one_that_arrived_may_not(
    tracker: Tracker,
) -> None:
    tracker.refusals = {"tools/call": [401]}
    with pytest.raises(exceptions.NotPermitted) as refused:
        made(tracker)
    tracker.refusals = {"tools/call": [500]}
    with pytest.raises(exceptions.Unavailable) as broken:
        made(tracker)

    assert (refused.value.outcome_unknown, broken.value.outcome_unknown) == (False, True)
    assert tracker.calls == []


def test_a_tool_of_another_fingerprint_is_not_called(tracker: Tracker) -> None:
    fingerprint = print_of(tracker, "create_issue")
    tracker.tools = [tool("create_issue", description="Another.")]

    with pytest.raises(exceptions.Changed) as changed:
        call(
            at(tracker),
            name="create_issue",
            fingerprint=fingerprint,
            arguments={"title": "Roof"},
            key="remit-1",
            repeatable=False,
        )

    assert not changed.value.outcome_unknown
    assert tracker.calls == []


def test_what_a_database_cannot_keep_is_replaced(tracker: Tracker) -> None:
    tracker.answer = lambda *_: said("a\x00b", structured_content={"n": "c\x00d"})

    assert made(tracker) == {"text": "a\ufffdb", "structured": {"n": "c\ufffdd"}}
