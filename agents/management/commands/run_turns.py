import resource
import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from agents.tasks import queue_look
from agents.turns.runner import Runner
from integrations.accounts.watching import Watcher


class Command(BaseCommand):
    help = (
        "Runs the chat turns that wait, up to TURN_THREADS side by side, and listens for changes "
        "of people's own mailboxes, until SIGTERM. Several of these processes share the work."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        # A turn that waits for its model holds a socket, and 1,024 files are soon used up.
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        watcher = threading.Thread(target=Watcher(ask=queue_look).run, args=(stop,), daemon=True)
        watcher.start()
        Runner().run(stop)
        watcher.join()
