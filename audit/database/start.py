"""May a process start that writes the ledger? Asked by web, task cluster, sealer
and the process of the turns."""

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from audit.database import grants, guards
from audit.ledger import months, vault


def find_refusals() -> list[str]:
    """Why this process must not run, each with what to do; empty if it may. Months that are
    missing are made first, where the database lets this role."""
    try:
        if not months.are_installed():
            return ["The ledger's tables are missing. Make them with: manage.py migrate"]
        found = [*guards.find_problems(), *grants.find_problems(), *find_missing_months()]
        return found + find_wrong_vault_key()
    except DatabaseError as error:
        return [f"The ledger's database does not answer: {str(error).strip()}"]


def find_wrong_vault_key() -> list[str]:
    """The sealer has no need of the key, and may not have it."""
    if settings.PROCESS == "sealer":
        return []
    try:
        vault.try_key()
    except vault.WrongVaultKey as error:
        return [str(error)]
    return []


def find_missing_months() -> list[str]:
    broken = months.find_broken()
    if broken:
        return broken
    missing = months.find_missing(months.list_months(), now=timezone.now())
    if not missing:
        return []
    try:
        months.make_ahead()
    except DatabaseError:
        return [f"{sentence} Make it with: manage.py make_ledger_months" for sentence in missing]
    return months.find_missing(months.list_months(), now=timezone.now())
