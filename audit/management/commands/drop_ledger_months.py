from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from audit.keeping import erasure, retention
from audit.ledger.months import Month


def month(text: str) -> Month:
    """An argument of the form 2026-11. Raises ValueError, which argparse reports."""
    return Month.parse(text)


class Command(BaseCommand):
    help = (
        "Lets whole months of the ledger leave, oldest first. Without --propose or --confirm it "
        "only says what would leave. One person proposes, another confirms within seven days; "
        "what leaves is recorded for each organisation. It cannot be undone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--before",
            type=month,
            help="Months before this one, such as 2025-11; otherwise LEDGER_KEEP_MONTHS decides.",
        )
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--propose", action="store_true", help="With --reason and --name.")
        which.add_argument("--confirm", type=UUID, metavar="PROPOSAL", help="With --name.")
        parser.add_argument("--name", default="", help="Who you are.")
        parser.add_argument("--reason", default="", help="Stored in the ledger: no names.")

    def handle(self, *args: Any, **options: Any) -> None:
        actor_id = f"command:{options['name'].strip()}"
        if (options["propose"] or options["confirm"]) and not options["name"].strip():
            raise CommandError("Say who you are, with --name.")
        try:
            if options["confirm"]:
                done = retention.confirm(options["confirm"], actor_id=actor_id, now=timezone.now())
                self.stdout.write(f"Done. {done.sentence}")
                return
            found = retention.plan(self.before(options["before"]), now=timezone.now())
            self.describe(found)
            if not options["propose"]:
                self.stdout.write("Nothing was changed: add --propose.")
                return
            if not options["reason"]:
                raise CommandError("Say why, with --reason.")
            proposal_id = retention.propose(found, reason=options["reason"], actor_id=actor_id)
            self.stdout.write(f"Proposed: another person confirms with --confirm {proposal_id}")
        except (retention.CannotDrop, erasure.Held) as error:
            raise CommandError(str(error)) from error

    def before(self, given: Month | None) -> Month:
        if given:
            return given
        if not settings.LEDGER_KEEP_MONTHS:
            raise CommandError("Say which months, with --before, or set LEDGER_KEEP_MONTHS.")
        return retention.find_oldest_to_keep(settings.LEDGER_KEEP_MONTHS, now=timezone.now())

    def describe(self, found: retention.Plan) -> None:
        self.stdout.write(found.sentence)
        for part in found.parts:
            self.stdout.write(
                f"{part.tenant_id}: {part.rows} rows, place {part.first_place} "
                f"({part.first_leaf}) to {part.last_place} ({part.last_leaf}); "
                f"its tree has {part.size} rows and the root {part.root}"
            )
