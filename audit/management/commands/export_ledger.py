import getpass
import sys
from argparse import ArgumentTypeError
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import selectors
from audit.contracts import Filters
from audit.export import CONTENT_TYPES, Export


def moment(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(
            f"“{text}” is no time. Write 2026-11-20 or 2026-11-20T14:30:00+01:00."
        ) from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)


class Command(BaseCommand):
    help = (
        "Exports every phase of the actions that match, as CSV or JSON Lines. The export itself "
        "is recorded in the ledger. A manifest (rows, SHA-256, filters) is written beside the "
        "file, or to standard error."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--format", choices=sorted(CONTENT_TYPES), default="jsonl")
        parser.add_argument("--tenant", type=UUID, help="Needed when the ledger holds several.")
        parser.add_argument("--account", type=UUID)
        parser.add_argument("--action-type", default="")
        parser.add_argument("--status", default="", help="As of the latest phase.")
        parser.add_argument("--run", default="", help="The id of a turn.")
        parser.add_argument(
            "--since", type=moment, help="Actions asked for from then on. UTC without a zone."
        )
        parser.add_argument("--until", type=moment, help="Actions asked for before then.")
        parser.add_argument("--output", type=Path, help="A new file. Standard output without.")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant_id = options["tenant"] or selectors.only_tenant()
        if tenant_id is None:
            raise CommandError(
                "The ledger is empty or holds several tenants. Name one with --tenant and its id."
            )
        output: Path | None = options["output"]
        try:
            target = output.open("xb") if output else sys.stdout.buffer
        except OSError as error:
            raise CommandError(f"Cannot make {output}: {error.strerror}.") from error
        export = Export(
            filters=Filters(
                tenant_id=tenant_id,
                account_id=options["account"],
                action_type=options["action_type"],
                status=options["status"],
                run_id=options["run"],
                since=options["since"],
                until=options["until"],
            ),
            format=options["format"],
            actor_type="admin",
            actor_id=f"command:{getpass.getuser()}",
        )
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
