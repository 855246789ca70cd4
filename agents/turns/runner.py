"""Runs the chat turns that wait, many side by side in one process, a thread each.

A turn mostly waits: for its model, without a database connection. So threads are many
(TURN_THREADS) and connections few (DATABASE_POOL). A turn whose process died is one that waits.
"""

import logging
import threading
import time

import psycopg
from django.conf import settings
from django.db import DatabaseError, connections

from agents.journal import leases
from agents.journal.leases import Lease
from agents.turns import turns
from agents.turns.opening import WAITING
from integrations.database.notices import Notices

log = logging.getLogger(__name__)
LOOK_SECONDS = 1.0  # for leases that ran out, which nobody tells
CLAIMED_AT_ONCE = 20  # so that several processes share what comes in one rush
STACK_BYTES = 1024 * 1024  # of a thread; what is not touched is not in memory


class Runner:
    """The turns that this process works on. `run` claims them until it is stopped."""

    def __init__(self) -> None:
        self._at_work: set[Lease] = set()
        self._lock = threading.Lock()
        self._ended = threading.Event()  # since somebody waited for it
        self._notices = Notices(WAITING)

    def run(self, stop: threading.Event) -> None:
        """Work on what waits until `stop` is set, then give what is at work TURN_STOP_SECONDS to
        end, and the rest back to other processes. A database that is away is tried again."""
        threading.stack_size(STACK_BYTES)
        while not stop.is_set():
            try:
                if not self._take():
                    self._wait()
            except (DatabaseError, psycopg.Error):
                log.exception("runner.database_away")
                self._notices.close()
                connections.close_all()
                stop.wait(LOOK_SECONDS)
        self._notices.close()
        deadline = time.monotonic() + settings.TURN_STOP_SECONDS
        while self._at_work and time.monotonic() < deadline:
            self._wait_for_an_end(deadline - time.monotonic())
        with self._lock:
            left = frozenset(self._at_work)
        handed_back = leases.hand_back(left) if left else 0
        log.info("runner.stopped", extra={"at_work": len(left), "handed_back": handed_back})

    def _take(self) -> bool:
        """Begin some of the turns that wait. Whether more may wait that nobody will announce."""
        most: int = min(CLAIMED_AT_ONCE, settings.TURN_THREADS - len(self._at_work))
        taken = leases.claim_waiting(most) if most else []
        connections.close_all()
        for lease in taken:
            with self._lock:
                self._at_work.add(lease)
            # A daemon: what was handed back does not keep the process from ending.
            threading.Thread(target=self._work, args=(lease,), name="turn", daemon=True).start()
        return 0 < most == len(taken)

    def _wait(self) -> None:
        if len(self._at_work) < settings.TURN_THREADS:
            self._notices.wait(LOOK_SECONDS)
        else:
            self._wait_for_an_end(LOOK_SECONDS)

    def _wait_for_an_end(self, seconds: float) -> None:
        self._ended.wait(seconds)
        self._ended.clear()

    def _work(self, lease: Lease) -> None:
        try:
            turns.work(lease, stream=True)
        except Exception:
            # Its rows stand; it is taken up again when its lease has run out.
            log.exception("runner.turn_broke", extra={"turn": str(lease.turn_id)})
        finally:
            connections.close_all()
            with self._lock:
                self._at_work.discard(lease)
            self._ended.set()
