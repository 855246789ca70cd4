"""Mailboxes whose servers say at once that something changed, by IDLE over IMAP and by events over
JMAP: one connection and one thread for each account.

What a server says is a hint and no more. Whatever it is, the account is asked for its changes; so
it is each time that listening begins, because what came before that was said to nobody; and the
sweep asks every account from time to time beside it.
"""

import logging
import random
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError, connections, transaction
from django.db.models import Q

from integrations.contracts import AccountRef
from integrations.credentials import credentials
from integrations.database import clock
from integrations.exceptions import NotPermitted, ProviderError
from integrations.models import Account, Credential
from integrations.ports.registry import BY_SOURCE
from integrations.providers.imap.listening import ImapListening
from integrations.providers.jmap.listening import JmapListening

log = logging.getLogger(__name__)
Ask = Callable[[UUID], None]
LOOK_SECONDS = 15.0
LEASE = timedelta(seconds=90)
FIRST_PAUSE, LONGEST_PAUSE = 15.0, 900.0
LISTENED_TO = tuple(one.source for one in BY_SOURCE.values() if one.news == "listened")


class Listening(Protocol):
    """One connection on which an account's server says that something changed."""

    def run(self, changed: Callable[[], None]) -> None:
        """Calls `changed` when it begins to listen and at each change, until `hang_up`. Returns
        where the server cannot do it. Raises ProviderError where it went away."""
        ...

    def hang_up(self) -> None:
        """From any thread."""
        ...


# How it is listened to, by source.
WAYS: dict[str, Callable[[AccountRef, threading.Event], Listening]] = {
    "imap": ImapListening,
    "jmap": JmapListening,
}


class Watcher:
    """Listens for up to WATCHED_MAILBOXES accounts in this process. Several processes share them:
    each account is one process's, by a lease."""

    def __init__(self, *, ask: Ask) -> None:
        self._ask, self._me = ask, uuid4()
        self._listening: dict[UUID, _Listener] = {}

    def run(self, stop: threading.Event) -> None:
        try:
            while not stop.is_set():
                self._look_after()
                stop.wait(LOOK_SECONDS)
        finally:
            self._end(list(self._listening))
            with suppress(DatabaseError):
                Credential.objects.filter(watched_by=self._me).update(watched_until=None)
            connections.close_all()

    def _look_after(self) -> None:
        try:
            mine = dict(self._claim(clock.now()))
            known = {
                row.id: row.ref()
                for row in Account.objects.select_related("organisation").filter(id__in=mine)
            }
        except DatabaseError:
            log.exception("watching.database_away")
            return  # those that listen go on; their tasks are stored when it is back
        finally:
            connections.close_all()
        changed = [id for id, one in self._listening.items() if mine.get(id) != one.fingerprint]
        self._end(changed)
        for id, fingerprint in mine.items():
            if id not in self._listening and id in known:
                listener = _Listener(known[id], fingerprint, self._ask)
                self._listening[id] = listener
                listener.start()

    def _claim(self, now: datetime) -> Iterable[tuple[UUID, str]]:
        free = Q(watched_until=None) | Q(watched_until__lt=now) | Q(watched_by=self._me)
        with transaction.atomic():
            rows = (
                Credential.objects.filter(
                    free, state=Credential.State.GOOD, account__source__in=LISTENED_TO
                )
                .order_by("account_id")
                .select_for_update(skip_locked=True, of=["self"])[: settings.WATCHED_MAILBOXES]
            )
            found = [(row.account_id, credentials.fingerprint_of(row)) for row in rows]
            Credential.objects.filter(account_id__in=[id for id, _ in found]).update(
                watched_by=self._me, watched_until=now + LEASE
            )
        return found

    def _end(self, ids: list[UUID]) -> None:
        ending = [self._listening.pop(id) for id in ids]
        for one in ending:
            one.stop()
        for one in ending:
            one.join()


class _Listener(threading.Thread):
    """One account's. It ends by itself where its server cannot do it, or refuses the sign-in."""

    def __init__(self, account: AccountRef, fingerprint: str, ask: Ask) -> None:
        super().__init__(name=f"listens for {account.id}", daemon=True)
        self.fingerprint = fingerprint
        self._account, self._ask = account, ask
        self._stopped = threading.Event()
        self._pause = FIRST_PAUSE
        self._line = WAYS[account.source](account, self._stopped)

    def stop(self) -> None:
        self._stopped.set()
        self._line.hang_up()

    def run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._line.run(self._changed)
                return
            except NotPermitted as error:
                log.warning("watching.refused", extra={"account": str(self._account.id)})
                log.debug("watching.why", exc_info=error)
                return
            except ProviderError as error:
                about = {"account": str(self._account.id), "code": error.code}
                log.info("watching.interrupted", extra=about)
            except Exception:
                log.exception("watching.failed", extra={"account": str(self._account.id)})
            finally:
                connections.close_all()
            self._stopped.wait(random.uniform(0.5, 1.0) * self._pause)  # noqa: S311  # no secret
            self._pause = min(2 * self._pause, LONGEST_PAUSE)

    def _changed(self) -> None:
        self._pause = FIRST_PAUSE
        self._ask(self._account.id)
        connections.close_all()
