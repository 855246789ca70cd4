import getpass
from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.bundle.contents import Bundle
from audit.bundle.extent import NothingSealed
from audit.contracts import LedgerError
from audit.management import filters


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
            "--with-derived", action="store_true", help="Also as CSV and OCSF, for reading."
        )
        parser.add_argument("--output", type=Path, required=True, help="A new zip file.")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = filters.chosen(options)
        output: Path = options["output"]
        actor = f"command:{getpass.getuser()}"
        try:
            with output.open("xb") as file:
                bundle = Bundle(
                    filters=wanted,
                    actor_type="admin",
                    actor_id=actor,
                    with_derived=options["with_derived"],
                )
                with closing(iter(bundle)) as chunks:
                    file.writelines(chunks)
        except (NothingSealed, LedgerError) as error:
            output.unlink()
            raise CommandError(f"{error}\nNo bundle was made.") from error
        except OSError as error:
            raise CommandError(
                f"The bundle {output} was not written whole: {error.strerror}."
            ) from error
        self.stdout.write(
            f"{bundle.archive.counts['ledger']} rows are in {output}. Check it with:\n"
            f"  python verify.py {output} {bundle.verifier_key}"
        )
