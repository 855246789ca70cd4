"""One query for page after page, read by two sessions while the pages before are worked on.

For pages whose places are known before they are read; an export finds its next page at the end
of the last one, so `audit.formats.copies` reads that."""

from collections import deque
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import cycle
from typing import Any

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper

Rows = list[Any]


def read_ahead(
    connection: BaseDatabaseWrapper, query: str, pages: Iterable[Sequence[Any]]
) -> Generator[Rows]:
    """The rows that `query` finds with each of these parameters, in order, values in their
    binary form. Three pages are held.

    Every other page is read by a second session, opened for a second page and closed at the end:
    the server then works on two pages at once. So ask only for what is committed and never
    changes. Raises what Django raises.
    """
    second = connection.copy()
    second.inc_thread_sharing()  # reading may be given up in another thread
    with (
        connection.wrap_database_errors,
        closing(second),
        ThreadPoolExecutor(1) as one,
        ThreadPoolExecutor(1) as other,
    ):
        coming = deque[Future[Rows]]()
        readers = cycle([(one, connection), (other, second)])
        for page, (thread, reader) in zip(pages, readers, strict=False):
            reader.ensure_connection()
            coming.append(thread.submit(rows, reader.connection, query, page))
            if len(coming) > 2:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()


def rows(session: Any, query: str, parameters: Sequence[Any]) -> Rows:
    with psycopg.Cursor(session) as cursor:
        return cursor.execute(query, parameters, binary=True).fetchall()
