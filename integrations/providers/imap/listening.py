"""A mailbox whose server says at once that something changed (IDLE, RFC 2177)."""

import random
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.db import connections

from integrations.contracts import AccountRef
from integrations.credentials import credentials
from integrations.providers.imap import connection
from integrations.providers.imap.connection import Connection

# Routers forget a silent connection sooner than servers end it (after 30 minutes).
LISTEN_SECONDS = 540.0
QUIET_SECONDS = 0.2  # several changes at once are one
CHANGES = (b"EXISTS", b"EXPUNGE", b"FETCH", b"VANISHED", b"RECENT")


class ImapListening:
    """Satisfies `integrations.accounts.watching.Listening`."""

    def __init__(self, account: AccountRef, stopped: threading.Event) -> None:
        self._account, self._stopped = account, stopped
        self._own: Connection | None = None

    def run(self, changed: Callable[[], None]) -> None:
        sign_in = credentials.open_sign_in(self._account)
        connections.close_all()  # for as long as it listens
        with (
            connection.refusals_kept(self._account),
            connection.as_provider_errors(),
            connection.connected(sign_in) as own,
        ):
            self._own = own
            if not own.client.has_capability("IDLE"):
                return
            own.select(own.folders.named("inbox") or "INBOX")
            while not self._stopped.is_set():
                own.client.idle()
                changed()
                _await_change(own.client)
                self._stopped.wait(QUIET_SECONDS)
                if not self._stopped.is_set():
                    own.client.idle_done()

    def hang_up(self) -> None:
        if self._own is not None:
            with suppress(OSError):
                self._own.client.socket().shutdown(socket.SHUT_RDWR)


def _await_change(client: Any) -> None:
    """Until the server names a change, or goes away, or it is time to begin anew."""
    until = time.monotonic() + random.uniform(0.9, 1.0) * LISTEN_SECONDS  # noqa: S311
    while (left := until - time.monotonic()) > 0:
        said = client.idle_check(timeout=left)
        # It says nothing when its time is over, and when it has gone.
        if not said or any(word in CHANGES for one in said for word in one[:2]):
            return
