"""Reads that go to the server together."""

from collections.abc import Sequence

import pytest
from django.db import DatabaseError, connection

from integrations.database.together import Read, Row, run_together

TRANSACTION = "SELECT pg_current_xact_id()::text"


def number(rows: Sequence[Row]) -> str:
    [(only,)] = rows
    return str(only)


@pytest.mark.django_db(transaction=True)
def test_reads_run_together_in_one_transaction() -> None:
    first, doubled, second = (
        Read(TRANSACTION, [], number),
        Read("SELECT %s * 2", [21], number).then(int),
        Read(TRANSACTION, [], number),
    )

    run_together(first, doubled, second)

    assert first.found == second.found
    assert doubled.found == 42
    assert Read(TRANSACTION, [], number).run() != first.found
    assert connection.get_autocommit()


@pytest.mark.django_db(transaction=True)
def test_where_one_fails_none_has_found_anything_and_the_session_goes_on() -> None:
    good, bad = Read("SELECT 1", [], number), Read("SELECT 1 / %s", [0], number)

    with pytest.raises(DatabaseError, match="division by zero"):
        run_together(good, bad)

    assert not hasattr(good, "found")
    assert good.run() == "1"


@pytest.mark.django_db
def test_in_a_transaction_they_see_what_it_wrote() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE noted ON COMMIT DROP AS SELECT 7 AS number")
    one, same = (Read("SELECT number FROM noted", [], number) for _ in range(2))

    run_together(one, same)

    assert (one.found, same.found) == ("7", "7")
