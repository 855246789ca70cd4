"""System checks of the ledger, for `manage.py check --database default` and `migrate`."""

from collections.abc import Sequence
from typing import Any

from django.apps.config import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from audit.database import guards, start
from audit.ledger import months

HINT = (
    "Find out who changed it, run `manage.py verify_ledger`, and create the triggers and checks "
    "again from audit/migrations."
)


OTHER_VERSION = "This database was made by another version of Remit and cannot be taken over."
RESET = (
    "Use that version, or another database. If it is only for trying things out, `make reset` "
    "deletes the database with everything in it; then `make run` makes a new one."
)

# Web asks when it starts (config.asgi, config.wsgi): no system checks run there.
REFUSED = ("cluster", "sealer", "turns")


def may_start(
    *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None, **kwargs: Any
) -> list[CheckMessage]:
    """audit.E003 for each reason why a process that writes the ledger must not run."""
    if settings.PROCESS not in REFUSED:
        return []
    return [Error(sentence, id="audit.E003") for sentence in start.find_refusals()]


def ledger_is_guarded(
    *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None, **kwargs: Any
) -> list[CheckMessage]:
    """audit.E001 for each guard of the ledger that is not as it should be.

    Says nothing while migrations of the ledger wait, because they bring other guards, and
    only looks when a database is checked. What must not run on a weakened ledger asks
    `audit.database.start`, whatever waits.
    """
    if not databases or migrations_wait():
        return []
    return [Error(sentence, hint=HINT, id="audit.E001") for sentence in guards.find_problems()]


def tables_are_of_this_version(
    *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None, **kwargs: Any
) -> list[CheckMessage]:
    """audit.E004 if migrations were applied that this version does not have: `migrate` would
    meet tables that it is about to make."""
    if not databases:
        return []
    loader = MigrationLoader(connections[DEFAULT_DB_ALIAS])
    unknown = set(loader.applied_migrations) - set(loader.disk_migrations)
    if not any(app == "audit" for app, _ in unknown):
        return []
    return [Error(OTHER_VERSION, hint=RESET, id="audit.E004")]


def migrations_wait() -> bool:
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes("audit")))


def months_are_made(
    *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None, **kwargs: Any
) -> list[CheckMessage]:
    """audit.W002 for this month and the next one where the ledger lacks it. A warning, so
    that `migrate` goes on; what appends to the ledger refuses to start."""
    if not databases or not months.are_installed():
        return []
    hint = "Make it with: manage.py make_ledger_months"
    sentences = months.find_missing(months.list_months(), now=timezone.now())
    return [Warning(sentence, hint=hint, id="audit.W002") for sentence in sentences]
