"""What a caller hears when the database cannot do what was asked, and trying again can help."""

from dataclasses import dataclass

from django.db import DatabaseError, InterfaceError, OperationalError

DISK_FULL = "53100"
READ_ONLY = "25006"  # a standby, or a server that writes no more


@dataclass(frozen=True)
class Trouble:
    """A code, a sentence, and the seconds after which to come again."""

    code: str
    sentence: str
    wait: int


STORAGE_FULL = Trouble("storage_full", "There is no space left to keep this. Come again.", 60)
DATABASE_AWAY = Trouble("database_away", "The database does not answer now. Come again.", 10)


def describe(error: Exception) -> Trouble | None:
    """None for an error that trying again does not mend: somebody's mistake. What was raised from
    an error of the database, as the ledger does, is that error."""
    of_database = DatabaseError | InterfaceError
    found = error if isinstance(error, of_database) else error.__cause__
    if not isinstance(found, of_database):
        return None
    state = getattr(found.__cause__, "sqlstate", None)
    if state == DISK_FULL:
        return STORAGE_FULL
    if isinstance(found, OperationalError | InterfaceError) or state == READ_ONLY:
        return DATABASE_AWAY
    return None
