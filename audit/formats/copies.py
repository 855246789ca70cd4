"""COPY statements that the server works on while this process does something else, sent by
libpq's own calls. psycopg's COPY in a thread does the same and takes CSV from 0.81 to 0.73 of a
bare COPY by CPU and JSON Lines from 0.67 to 0.55 (60,000 rows, in turns)."""

import select
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import errors
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGconn


class Copies:
    """`with Copies(connection, …) as copies:` sends `COPY … TO STDOUT` statements, which run
    one behind the other in one transaction. Within the block the connection is in use. Behind
    it `copies.answers` holds for each statement its messages, one a row, all of them read.

    Raises what Django raises for a statement that fails.
    """

    def __init__(self, connection: BaseDatabaseWrapper, *statements: str) -> None:
        self.connection = connection
        self.statements = statements
        self.answers: list[list[bytes]] = [[] for _ in statements]

    def __enter__(self) -> "Copies":
        if not self.statements:
            return self
        self.connection.close_if_health_check_failed()
        self.connection.ensure_connection()
        with self.connection.wrap_database_errors:
            session: Any = self.connection.connection
            self.pgconn: PGconn = session.pgconn
            try:
                self.pgconn.send_query(";".join(self.statements).encode())
                while self.pgconn.flush():
                    self.wait(select.POLLIN | select.POLLOUT)
            except BaseException:
                self.connection.close()
                raise
        return self

    def __exit__(self, *failure: object) -> None:
        if not self.statements:
            return
        if failure[0]:  # what was asked for is not wanted any more
            self.connection.close()
            return
        with self.connection.wrap_database_errors:
            try:
                self.read()
            except errors.Error:
                raise
            except BaseException:
                self.connection.close()
                raise

    def read(self) -> None:
        answers, failure = iter(self.answers), None
        while True:
            while self.pgconn.is_busy():
                self.wait(select.POLLIN)
            result = self.pgconn.get_result()
            if result is None:
                break
            if result.status == ExecStatus.COPY_OUT:
                self.rows(next(answers))
            elif result.status != ExecStatus.COMMAND_OK:
                failure = result
        if failure:
            raise errors.error_from_result(failure)

    def rows(self, rows: list[bytes]) -> None:
        following, is_asked = self.pgconn.get_copy_data, False
        while True:
            size, data = following(1)
            if size > 0:
                rows.append(bytes(data))
                is_asked = False
            elif size < 0:
                return
            elif is_asked:
                self.wait(select.POLLIN)
            else:  # more may have come meanwhile
                self.pgconn.consume_input()
                is_asked = True

    def wait(self, events: int) -> None:
        """Signals are taken meanwhile."""
        waiting = select.poll()
        waiting.register(self.pgconn.socket, events)
        waiting.poll()
        self.pgconn.consume_input()
