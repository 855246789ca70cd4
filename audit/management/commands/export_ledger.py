import getpass
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.contracts import LedgerError
from audit.export import FORMATS, Export
from audit.formats.parquet import NoParquet
from audit.management import filters


class Command(BaseCommand):
    help = (
        "Exports every phase of the actions that match, as CSV, JSON Lines, OCSF events or "
        "Parquet. The export itself is recorded in the ledger. A manifest (rows, SHA-256, "
        "filters) is written beside the file, or to standard error."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--format", choices=sorted(FORMATS), default="jsonl")
        filters.add_arguments(parser)
        parser.add_argument("--output", type=Path, help="A new file. Standard output without.")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = filters.chosen(options)
        output: Path | None = options["output"]
        try:
            target = output.open("xb") if output else sys.stdout.buffer
        except OSError as error:
            raise CommandError(f"Cannot make {output}: {error.strerror}.") from error
        actor = f"command:{getpass.getuser()}"
        try:
            export = Export(
                filters=wanted, format=options["format"], actor_type="admin", actor_id=actor
            )
        except (NoParquet, LedgerError) as error:
            if output:
                target.close()
                output.unlink()
            raise CommandError(f"{error}\nNothing was exported.") from error
        try:
            # Closing tells the export that nobody reads on, and it records that.
            with closing(iter(export)) as chunks:
                target.writelines(chunks)
            target.flush()
            if output:
                Path(f"{output}.manifest.json").write_bytes(export.manifest.line())
        except OSError as error:
            raise CommandError(
                f"The export broke off: {error.strerror}. What was written is not complete."
            ) from error
        finally:
            if output:
                target.close()
        if output:
            self.stdout.write(f"{export.manifest.rows} rows are in {output}.")
        else:
            self.stderr.write(export.manifest.line().decode())
