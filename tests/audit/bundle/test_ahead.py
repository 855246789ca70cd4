import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from django.db import OperationalError, ProgrammingError, connections

from audit.bundle.ahead import read_ahead
from tests.database import unpooled

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
NUMBERS = "SELECT n FROM generate_series(%s::int, %s::int) AS n"


@pytest.fixture(autouse=True)
def no_pool() -> Iterator[None]:
    """As commands have none: a session that is closed ends."""
    with unpooled():
        yield


def read(query: str, *pages: list[Any]) -> list[Any]:
    return list(read_ahead(connections["ledger"], query, iter(pages)))


def wait_for_its_end(session: int) -> None:
    """The server takes a moment to see that it left."""
    living = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s"
    end = time.monotonic() + 60
    while read(living, [session]) != [[(0,)]]:
        assert time.monotonic() < end


def test_every_page_comes_once_and_in_order() -> None:
    assert read(NUMBERS) == []
    assert read(NUMBERS, [1, 2]) == [[(1,), (2,)]]
    pages = [[at, at + 1] for at in range(0, 40, 2)]
    assert read(NUMBERS, *pages) == [[(at,), (at + 1,)] for at in range(0, 40, 2)]


def test_two_pages_are_read_while_one_is_worked_on() -> None:
    asked = Event()

    def pages() -> Any:
        yield from ([1, 1], [2, 2])
        asked.set()
        yield [3, 3]
        raise AssertionError("nobody asked for a fourth page")

    found = read_ahead(connections["ledger"], NUMBERS, pages())
    assert next(found) == [(1,)]
    assert asked.is_set()
    found.close()
    assert read(NUMBERS, [3, 3]) == [[(3,)]]


def test_every_other_page_is_read_by_a_second_session_that_is_closed_at_the_end() -> None:
    session = "SELECT pg_backend_pid() WHERE %s"
    [(own,)] = read(session, [True])[0]
    found = read_ahead(connections["ledger"], session, [[True]] * 5)
    first, second = next(found)[0][0], next(found)[0][0]
    assert first == own != second
    assert [row for page in found for row in page] == [(own,), (second,), (own,)]
    wait_for_its_end(second)


def test_reading_may_be_given_up_in_another_thread() -> None:
    session = "SELECT pg_backend_pid() WHERE %s"
    found = read_ahead(connections["ledger"], session, [[True]] * 5)
    next(found)
    [(second,)] = next(found)
    with ThreadPoolExecutor(1) as another:
        another.submit(found.close).result()
    wait_for_its_end(second)


def test_a_second_session_that_breaks_is_said() -> None:
    broken = "SELECT pg_terminate_backend(pg_backend_pid()) FROM generate_series(%s, 1)"
    found = read_ahead(connections["ledger"], broken, [[2], [1]])
    assert next(found) == []
    with pytest.raises(OperationalError):
        next(found)
    assert read(NUMBERS, [3, 3]) == [[(3,)]]


def test_what_fails_raises_as_django_raises_it() -> None:
    with pytest.raises(ProgrammingError):
        read("SELECT nothing FROM nowhere WHERE %s", [1])
    assert read(NUMBERS, [3, 3]) == [[(3,)]]
