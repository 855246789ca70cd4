from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from integrations.database.locks import take_lock, try_lock

TRY = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))"


def is_free(name: str) -> bool:
    """Whether another session gets the lock at once."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(TRY, [name])
            return bool(cursor.fetchone()[0])
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_lock_keeps_out_its_own_name_until_the_transaction_ends() -> None:
    with ThreadPoolExecutor(1) as elsewhere:
        with transaction.atomic():
            take_lock("usage 1")
            before = [elsewhere.submit(is_free, name).result() for name in ("usage 1", "usage 2")]
        after = elsewhere.submit(is_free, "usage 1").result()

    assert before == [False, True]
    assert after


@pytest.mark.django_db(transaction=True)
def test_who_does_not_want_to_wait_is_refused_a_lock_that_another_has() -> None:
    def is_got(name: str) -> bool:
        try:
            with transaction.atomic():
                return try_lock(name)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as elsewhere:
        with transaction.atomic():
            assert try_lock("usage 1")
            assert try_lock("usage 1")
            before = [elsewhere.submit(is_got, name).result() for name in ("usage 1", "usage 2")]
        after = elsewhere.submit(is_got, "usage 1").result()

    assert before == [False, True]
    assert after
