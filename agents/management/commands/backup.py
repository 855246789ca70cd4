from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.installation.backup import BackupError, back_up


class Command(BaseCommand):
    help = (
        "Writes all that the database holds to a new file. Keep it apart from the secrets: "
        "LEDGER_KEY and LEDGER_VAULT_KEY are needed to read what is restored. Remit may go on "
        "meanwhile."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="A new file.")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            back_up(path)
        except BackupError as error:
            raise CommandError(str(error)) from error
        size = path.stat().st_size
        self.stdout.write(f"{size:,} bytes are in {path}. Try it: manage.py restore {path}")
