import getpass
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import selectors
from audit.bundle.contents import Bundle
from audit.bundle.period import NothingSealed, Period
from audit.management.commands.export_ledger import moment


class Command(BaseCommand):
    help = (
        "Writes a bundle: all sealed rows of one organisation in a period, with the proof that "
        "none was altered or left out, and the program that checks it. It is itself recorded."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", type=UUID, help="Needed when the ledger holds several.")
        parser.add_argument(
            "--since", type=moment, help="Rows recorded from then on. UTC without a zone."
        )
        parser.add_argument("--until", type=moment, help="Rows recorded before then.")
        parser.add_argument("--output", type=Path, required=True, help="A new zip file.")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant_id = options["tenant"] or selectors.only_tenant()
        if tenant_id is None:
            raise CommandError(
                "The ledger is empty or holds several tenants. Name one with --tenant and its id."
            )
        output: Path = options["output"]
        period = Period(tenant_id=tenant_id, since=options["since"], until=options["until"])
        actor = f"command:{getpass.getuser()}"
        try:
            with output.open("xb") as file:
                bundle = Bundle(period=period, actor_type="admin", actor_id=actor)
                with closing(iter(bundle)) as chunks:
                    file.writelines(chunks)
        except NothingSealed as error:
            output.unlink()
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(
                f"The bundle {output} was not written whole: {error.strerror}."
            ) from error
        self.stdout.write(
            f"{bundle.archive.counts['ledger']} rows are in {output}. Check it with:\n"
            f"  python verify.py {output} {bundle.newest.verifier_key}"
        )
