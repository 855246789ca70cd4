import getpass
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.keeping import erasure
from audit.ledger import ids
from audit.management import filters


class Command(BaseCommand):
    help = (
        "Legal holds: while one is in force, contents of an organisation's rows (or of one "
        "user's in it) cannot be erased. Setting and releasing one is recorded in the ledger."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        filters.add_tenant(parser)
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--list", action="store_true", help="The legal holds in force.")
        which.add_argument("--set", action="store_true", help="For all, or for --user.")
        which.add_argument("--release", type=UUID, metavar="ID", help="End this one.")
        parser.add_argument("--user", default="", help="An external user id, with --set.")
        parser.add_argument("--reason", default="", help="Needed to set and to release.")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant_id = filters.choose_tenant(options)
        if options["list"]:
            for legal_hold in erasure.list_legal_holds(tenant_id):
                user = legal_hold.on_behalf_of
                covered = f"the contents of user {user}" if user else "everything"
                since = f"{ids.moment(legal_hold.action_id):%Y-%m-%d %H:%M} UTC"
                self.stdout.write(f"{legal_hold.action_id} keeps {covered} since {since}")
            return
        if not options["reason"]:
            raise CommandError("Say why, with --reason.")
        actor_id = f"command:{getpass.getuser()}"
        if options["set"]:
            legal_hold_id = erasure.set_legal_hold(
                tenant_id=tenant_id,
                on_behalf_of=options["user"],
                reason=options["reason"],
                actor_id=actor_id,
            )
            self.stdout.write(f"The legal hold {legal_hold_id} is in force.")
        elif erasure.release_legal_hold(
            options["release"], tenant_id=tenant_id, reason=options["reason"], actor_id=actor_id
        ):
            self.stdout.write(f"The legal hold {options['release']} is released.")
        else:
            raise CommandError("This organisation has no such legal hold in force.")
