from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from audit.ledger import months


class Command(BaseCommand):
    help = (
        "Makes the ledger's months (partitions): this one and the next ones. The task cluster "
        "does the same every hour."
    )
    requires_system_checks: list[str] = []  # they refuse while a month is missing

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--ahead", type=int, default=months.AHEAD, help="24 at most.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            added = months.make_ahead(options["ahead"])
        except DatabaseError as error:
            raise CommandError(f"No month was made: {str(error).splitlines()[0]}") from error
        broken = months.find_broken()
        if broken:
            raise CommandError(" ".join(broken))
        last = months.list_months()[-1]
        self.stdout.write(
            f"Made {', '.join(map(str, added)) or 'none'}. The ledger's last month is {last}."
        )
