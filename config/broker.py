"""The task queue's broker: rows in PostgreSQL, with a signal instead of busy polling.

A task enqueued inside a transaction exists if and only if the transaction commits. No row
is given to two workers at once: taking one locks it for `Q_CLUSTER["retry"]` seconds, after
which it is given out again unless it was acknowledged. A task is therefore run at least
once, in no promised order. Tasks carry ids only (the payload is a signed pickle).

Deliveries are a queue of their own: their rows say which wait, and workers claim them there
(`agents.inbound.claims`). While some wait, the broker gives out a task that no row holds.
"""

import logging
import time
from functools import cached_property

import psycopg
from django.db import DatabaseError, close_old_connections, connections
from django_q.brokers.orm import ORM
from django_q.conf import Conf
from django_q.tasks import async_task

from agents.tasks import react
from integrations.database.notices import TASKS, Notices
from integrations.models import Delivery

log = logging.getLogger(__name__)

Task = tuple[int | None, str]  # its row, if there is one, and its payload
ENQUEUE = """
    WITH task AS (
        INSERT INTO django_q_ormq (key, payload, lock) VALUES (%s, %s, statement_timestamp())
        RETURNING id
    )
    SELECT id, pg_notify(%s, '') FROM task
"""
# What waits of tasks, and a row of nothing where deliveries wait.
DEQUEUE = """
    WITH task AS (
        UPDATE django_q_ormq SET lock = statement_timestamp() + make_interval(secs => %s)
        WHERE id = ANY (ARRAY(
            SELECT id FROM django_q_ormq WHERE key = %s AND lock < statement_timestamp()
            ORDER BY id FOR UPDATE SKIP LOCKED LIMIT %s
        ))
        RETURNING id, payload
    )
    SELECT id, payload FROM task UNION ALL SELECT NULL, NULL WHERE EXISTS ({deliveries})
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
        return Notices(TASKS)

    def enqueue(self, task: str) -> int:
        """Store a task in the caller's transaction; workers hear of it at commit."""
        with connections[Conf.ORM].cursor() as cursor:
            cursor.execute(ENQUEUE, [self.list_key, task, TASKS])
            row: tuple[int, str] = cursor.fetchone()
        return row[0]

    def dequeue(self) -> list[Task] | None:
        """Take up to `Q_CLUSTER["bulk"]` tasks, and one more where deliveries wait. After a look
        that found none it waits first, up to `Q_CLUSTER["poll"]` seconds for one.

        None if there is none, also while the database is away.
        """
        try:
            if not self._may_have_more:
                self.notices.wait(Conf.POLL)
                close_old_connections()
            tasks = self._take()
            # Deliveries are no reason to look again at once: workers take as many as they can.
            self._may_have_more = any(id for id, _ in tasks)
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

    def _take(self) -> list[Task]:
        deliveries, given = Delivery.objects.waiting().values("id").query.sql_with_params()
        look = DEQUEUE.format(deliveries=deliveries)
        with connections[Conf.ORM].cursor() as cursor:
            cursor.execute(look, [Conf.RETRY, self.list_key, Conf.BULK, *given])
            return [(id, _pack() if id is None else payload) for id, payload in cursor.fetchall()]


class _Packer:
    """In the place of a broker: keeps the task that it is given."""

    list_key = Conf.CLUSTER_NAME

    def enqueue(self, payload: str) -> int:
        self.payload = payload
        return 0


def _pack() -> str:
    packer = _Packer()
    async_task(react, broker=packer)
    return packer.payload
