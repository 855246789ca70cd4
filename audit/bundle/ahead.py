"""One query for page after page, the next page being read while the one before is worked on."""

from collections import deque
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper

Rows = list[Any]


def read_ahead(
    connection: BaseDatabaseWrapper, query: str, pages: Iterable[Sequence[Any]]
) -> Generator[Rows]:
    """The rows that `query` finds with each of these parameters, in order, values in their
    binary form. Two pages are held.

    A thread reads them on this very connection, which psycopg lends to one at a time: what its
    transaction sees is seen, and no second connection is needed. Raises what Django raises.
    """
    connection.ensure_connection()
    session: Any = connection.connection

    def rows(parameters: Sequence[Any]) -> Rows:
        with psycopg.Cursor(session) as cursor:
            return cursor.execute(query, parameters, binary=True).fetchall()

    with connection.wrap_database_errors, ThreadPoolExecutor(1) as reader:
        coming = deque[Future[Rows]]()
        for page in pages:
            coming.append(reader.submit(rows, page))
            if len(coming) > 1:
                yield coming.popleft().result()
        if coming:
            yield coming.popleft().result()
