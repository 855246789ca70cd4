from threading import Event
from typing import Any

import pytest
from django.db import ProgrammingError, connections, transaction

from audit.bundle.ahead import read_ahead

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
NUMBERS = "SELECT n FROM generate_series(%s::int, %s::int) AS n"


def read(query: str, *pages: list[Any]) -> list[Any]:
    return list(read_ahead(connections["ledger"], query, iter(pages)))


def test_every_page_comes_once_and_in_order() -> None:
    assert read(NUMBERS) == []
    assert read(NUMBERS, [1, 2]) == [[(1,), (2,)]]
    pages = [[at, at + 1] for at in range(0, 40, 2)]
    assert read(NUMBERS, *pages) == [[(at,), (at + 1,)] for at in range(0, 40, 2)]


def test_the_next_page_is_read_while_one_is_worked_on() -> None:
    asked = Event()

    def pages() -> Any:
        yield [1, 1]
        asked.set()
        yield [2, 2]
        raise AssertionError("nobody asked for a third page")

    found = read_ahead(connections["ledger"], NUMBERS, pages())
    assert next(found) == [(1,)]
    assert asked.is_set()
    found.close()
    assert read(NUMBERS, [3, 3]) == [[(3,)]]


def test_what_the_transaction_sees_is_seen() -> None:
    with transaction.atomic(using="ledger"), connections["ledger"].cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE seen (n int) ON COMMIT DROP")
        cursor.execute("INSERT INTO seen VALUES (7)")
        assert read("SELECT n FROM seen WHERE n >= %s", [0]) == [[(7,)]]


def test_what_fails_raises_as_django_raises_it() -> None:
    with pytest.raises(ProgrammingError):
        read("SELECT nothing FROM nowhere WHERE %s", [1])
    assert read(NUMBERS, [3, 3]) == [[(3,)]]
