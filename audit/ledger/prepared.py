"""Statements that the server keeps prepared, sent by libpq's own calls.

psycopg's own prepared statements do the same and take an action from 0.64 to 0.53 of two bare
INSERTs by CPU (one writer, in turns; 0.62 to 0.52 with four): its cursor adapts each value,
counts and waits in steps.
"""

import re
import select
from collections.abc import Sequence
from itertools import count
from typing import Any
from weakref import WeakSet

from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import Connection, errors
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

Value = str | int | bytes | None


class Prepared:
    """One statement, with `%s` where its values go, that returns at most one row of text.

    The server must be able to tell the type of each value from the statement. Threads share it.
    """

    def __init__(self, name: str, statement: str) -> None:
        numbers = count(1)
        self.name = name.encode()
        self.statement = re.sub("%s", lambda _: f"${next(numbers)}", statement).encode()
        self.sessions: WeakSet[Connection[Any]] = WeakSet()

    def first(self, connection: BaseDatabaseWrapper, values: Sequence[Value]) -> bytes | None:
        """Run it, in a transaction of its own unless one is open; the first column of its row,
        or None without a row. Bytes become bytea, the rest is given as text.

        Raises what Django raises for a statement that fails. Whatever else breaks in, Ctrl-C
        for one, closes the connection: nobody can then say what became of the statement.
        """
        connection.close_if_health_check_failed()
        connection.ensure_connection()
        with connection.wrap_database_errors:
            session: Any = connection.connection
            try:
                result = self.run(session, values)
            except errors.Error:
                raise
            except BaseException:
                connection.close()
                raise
        return result.get_value(0, 0) if result.ntuples else None

    def run(self, session: Connection[Any], values: Sequence[Value]) -> PGresult:
        sent = [
            one.encode()
            if type(one) is str
            else one
            if one is None or type(one) is bytes
            else str(one).encode()
            for one in values
        ]
        formats = [type(one) is bytes for one in values]
        is_open = session.pgconn.transaction_status != TransactionStatus.IDLE
        if is_open or session.prepare_threshold is None:
            # In a transaction the server may have forgotten what was prepared: its error would end
            # it. Behind a pooler the next statement may run in somebody else's session.
            session.pgconn.send_query_params(self.statement, sent, param_formats=formats)
            return answer(session.pgconn)
        if session in self.sessions:
            try:
                return self.sent(session.pgconn, sent, formats)
            except errors.InvalidSqlStatementName:  # the server forgot it, and ran nothing
                self.sessions.discard(session)
        session.pgconn.send_prepare(self.name, self.statement)
        answer(session.pgconn)
        self.sessions.add(session)
        return self.sent(session.pgconn, sent, formats)

    def sent(self, pgconn: PGconn, values: list[Any], formats: list[Any]) -> PGresult:
        pgconn.send_query_prepared(self.name, values, formats)
        return answer(pgconn)


def answer(pgconn: PGconn) -> PGresult:
    """The server's answer to what was sent. Signals are taken while it waits."""
    waiting = select.poll()
    while (unsent := pgconn.flush()) or pgconn.is_busy():
        waiting.register(pgconn.socket, select.POLLIN | (select.POLLOUT if unsent else 0))
        waiting.poll()
        pgconn.consume_input()
    result = pgconn.get_result()
    while pgconn.get_result():
        pass
    if result is None:
        raise errors.OperationalError("The server gave no answer.")
    if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
        raise errors.error_from_result(result)
    return result
