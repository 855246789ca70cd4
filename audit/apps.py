"""Proves what was done and what was refused: rows that are only ever added."""

from django.apps import AppConfig
from django.core.checks import Tags, register

from audit.database.checks import (
    ledger_is_guarded,
    may_start,
    months_are_made,
    tables_are_of_this_version,
)


class AuditConfig(AppConfig):
    name = "audit"

    def ready(self) -> None:
        for check in (ledger_is_guarded, months_are_made, tables_are_of_this_version):
            register(check, Tags.database, Tags.security)
        register(may_start, Tags.security)  # also where no database is checked
