import getpass
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from audit.keeping import erasure, rewrapping
from audit.ledger import vault


class Command(BaseCommand):
    help = (
        "Wraps the ledger's data keys under a new LEDGER_VAULT_KEY. First set that key, and "
        "the old one as LEDGER_VAULT_KEY_BEFORE, for every process but the sealer, and restart "
        "them. Without --apply it only says how many keys that is. Each is recorded in the ledger."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--apply", action="store_true", help="Wrap them under the new key.")

    def handle(self, *args: Any, **options: Any) -> None:
        actor_id = f"command:{getpass.getuser()}"
        try:
            waiting = rewrapping.waiting()
            self.stdout.write(f"{len(waiting)} data keys are wrapped under the old key.")
            if not options["apply"]:
                self.stdout.write("Nothing was changed: add --apply.")
                return
            for tenant_id, wrapped in waiting:
                rewrapping.rewrap(tenant_id, wrapped, actor_id=actor_id)
        except (vault.WrongVaultKey, erasure.NotPermitted, DatabaseError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Wrapped anew: {len(waiting)}. Remove LEDGER_VAULT_KEY_BEFORE, and destroy that "
            "key once no backup needs it."
        )
