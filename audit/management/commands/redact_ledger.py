import getpass
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.keeping import erasure
from audit.management import filters


class Command(BaseCommand):
    help = (
        "Erases what rows of the ledger are about (payloads and artifacts): of one action, of "
        "one user, or of a whole organisation. Without --apply it only counts. The rows stay, "
        "and a row says what was erased and why."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        filters.add_tenant(parser)
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--action", type=UUID, help="The rows of this action.")
        which.add_argument("--user", default="", help="Rows on behalf of this external user id.")
        which.add_argument("--everything", action="store_true", help="All of the organisation.")
        parser.add_argument("--reason", required=True, help="Stored in the ledger: no names.")
        parser.add_argument("--apply", action="store_true", help="Erase. It cannot be undone.")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant_id = filters.choose_tenant(options)
        scope = erasure.Scope(
            tenant_id=tenant_id, action_id=options["action"], on_behalf_of=options["user"]
        )
        if not options["apply"]:
            self.stdout.write(
                f"{erasure.select_rows(scope).count()} rows have contents to erase. "
                "Nothing was erased: add --apply."
            )
            if held := len(erasure.list_legal_holds(tenant_id)):
                self.stdout.write(f"Legal holds in force: {held}. What they keep is not erased.")
            return
        try:
            action_id, erased = erasure.erase(
                scope,
                reason=options["reason"],
                actor_id=f"command:{getpass.getuser()}",
                say=self.say,
            )
        except erasure.Held as error:
            raise CommandError(
                f"{error} See manage.py hold_ledger --list; release it there first."
            ) from error
        except erasure.NotPermitted as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"The contents of {erased} rows are erased: action {action_id}.")

    def say(self, progress: str) -> None:
        self.stderr.write(progress, style_func=str)
