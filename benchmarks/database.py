"""A database of its own for one benchmark, made at the start and removed at the end."""

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def own_database(*migrate: str, durable: bool = True) -> Iterator[Path]:
    """Django, set up on an empty database in the folder that is given; `migrate` names the
    app whose tables are wanted, else all are made. One that is not `durable` is faster."""
    from config.local import embedded

    # Its database is taken away when it is stopped, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ |= {
            "REMIT_STATE_DIR": name,
            "SECRET_KEY": "benchmark",
            "LEDGER_KEY": "benchmark",
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": embedded.start(folder, durable=durable),
        }
        try:
            import django
            from django.core.management import call_command

            django.setup()
            call_command("migrate", *migrate, verbosity=0)
            yield folder
        finally:
            embedded.remove(folder)


def on_cpu(process: int) -> float:
    """The seconds that this process has been on a CPU, as Linux counts them."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9
