"""A JMAP mailbox whose server says at once that something changed: events of RFC 8620, 7.3."""

import json
import threading
from collections.abc import Callable

from django.db import connections

from integrations.contracts import AccountRef
from integrations.exceptions import Unavailable
from integrations.network.http import Stream
from integrations.providers.jmap import events
from integrations.providers.jmap.events import Event
from integrations.providers.jmap.session import session_of


class JmapListening:
    """Satisfies `integrations.accounts.watching.Listening`."""

    def __init__(self, account: AccountRef, stopped: threading.Event) -> None:
        self._account, self._stopped = account, stopped
        self._stream: Stream | None = None

    def run(self, changed: Callable[[], None]) -> None:
        session = session_of(self._account)
        connections.close_all()  # for as long as it listens
        with session.listen() as stream:
            if stream is None:
                return
            self._stream = stream
            if self._stopped.is_set():
                return
            changed()  # what came before was said to nobody
            for event in events.read(stream.chunks()):
                if is_change(event):
                    changed()
        if not self._stopped.is_set():
            raise Unavailable("the server says nothing more")

    def hang_up(self) -> None:
        if self._stream is not None:
            self._stream.hang_up()


def is_change(event: Event) -> bool:
    """Whether it says that something changed. What, the mailbox is asked."""
    if event.name != "state":
        return False
    try:
        said = json.loads(event.data)
    except (ValueError, RecursionError):
        return True
    return not isinstance(said, dict) or bool(said.get("changed", True))
