from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.database import guards
from audit.verification.verify import verify


class Command(BaseCommand):
    help = (
        "Checks that the ledger still says what was appended to it, and records the result. "
        "Exit code 1 if not."
    )
    requires_system_checks: list[str] = []  # it reports itself what they would refuse

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", type=UUID, help="Only this organisation's rows.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not guards.are_installed():
            raise CommandError("The ledger does NOT verify: its tables are missing.")
        said: dict[str, None] = {}  # what is about all organisations is said once
        rows = actions = attempts = 0
        unrecorded = False
        for one in verify([options["tenant"]] if options["tenant"] else None):
            for finding in map(str, one.findings):
                if finding not in said:
                    self.stdout.write(f"FINDING {finding}")
                said[finding] = None
            for row_id, action_id, recorded_at in one.open_attempts:
                self.stdout.write(
                    f"open    row {row_id}: action {action_id} was attempted at "
                    f"{recorded_at:%Y-%m-%d %H:%M:%S %Z} and has no outcome yet."
                )
            if one.left:
                self.stdout.write(
                    f"left    {one.left.rows} rows of {one.tenant_id}, all before "
                    f"{one.left.before}, left by retention; row {one.left.row_id} says which."
                )
            rows, actions = rows + one.rows, actions + one.actions
            attempts += len(one.open_attempts)
            unrecorded |= not one.is_recorded
        if unrecorded:
            self.stderr.write("The result could not be recorded in the ledger.")
        looked_at = f"{rows} rows of {actions} actions"
        if said:
            raise CommandError(f"The ledger does NOT verify: {len(said)} findings in {looked_at}.")
        self.stdout.write(f"The ledger verifies: {looked_at}, {attempts} open attempts.")
