from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from agents.installation.backup import BackupError, count_on, restore, stop_all


class Command(BaseCommand):
    help = (
        "Reads a backup into an empty database, and says whether the ledger in it is sound. All "
        "actions are stopped afterwards until a person lifts the stop. Start no program of Remit "
        "before it has ended."
    )
    requires_system_checks: list[str] = []  # the database is empty

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="What manage.py backup wrote.")
        parser.add_argument(
            "--go-on", action="store_true", help="It was read already: do what comes after that."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            if not options["go_on"]:
                restore(path)
                self.stdout.write("Everything was read.")
            call_command("migrate", verbosity=0, interactive=False)
            count_on(self.stdout.write)
            stop_all(f"Restored from {path.name} on {datetime.now(UTC):%Y-%m-%d %H:%M UTC}.")
        except BackupError as error:
            raise CommandError(str(error)) from error
        call_command("verify_ledger", stdout=self.stdout, stderr=self.stderr)
        self.stdout.write(
            "SOUND. All actions are stopped. What was done after the backup is at the providers "
            "alone: start Remit, let manage.py reconcile_ledger look for it, then lift the stop. "
            "Where programs have database roles of their own: manage.py ledger_roles --apply"
        )
