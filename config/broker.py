"""The task queue's broker: rows in PostgreSQL, with a signal instead of busy polling.

A task enqueued inside a transaction exists if and only if the transaction commits. No row
is given to two workers at once: taking one locks it for `Q_CLUSTER["retry"]` seconds, after
which it is given out again unless it was acknowledged. Delivery is therefore at least
once, in no promised order. Tasks carry ids only (the payload is a signed pickle).
"""

import logging
import time
from functools import cached_property

import psycopg
from django.db import DatabaseError, close_old_connections, connections
from django_q.brokers.orm import ORM
from django_q.conf import Conf

from integrations.database.notices import Notices
from integrations.database.queue import ADD_TASK, CHANNEL, NOTIFY, QueuedTask

log = logging.getLogger(__name__)

ENQUEUE = f"WITH task AS ({ADD_TASK.format(condition='')}) SELECT id, {NOTIFY} FROM task"  # noqa: S608  # only constants
DEQUEUE = """
    UPDATE django_q_ormq SET lock = statement_timestamp() + make_interval(secs => %s)
    WHERE id = ANY (ARRAY(
        SELECT id FROM django_q_ormq WHERE key = %s AND lock < statement_timestamp()
        ORDER BY id FOR UPDATE SKIP LOCKED LIMIT %s
    ))
    RETURNING id, payload
"""


class Broker(ORM):  # type: ignore[misc]  # django-q2 has no types
    """The broker of `Q_CLUSTER["broker_class"]`."""

    _may_have_more = False

    @staticmethod
    def get_cache() -> None:
        """None: nobody reads the state that django-q would store of its processes twice a second,
        by six statements and a commit each time. `config.health` and `config.metrics` read the
        queue itself."""

    @cached_property
    def notices(self) -> Notices:
        return Notices(CHANNEL)

    def enqueue(self, task: str) -> int:
        """Store a task in the caller's transaction; workers hear of it at commit."""
        with connections[Conf.ORM].cursor() as cursor:
            cursor.execute(ENQUEUE, QueuedTask(queue=self.list_key, payload=task).values())
            row: tuple[int, str] = cursor.fetchone()
        return row[0]

    def dequeue(self) -> list[tuple[int, str]] | None:
        """Take up to `Q_CLUSTER["bulk"]` tasks. After a look that found none it waits first, up to
        `Q_CLUSTER["poll"]` seconds for one.

        None if there is none, also while the database is away.
        """
        try:
            if not self._may_have_more:
                self.notices.wait(Conf.POLL)
                close_old_connections()
            tasks = self._take()
            self._may_have_more = bool(tasks)
            return tasks or None
        except (DatabaseError, psycopg.Error):
            # Raised, the error would make django-q rest for ten seconds and start anew.
            log.exception("broker.database_away")
            self._may_have_more = False
            self.notices.close()
            close_old_connections()
            time.sleep(Conf.POLL)
            return None

    def acknowledge(self, task_id: int) -> None:
        """Forget a task that was run, in one statement where the queue's own way takes three."""
        close_old_connections()
        with connections[Conf.ORM].cursor() as cursor:
            cursor.execute("DELETE FROM django_q_ormq WHERE id = %s", [task_id])

    def _take(self) -> list[tuple[int, str]]:
        with connections[Conf.ORM].cursor() as cursor:
            cursor.execute(DEQUEUE, [Conf.RETRY, self.list_key, Conf.BULK])
            rows: list[tuple[int, str]] = cursor.fetchall()
        return rows
