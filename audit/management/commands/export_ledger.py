import getpass
from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.formats.export import FORMATS, Export
from audit.management import filters
from audit.management.destination import destination


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
        output: Path | None = options["output"]
        with destination(output) as target:
            export = Export(
                filters=filters.chosen(options),
                format=options["format"],
                actor_type="admin",
                actor_id=f"command:{getpass.getuser()}",
            )
            # Closing tells the export that nobody reads on, and it records that.
            with closing(iter(export)) as chunks:
                target.writelines(chunks)
        if not output:
            self.stderr.write(export.manifest.line().decode())
            return
        try:
            Path(f"{output}.manifest.json").write_bytes(export.manifest.line())
        except OSError as error:
            raise CommandError(
                f"{output} is whole, but not its manifest: {error.strerror}."
            ) from error
        self.stdout.write(f"{export.manifest.rows} rows are in {output}.")
