"""Which database connection the ledger's tables are read and written through."""

from typing import Any

from django.db import DEFAULT_DB_ALIAS

LEDGER = "ledger"


class LedgerRouter:
    """The audit app's tables live in the default database and are reached through the
    `ledger` alias; migrations run once, on `default`."""

    def db_for_read(self, model: type, **hints: Any) -> str | None:
        """Never where a related row came from, as Django would have it: that may be a replica."""
        is_of_ledger = model._meta.app_label == "audit"  # type: ignore[attr-defined]
        return LEDGER if is_of_ledger else DEFAULT_DB_ALIAS

    db_for_write = db_for_read

    def allow_relation(self, first: object, second: object, **hints: Any) -> bool | None:
        return None

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == "default"
