"""Which database connection the ledger's tables are read and written through."""

from typing import Any

LEDGER = "ledger"


class LedgerRouter:
    """The audit app's tables live in the default database and are reached through the
    `ledger` alias; migrations run once, on `default`."""

    def db_for_read(self, model: type, **hints: Any) -> str | None:
        return LEDGER if model._meta.app_label == "audit" else None  # type: ignore[attr-defined]

    db_for_write = db_for_read

    def allow_relation(self, first: object, second: object, **hints: Any) -> bool | None:
        return None

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == "default"
