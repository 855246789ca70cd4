from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.verify import Verification


class Command(BaseCommand):
    help = "Checks that the ledger still says what was appended to it. Exit code 1 if not."
    requires_system_checks: list[str] = []  # it reports itself what they would refuse

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", type=UUID, help="Only this organisation's rows.")

    def handle(self, *args: Any, **options: Any) -> None:
        verification = Verification(tenant_id=options["tenant"])
        findings = 0
        for finding in verification:
            findings += 1
            self.stdout.write(f"FINDING {finding}")
        for row_id, action_id, recorded_at in verification.open_attempts:
            self.stdout.write(
                f"open    row {row_id}: action {action_id} was attempted at "
                f"{recorded_at:%Y-%m-%d %H:%M:%S %Z} and has no outcome yet."
            )
        looked_at = f"{verification.rows} rows of {verification.actions} actions"
        if findings:
            raise CommandError(f"The ledger does NOT verify: {findings} findings in {looked_at}.")
        self.stdout.write(
            f"The ledger verifies: {looked_at}, {len(verification.open_attempts)} open attempts."
        )
