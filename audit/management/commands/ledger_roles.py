from typing import Any, cast

import environ
import psycopg
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection, transaction

from audit.database import grants

PASSWORDS = "LEDGER_ROLE_PASSWORDS"


class Command(BaseCommand):
    help = (
        "Prints the SQL that gives web and worker, sealer, exports and erasure a database role "
        "each, so that none of them can change the ledger. Says what the present set-up lacks. "
        f"With --apply it is run, and {PASSWORDS}=app=…,sealer=… gives roles their passwords."
    )
    requires_system_checks: list[str] = []  # it mends what they refuse

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--apply", action="store_true", help="Run it. Needs a superuser.")
        parser.add_argument("--prefix", default="remit_", help="What the names begin with.")

    def handle(self, *args: Any, **options: Any) -> None:
        prefix: str = options["prefix"]
        try:
            statements = grants.statements(prefix)
        except ValueError as error:
            raise CommandError(str(error)) from error
        if options["apply"]:
            passwords: dict[str, str] = environ.Env().dict(PASSWORDS, default={})
            if unknown := sorted(set(passwords) - (set(grants.ROLES) - {"owner"})):
                raise CommandError(
                    f"{PASSWORDS} names {', '.join(unknown)}, and only "
                    f"{', '.join(role for role in grants.ROLES if role != 'owner')} can log in."
                )
            self.apply(statements, {prefix + role: given for role, given in passwords.items()})
            missing = "" if passwords else f" Give them passwords (\\password {prefix}app in psql)."
            self.stdout.write(
                f"The roles are set up.{missing} Give each process its own in DATABASE_URL: web "
                f"and worker {prefix}app, seal_ledger {prefix}sealer. Migrate with "
                f"DATABASE_ROLE={prefix}owner under a login of your own that is a member of it, "
                "and run this again afterwards."
            )
        else:
            self.stdout.write("".join(f"{statement};\n" for statement in statements))
        for sentence in (*grants.find_missing_layers(), *grants.find_extra_rights()):
            self.stderr.write(sentence)

    def apply(self, statements: list[str], passwords: dict[str, str]) -> None:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
                for role, password in passwords.items():
                    cursor.execute(f"ALTER ROLE {role} PASSWORD '{_hash(role, password)}'")
        except DatabaseError as error:
            raise CommandError(f"Nothing was changed: {str(error).strip()}") from error


def _hash(role: str, password: str) -> str:
    """What PostgreSQL stores of a password, made here: its log may show statements."""
    session = cast(psycopg.Connection, connection.connection)
    return session.pgconn.encrypt_password(
        password.encode(), role.encode(), b"scram-sha-256"
    ).decode()
