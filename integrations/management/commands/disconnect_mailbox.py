"""`manage.py disconnect_mailbox`: the password of somebody's own mailbox, or of their calendars, is
forgotten."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from integrations.accounts import connectables, connecting
from integrations.models import Account


class Command(BaseCommand):
    help = (
        "Forgets the password of a mailbox, or of calendars: nothing is read or changed there any "
        "more. What was read in, what its agent may do, and the ledger stay."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("address")
        parser.add_argument("--user", required=True, help="Whose mailbox: the user's id.")
        parser.add_argument(
            "--source",
            choices=sorted(connectables.ALL),
            default=connecting.SOURCE,
            help="caldav: of calendars (%(default)s).",
        )
        parser.add_argument("--organisation", default="default", help="By its slug (%(default)s).")

    def handle(self, *args: Any, **options: Any) -> None:
        account = (
            Account.objects.select_related("organisation")
            .filter(
                organisation__slug=options["organisation"],
                external_user_id=options["user"],
                source=options["source"],
                address__iexact=options["address"],
            )
            .first()
        )
        if account is None:
            raise CommandError(f"There is no such {connectables.of(options['source']).what}.")
        connecting.disconnect(account.ref())
        self.stdout.write(
            "Disconnected. What was read in, what its agent may do, and the ledger stay."
        )
