import getpass
from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from audit.bundle.contents import Bundle
from audit.management import filters
from audit.management.destination import destination


class Command(BaseCommand):
    help = (
        "Writes a bundle: sealed rows of one organisation, with proofs and the program that "
        "checks them. Without filters but a time it holds every row that was recorded then and "
        "proves that none is missing; with filters it holds the actions that match and proves "
        "each row of them. It is itself recorded."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        filters.add_arguments(parser)
        parser.add_argument(
            "--with-derived",
            action="store_true",
            help="Also a report for people, and CSV.",
        )
        parser.add_argument("--output", type=Path, required=True, help="A new zip file.")

    def handle(self, *args: Any, **options: Any) -> None:
        output: Path = options["output"]
        with destination(output) as target:
            bundle = Bundle(
                filters=filters.chosen(options),
                actor_type="admin",
                actor_id=f"command:{getpass.getuser()}",
                with_derived=options["with_derived"],
            )
            with closing(iter(bundle)) as chunks:
                target.writelines(chunks)
        self.stdout.write(
            f"{bundle.archive.counts['ledger']} rows are in {output}. Check it with:\n"
            f"  python verify.py {output} {bundle.verifier_key}"
        )
