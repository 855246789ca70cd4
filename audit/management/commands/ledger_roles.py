from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection, transaction

from audit.database import grants


class Command(BaseCommand):
    help = (
        "Prints the SQL that gives web and worker, sealer, exports and erasure a database role "
        "each, so that none of them can change the ledger. Says what the present set-up lacks."
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
            self.apply(statements)
            self.stdout.write(
                f"The roles are set up. Give them passwords (\\password {prefix}app in psql), "
                f"and each process its own in DATABASE_URL: web and worker {prefix}app, "
                f"seal_ledger {prefix}sealer. Migrate with DATABASE_ROLE={prefix}owner under a "
                "login of your own that is a member of it, and run this again afterwards."
            )
        else:
            self.stdout.write("".join(f"{statement};\n" for statement in statements))
        for sentence in (*grants.find_missing_layers(), *grants.find_extra_rights()):
            self.stderr.write(sentence)

    def apply(self, statements: list[str]) -> None:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
        except DatabaseError as error:
            raise CommandError(f"Nothing was changed: {str(error).strip()}") from error
