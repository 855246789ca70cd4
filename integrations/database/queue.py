"""The task queue as rows, for statements that store with a task what it is about."""

from dataclasses import dataclass

CHANNEL = "remit_tasks"

# What a statement begins with that adds a task. It exists if and only if that one commits, and
# workers hear of it then, where the statement asks for NOTIFY.
ADD_TASK = """
INSERT INTO django_q_ormq (key, payload, lock)
SELECT %(queue)s, %(task)s, statement_timestamp() {condition}
RETURNING id
"""
NOTIFY = "pg_notify(%(channel)s, '')"


@dataclass(frozen=True, kw_only=True)
class QueuedTask:
    """A task, packed and signed as the queue keeps it."""

    queue: str
    payload: str

    def values(self) -> dict[str, str]:
        """What the statements above are given."""
        return {"queue": self.queue, "task": self.payload, "channel": CHANNEL}
