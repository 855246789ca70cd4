"""Pools as the web process and the turns have them, while the server goes away and comes back."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import cast

import pytest
from django.db import OperationalError, connection, connections

from integrations.database.base import DatabaseWrapper
from integrations.database.pools import Pool
from tests.away import TOO_LONG, Server, server_for
from tests.office import until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def web() -> Iterator[Server]:
    with server_for("web", "default") as server:
        yield server


@pytest.fixture
def turns() -> Iterator[Server]:
    with server_for("turns", "default") as server:
        yield server


@pytest.fixture
def others() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as threads:
        yield threads


def pool() -> Pool:
    found = cast(DatabaseWrapper, connection).pool
    assert found
    return found


def ask() -> int:
    """As a request: one statement, and the connection goes back."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            found: int = cursor.fetchone()[0]
            return found
    finally:
        connections.close_all()


def test_nobody_waits_for_a_server_that_is_away(web: Server, others: ThreadPoolExecutor) -> None:
    assert ask() == 1
    web.go_away()

    waiting = [others.submit(ask) for _ in range(8)]
    for one in waiting:
        with pytest.raises(OperationalError):
            one.result()
    tried = web.tried
    for _ in range(100):
        with pytest.raises(OperationalError, match="was away a moment ago"):
            ask()

    assert web.tried - tried < 10  # however many ask, it is tried once or twice a second


def test_a_pool_finds_a_server_that_is_back_though_nobody_asks(web: Server) -> None:
    assert ask() == 1
    web.go_away()
    with pytest.raises(OperationalError):
        ask()

    web.come_back()
    until(lambda: pool().get_stats()["pool_available"] == 2)  # all that it keeps ready

    assert ask() == 1


def test_a_server_that_is_away_for_a_moment_only_is_waited_for(
    web: Server, others: ThreadPoolExecutor
) -> None:
    assert ask() == 1
    web.go_away()

    waiting = others.submit(ask)
    until(lambda: web.tried)
    web.come_back()

    assert waiting.result() == 1


def test_while_others_have_connections_one_of_them_is_waited_for(
    web: Server, others: ThreadPoolExecutor
) -> None:
    may_end = threading.Event()

    def wait_and_ask() -> int:
        try:
            with connection.cursor() as cursor:
                assert may_end.wait(TOO_LONG)
                cursor.execute("SELECT 1")
                found: int = cursor.fetchone()[0]
                return found
        finally:
            connections.close_all()

    assert ask() == 1
    web.take_none()
    held = [others.submit(wait_and_ask) for _ in range(8)]  # more than there are connections
    until(lambda: web.tried > 4)  # it was given up twice
    may_end.set()

    assert [one.result() for one in held] == [1] * 8


def test_an_agents_turn_waits_until_the_server_is_back(
    turns: Server, others: ThreadPoolExecutor
) -> None:
    assert ask() == 1
    turns.go_away()

    waiting: list[Future[int]] = [others.submit(ask) for _ in range(8)]
    until(lambda: turns.tried > 10)  # longer than it tries before it gives up
    assert not any(one.done() for one in waiting)
    turns.come_back()

    assert [one.result() for one in waiting] == [1] * 8
