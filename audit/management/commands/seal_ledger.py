import logging
import signal
import threading
from collections.abc import Sequence
from time import monotonic
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, InterfaceError, connections

from audit.database import clock
from audit.ledger.routing import LEDGER
from audit.seals import notes, sealer, signing_keys

TICK_SECONDS = 1.0

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = (
        "Seals the ledger every second: gives each row its place in its organisation's tree "
        "and signs the root with LEDGER_SIGNING_KEY. One is enough; a second one waits."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="Seal what is there, then end.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.LEDGER_SIGNING_KEY:
            raise CommandError(
                "Set LEDGER_SIGNING_KEY, the base64 of 32 random bytes, for this process only. "
                "Make one with: openssl rand -base64 32"
            )
        try:
            signers = notes.signers(settings.LEDGER_SIGNING_KEY)
            if options["once"]:
                signer = signing_keys.signer_in_force(signers)
                clock.Watch().look()
                self.stdout.write(f"Sealed {sum(sealer.seal_all(signer=signer))} rows.")
            else:
                tick(signers, stop=stopped())
        except (ValueError, signing_keys.CannotSeal) as error:
            raise CommandError(str(error)) from error


def stopped() -> threading.Event:
    """An event that SIGTERM and Ctrl-C set: the sealer ends between two seals."""
    event = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: event.set())
    return event


def tick(signers: Sequence[notes.Signer], *, stop: threading.Event) -> None:
    """Seal every second until `stop` is set, with the one of `signers` that the ledger names
    by then. A database that is away is tried again. Raises CannotSeal.

    The first seal looks back, and so does the one after a stall: rows of a transaction that
    ended in between may lie below others that are sealed.
    """
    look_back, watch = True, clock.Watch()
    while not stop.is_set():
        due = monotonic() + TICK_SECONDS
        try:
            stalled = sealer.is_stalled()
            if stalled and not look_back:
                log.warning("seal_ledger.stalled: a transaction that writes stays open")
            signer = signing_keys.signer_in_force(signers)
            sealed: int | None = sealer.BATCH
            # What came in meanwhile waits for the next tick: each seal has its fixed cost.
            while sealed == sealer.BATCH and not stop.is_set():
                sealed = sealer.seal(signer=signer, out_of_order=look_back or stalled)
            if sealed is not None:
                look_back = stalled
            if step := watch.look():
                log.warning("seal_ledger.clock_stepped_back seconds=%s", step.total_seconds())
        except (DatabaseError, InterfaceError) as error:
            log.warning("seal_ledger.failed: %s", error)
            connections[LEDGER].close()
        stop.wait(max(0.0, due - monotonic()))
