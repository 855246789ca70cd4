"""Where the commands that export write to."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from django.core.management.base import CommandError
from django.db import DatabaseError, InterfaceError, OperationalError

from audit.bundle.extent import NothingSealed
from audit.contracts import LedgerError
from audit.formats.parquet import NoParquet
from audit.ledger import vault

LOST = (OperationalError, InterfaceError)
BROKEN = (
    *(OSError, DatabaseError, InterfaceError, LedgerError),
    *(NoParquet, NothingSealed, vault.Unreadable, vault.WrongVaultKey),
)


@contextmanager
def destination(output: Path | None) -> Iterator[IO[bytes]]:
    """A new file, or standard output. A file is taken away again unless the block ends well: half
    an export could be taken for a whole one. What breaks an export off is a CommandError that
    says what to do."""
    try:
        target = output.open("xb") if output else sys.stdout.buffer
    except OSError as error:
        raise CommandError(f"Cannot make {output}: {error.strerror}.") from error
    try:
        try:
            yield target
            target.flush()
        except BaseException:
            if output:
                with suppress(OSError):  # of a disk that is full
                    target.close()
                output.unlink()
            raise
    except BROKEN as error:
        left = "Nothing was exported" if output else "Nothing was exported, or not all of it"
        raise CommandError(f"{explain(error)}\n{left}.") from error
    if output:
        target.close()


def explain(error: BaseException) -> str:
    if isinstance(error, OSError):
        return f"Writing broke off: {error.strerror}."
    lost = error if isinstance(error, LOST) else error.__cause__
    if isinstance(lost, LOST):
        [why, *_] = str(lost).splitlines() or ["it did not answer"]
        return f"The ledger's database was lost: {why}. Export again once it answers."
    if isinstance(error, vault.Unreadable):
        return f"{error} Find out which row it is: manage.py verify_ledger"
    return str(error)
