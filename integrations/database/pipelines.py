"""Several statements in one way to the server."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from django.db import connections

Statement = tuple[str, Any]  # and its values


def fetch_all(
    using: str, statements: Sequence[Statement], *, setting: str = ""
) -> list[list[tuple[Any, ...]]]:
    """The rows of each of these statements, in their order.

    They are sent before the first has answered, and are one transaction; `setting` is a statement
    that comes first and sets something for it. Raises django.db.Error for the first that fails;
    then none was done.
    """
    connection = connections[using]
    with ExitStack() as stack:
        # Looks whether the connection still lives, which is too late once something was sent.
        cursors = [stack.enter_context(connection.cursor()) for _ in statements]
        with connection.wrap_database_errors, connection.connection.pipeline():
            if setting:
                cursors[0].execute(setting)  # its rows are followed by those that are wanted
            for cursor, (statement, values) in zip(cursors, statements, strict=True):
                cursor.execute(statement, values)
        return [cursor.fetchall() for cursor in cursors]
